"""What is measured for the claims about linear transformers."""
