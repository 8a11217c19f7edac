"""What a law does: its variogram, all that the loss depends on. No context length and no window is known here."""
