"""The theorems on linear transformers, one file each, and what they share."""
