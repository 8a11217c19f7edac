"""What a terminal shows of a run.

tables       tables of claims, and text wrapped to a width
ending       verdicts in words: a line for each claim or theorem, and the summary of a run
progress     the progress of a long command
screen       a run while it goes
"""
