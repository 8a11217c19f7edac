"""Claims: statements about scaling, the evidence for or against them, and the verdict."""
