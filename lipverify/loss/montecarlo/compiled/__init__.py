"""Samples of whole contexts on a GPU: CUDA sources, which a C compiler understands as well, and their launch."""
