"""Nearest neighbor pattern classification: at most twice the Bayes risk, in the limit of many tokens.

One neighbour is softmax attention with w -> infinity. Tokens are uniform on the circle, class 1 has the probability
(1 + r cos theta) / 2; the risk of n tokens is explicit. The bound fails with up to five tokens.
"""

import numpy as np
from scipy.integrate import quad

import lipverify as lv
from lipverify.claims import Figure, Panel, Series, agree, at, bound, claim

PAPER = "Cover, Hart, IEEE Trans. Inform. Theory 13 (1967)"  # from memory


def risk(n, r):
    """1/2 - r^2 E cos D / 4: the distance D to the nearest of n tokens exceeds x with the chance (1 - x/pi)^n."""
    below = quad(lambda x: np.sin(x) * (1 - x / np.pi) ** n, 0, min(np.pi, 60 * np.pi / n), epsabs=1e-15)[0]
    return 0.5 - r**2 * (1 - below) / 4, 1e-12


def sampled(n, r, contexts, seed):
    """The share of wrong labels among queries with n tokens each."""
    random = np.random.default_rng((seed, n))
    x = random.uniform(0, 2 * np.pi, size=(5 * contexts, n + 1))
    labels = random.random(x.shape) < (1 + r * np.cos(x)) / 2
    nearest = np.cos(x[:, 1:] - x[:, :1]).argmax(axis=1)
    wrong = labels[:, 0] != labels[np.arange(len(x)), nearest + 1]
    return wrong.mean(), 1.96 * wrong.std() / len(x) ** 0.5


def attention(n, sigma):
    """The squared error against a noisy label over sigma^2: softmax attention with w = 1e8 n^2, so one token alone."""
    terms = lv.loss_terms(lv.Problem(d=2, n=n, law=lv.Affine(), sigma=sigma), 1e8 * n**2)
    return terms.total / sigma**2 + 1, (terms.bias_error + terms.noise_error) / sigma**2


# fmt: off
def picture(n=(1, 2, 3, 4, 5, 6, 8, 10, 20, 50, 100)):
    twice = Series(label="$2 R^* (1 - R^*)$", x=n, y=(2 * (1 / 4 - 1 / np.pi**2),) * 11, style="dashed")
    curve = Series(label="nearest neighbour", x=n, y=tuple(float(risk(m, 1.0)[0]) for m in n))
    panel = Panel(title="", xlabel="$n$", ylabel="risk at $r = 1$", yscale="linear", series=(curve, twice))
    return Figure(caption="The risk of the nearest neighbour.", alt="Below the bound from n = 6 on.", panels=(panel,))


BAYES = "(1/2 - r/pi)"
TWICE, BOUND = f"2*{BAYES}*(1 - {BAYES})", (PAPER, "the theorem", r"$R^* \leq R \leq 2 R^* (1 - R^*)$ in the limit")
OVER = {"r": (0.2, 0.6, 1.0)}
claim("neighbour.limit", bound(risk, "R", along={"n": (10, 1e6)}, equals="1/2 - r**2/4", within=1e-3),
      bound(risk, "R", along={"n": (10, 1e6)}, low=BAYES, high=TWICE, control={"high": f"0.83*{TWICE}"}),
      agree(risk, sampled, "R", over={"r": (0.6, 1.0), "n": (2, 10)}), over=OVER, source=BOUND, kind="printed",
      expected="supported", title="The risk of the nearest neighbour")
claim("neighbour.finite", bound(risk, "R", high=TWICE, control=({"high": f"0.9*{TWICE}"}, {"n": 6})),
      over={"r": (0.6, 1.0), "n": (1, 5)}, source=BOUND, kind="stronger", expected="refuted",
      corrected="from n = 6 on", title="The risk with one or five tokens",
      shows=at(picture))
RAY = {"n": (10, 1e4)}
claim("neighbour.attention", bound(attention, r"R / \sigma^2", along=RAY, equals=2, within=1e-2, method="exact"),
      over={"sigma": 1.0}, kind="derived", expected="supported", title="Softmax attention with a large w",
      source=("Cover, IEEE Trans. Inform. Theory 14 (1968)", "squared error", r"twice the Bayes risk, $2 \sigma^2$"))
