"""One short file for each statement about linear transformers."""
