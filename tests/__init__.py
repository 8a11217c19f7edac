"""Whether the code is right: folders like the code's, and the helpers that they share beside them."""

from pathlib import Path

ROOT = Path(__file__).parents[1]
"""The repository."""
