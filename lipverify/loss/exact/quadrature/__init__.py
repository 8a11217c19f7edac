"""Rules, polynomials and graded meshes: they know no law, no token and no loss."""
