"""From a plan to a ledger: who measures, what is kept, what ran, and the verdict that follows."""
