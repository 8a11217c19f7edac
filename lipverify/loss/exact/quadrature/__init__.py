"""Quadrature rules, polynomials and graded meshes, independent of laws, tokens and losses."""
