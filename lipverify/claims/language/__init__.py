"""What a theorem is written in: the claim, its forms, its coordinates, its formulas, and the file of claims."""
