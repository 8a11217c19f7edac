"""What is to be measured for a claim: its cells, their controls, its cross-checks and what is shown of them."""
