r"""Attention does not become the nearest neighbour as n grows: w* -> infinity only says that the window shrinks.

The window shrinks to the query, but more slowly than tokens fill it: the number of tokens in it grows like a power of
Lambda. For d > 3, averaging reduces the loss even without noise.
"""

from lipverify.checks.softmax.quantities import LAWS, MODEL
from lipverify.checks.softmax.window_moves import ALONE, CONTEXT_GROWS, SIGNAL_GROWS, tokens
from lipverify.claims import at, claim, exponent

# fmt: off
HELD = r"1 / \mathbb{E} \sum_i a_i^2"
COUNTED = (*MODEL, rf"""the number of tokens in a window: ${HELD}$, which is 1 for the nearest neighbour and $n$ for the
    plain average; $L = \sigma = 1$""")

claim("softmax.window-directions/{law}/tokens",
      exponent(tokens, HELD, equals="fall", method="exact"),
      source=CONTEXT_GROWS, kind="sharp", expected="supported", over={"law": LAWS, "d": (2, 3, 5)},
      title="the number of tokens in the optimal window", assumes=COUNTED,
      finding=r"""The noise term at $w^*$ is $\sigma^2$ divided by that number, and it is a fixed share of the loss. So
      the number is $\Theta(\Lambda^q)$ with $q$ the exponent at which the loss falls, $3/(d+2)$ (ReLU) and $4/(d+3)$
      (affine).""")
claim("softmax.window-directions/{law}/nearest-neighbour",
      exponent(tokens, HELD, high="0", truth="fall", method="exact"),
      source=CONTEXT_GROWS, kind="convention", reading=ALONE, expected="refuted", over={"law": LAWS, "d": (2, 3, 5)},
      title="as n grows, the optimal window holds a bounded number of tokens", assumes=COUNTED,
      finding=r"""$w^* \to \infty$ as the slide says, and the window shrinks to the query, but more slowly than tokens
      fill it. The nearest neighbour is never the best choice as $n \to \infty$ at fixed $\sigma > 0$: it leaves the
      noise of one label, $\sigma^2$.""",
      corrected=r"""the optimal window holds $\Theta(\Lambda^{3/(d+2)})$ tokens (ReLU), $\Theta(\Lambda^{4/(d+3)})$
      (affine), which grows without bound""")
claim("softmax.window-directions/affine/nearest-neighbour/noiseless",
      exponent(at(tokens, law="affine", sigma=0.0), HELD, along={"n": (1e6, 1e18, 9)}, high="0", truth="2/(d + 1)",
               method="exact"),
      source=SIGNAL_GROWS, kind="convention", reading=ALONE, expected="refuted", over={"d": (5, 8)},
      title="without noise the optimal window holds a bounded number of tokens",
      assumes=(*MODEL,
               rf"the number of tokens in a window: ${HELD}$; $\sigma = 0$, affine law, $n \to \infty$; $d = 5, 8$"),
      finding=r"""Averaging reduces the loss even without noise. The first-order error $\langle \nabla f, x_i - x
      \rangle$ of a single token is of order $w^{-1/2}$ and has either sign. Its average over the window has a variance
      of order $w^{-1 + (d-1)/2} / n$, and the curvature adds a bias of order $w^{-2}$. For $d > 3$ they balance at $w
      \propto n^{2/(d+1)}$, where the window holds $n^{2/(d+1)}$ tokens; in the plane the variance falls with $w$ and a
      bounded number is best.""",
      corrected=r"$\Theta(n^{2/(d+1)})$ tokens for the affine law, measured at $d = 5$ and $8$")
