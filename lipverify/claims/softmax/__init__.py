"""Measurements on softmax attention: what the claims of the first paper are decided on."""
