"""The variogram of a law, through which alone it enters the loss. Nothing here depends on n or w."""
