"""The tests, in the same folders as the code, and the helpers that they share."""

from pathlib import Path

ROOT = Path(__file__).parents[1]
"""The repository."""
