"""The theorems on softmax attention, one file each, and what they share."""
