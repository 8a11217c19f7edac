"""What a run leaves: records, their verdicts and grades, and what follows from them alone."""
