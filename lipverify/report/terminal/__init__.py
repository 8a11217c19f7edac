"""What a terminal shows of a run: tables of claims, the verdicts in words, and progress."""
