"""Compiled samplers of whole contexts: sources that both CUDA and C compilers accept, and their launch."""
