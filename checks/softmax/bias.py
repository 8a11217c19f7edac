r"""Proof sketch: the bias lies between multiples of L^2 / w^2 and of L^2 / w + L^2 / n if the window holds many tokens.

There the bias falls like w^{-3/2} for ReLU tasks and like w^{-2} for smooth ones, with constants that SymPy derives.
bias_beyond.py treats the worst task and windows with few tokens.
"""

from typing import Any

from lipverify.checks.softmax.quantities import (
    DIMENSIONS,
    EXPONENT,
    LARGE_N,
    LAWS,
    MANY_TOKENS,
    MODEL,
    SMOOTH,
    many_tokens,
    over_leading,
    sampled_terms,
)
from lipverify.claims import bound, claim, exponent, proved_rates

# fmt: off
HEADINGS = {
    "softmax.bias-lower": (2, 2, "The bias falls no faster than printed"),
    "softmax.bias-upper": (2, 3, "The bias falls at least as fast as printed"),
}
SKETCH = ("S", "Proof Sketch, bounds of the bias",
          r"$\Omega(\frac{L^2}{w_{KQ}^2}) < \mathcal{L}_{\mathsf{bias}}(w_{KQ}) < \Theta(\frac{L^2}{w_{KQ}} + \frac{L^2}{n}).$")
SHARP = {"relu/*": r"$B(w) = \Theta(L^2 w^{-3/2})$ for the ReLU law",
         "*": r"$B(w) = \Theta(L^2 w^{-2})$ for the affine law"}
LARGEST_W = "min(1e15, 1e30**(2/(d + 2)))"
LATER = (1000, LARGEST_W, 20)
"""The corrections of the ReLU law decay like w^(-1/2) and w^(-1) and have both signs. With a start at w = 30 they
leave an uncertainty of 0.02 to 0.05 in the exponent at d = 8 for any number of points; with a start at 1000 and 12 to
40 points, less than 0.002."""
KINKED = (2, 3, 4, 5, 6, 7, 8)  # for larger d, n <= 1e30 leaves less than three decades of w; the proofs hold there too

for law, dimensions, ray in (("affine", DIMENSIONS, (30, LARGEST_W)), ("relu", KINKED, LATER)):
    FAMILY: dict[str, Any] = {
        "source": SKETCH, "expected": "supported", "over": {"law": {law: LAWS[law]}, "d": dimensions},
        "assumes": MANY_TOKENS,
    }
    claim("softmax.bias-lower/{law}/relevant",
          exponent(many_tokens, "B / L^2", of="B", along={"w": ray}, low="-2", truth="-beta", method="exact"),
          sampled_terms("B", {"d": 5, "n": 100}),
          kind={"relu/*": "convention", "*": "stronger"}, reading={"relu/*": "while the window holds many tokens", "*": ""},
          corrected={"relu/*": SHARP["relu/*"], "*": ""}, **FAMILY)
    claim("softmax.bias-upper/{law}/relevant",
          exponent(many_tokens, "B / L^2", of="B", along={"w": ray}, high="-1", truth="-beta", method="exact"),
          sampled_terms("B", {"d": 5, "n": 100}),
          kind={"relu/*": "convention", "*": "stronger"}, reading={"relu/*": "while the window holds many tokens", "*": ""},
          corrected=SHARP, **FAMILY)
    claim("softmax.bias-lower/{law}/sharp",
          exponent(many_tokens, "B / L^2", of="B", along={"w": ray}, equals="-beta", method="exact"),
          sampled_terms("B", {"d": 5, "n": 100}),
          kind="sharp", **FAMILY)
claim("softmax.bias-lower/{law}/sharp",
      exponent(many_tokens, "B / L^2", of="B", along={"w": (30, LARGEST_W, 16)}, equals="-beta", method="exact"),
      source=SKETCH, kind="sharp", expected="supported", over={"law": SMOOTH, "d": (2, 3, 5)}, assumes=MANY_TOKENS)
claim("softmax.bias-lower/{law}/constant",
      bound(over_leading, r"B \big/ \frac{C L^2}{w^\beta}", along={"w": (1e2, 1e8, 11)}, equals=1, within=0.001,
            method="exact"),
      source=SKETCH, kind="sharp", expected="supported", over={"law": LAWS | SMOOTH, "d": (2, 3, 5)},
      title="the constant of the bias", statement=r"B(w) \sim C L^2 w^{-\beta}", assumes=MANY_TOKENS,
      finding=r"""The library derives $C$ (`lipverify.leading`): it is $\frac{(d-1)^2}{12 d}$ for the affine law. For a
      smooth law it is a quarter of the mean square of the Laplacian of $f$ on the sphere; for the ReLU law the kink
      determines it.""")
PROVED: dict[str, Any] = {
    "source": SKETCH, "expected": "supported", "title": "the proved envelope of the bias, for every n",
    "assumes": (*MODEL, r"$n \geq K w^{(d-1)/2 + \beta - 1}$, $w \geq w_0$, with the numbers of `lipverify prove`"),
    "forall": {"cosine/*": ("large n", "sigma > 0"), "*": LARGE_N},  # the cosine law has L = 1
}
claim("softmax.bias-lower/{law}/proved",
      bound(proved_rates, EXPONENT["bias"], of="bias", low="-2", truth="-beta", method="certified"), kind="derived",
      proves="softmax.bias-lower/{law}/relevant", over={"law": LAWS, "d": DIMENSIONS}, **PROVED)
claim("softmax.bias-upper/{law}/proved",
      bound(proved_rates, EXPONENT["bias"], of="bias", high="-1", truth="-beta", method="certified"), kind="derived",
      proves="softmax.bias-upper/{law}/relevant", over={"law": LAWS, "d": DIMENSIONS}, **PROVED)
SHAPES = """The proved envelope of the quadratic law holds for every $L$. The cosine law changes its shape with $L$, so
    its envelope is the one at $L = 1$."""
for family in ({"law": SMOOTH, "d": (2, 3, 5)}, {"law": LAWS, "d": DIMENSIONS}):
    claim("softmax.bias-lower/{law}/sharp/proved",
          bound(proved_rates, EXPONENT["bias"], of="bias", equals="-beta", within="1e-15", method="certified"), kind="sharp",
          proves="softmax.bias-lower/{law}/sharp", over=family,
          finding={"cosine/*": SHAPES, "quadratic/*": SHAPES, "*": ""}, **PROVED)
