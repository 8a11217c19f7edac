"""Training of linear transformers: losses with gradients by hand, growth layer by layer, descents."""
