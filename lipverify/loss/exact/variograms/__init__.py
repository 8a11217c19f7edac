"""The variogram of a law; the loss depends on the law only through it. Nothing here depends on n or w."""
