"""What the theorems speak of, as functions: printed formulas, what is derived in their place, exact recursions."""
