r"""Empirical generalization: whether a shared Lipschitz constant is necessary.

At the sizes of an experiment it is, within a factor of two. In the limit a wrong constant costs a factor and not the
rate. The quantity that must agree is E (Delta f)^2: an affine class with another L serves the cosine class better than
the one with the same L. Within one class f = L g with a linear part the best w belongs to one L alone, for every n
and d.
"""

from lipverify.checks.softmax.directions_proofs import LINEAR, RISES, STRICT
from lipverify.checks.softmax.lipschitz_notions import SHARED
from lipverify.checks.softmax.other_constants import cheaper, gain, matched, nearly, price, sampled, table, tolerance
from lipverify.checks.softmax.quantities import EXPONENT, MODEL
from lipverify.claims import agree, at, bound, claim, exponent, per_profile, proved_rates

# fmt: off
HEADINGS = {"softmax.lipschitz-necessary": (4, 7, "The same Lipschitz constant is needed")}
SLIDE = ("S", "Empirical Generalization, necessary", """Shared Lipschitzness across (train, test) is necessary for ICL. - 3 attention
    units, pretrained on Affine tasks with L=1, Cosine with L=0.1, Cosine with L=10 - Test on Cosine tasks with L=1 - Only pretraining on
    the same Lipschitzness generalizes""")
FACTOR = r"\mathrm{loss}(w^*_{\mathrm{trained}}) / \mathrm{loss}(w^*_{\mathrm{tested}})"
COSINES = ("cosine-smooth", "cosine-rough")
TUNED = (
    MODEL[0],
    r"$\mathbf{M} = w^* \mathbf{I}$ of the trained class, attention scores $w^* \langle x_i, x \rangle$",
    "trained on affine ($L = 1$), cosine-smooth ($L = 0.1$), cosine-rough ($L = 10$); tested on cosine, $L = 1$",
)
LIMIT = (*TUNED, r"$\sigma = 1$, $n \to \infty$ at $d = 2, 3, 5, 8$")
RHO = r"""derived: $\frac{a \rho^2 + 2}{(a + 2) \rho^{2a/(a + 2)}}$ with $a = (d-1)/2$ and $\rho^2$ the ratio of $\mathbb{E}\, (\Delta f)^2$
    of the tested to the trained class"""
RAY = (1e9, 1e30, per_profile(8, 27))
OF, EXPERIMENT = "{trained} on cosine", at(table, d=3, sigma=0.3)
SAMPLED = agree(table, sampled, r"\mathrm{loss}", of="loss of {trained} on cosine", over={"d": 5, "n": 1000.0})
DERIVED = r"""The bias of a smooth class is $\mathbb{E}\, (\Delta f)^2 / (4 w^2)$. For the cosine it is not proportional
    to $L^2$: for small $L$ it is of order $L^4$, because $\cos(Lz) = 1 - L^2 z^2/2 + \dots$, and for large $L$ as well,
    because two derivatives give $L^2$."""

claim("softmax.lipschitz-necessary/experiment",
      bound(EXPERIMENT, FACTOR, of=OF, high="2", control="1 + more", method="exact", over={("trained", "n"): {
          ("affine", 1e2): {"more": "0.0021"}, ("affine", 1e3): {"more": "0.0045"}, ("affine", 1e4): {"more": "0.012"}}}),
      bound(EXPERIMENT, FACTOR, of=OF, low="2", strict=True, truth="found", method="exact", over={("trained", "n"): {
          ("cosine-smooth", 1e2): {"found": "2.14"}, ("cosine-smooth", 1e3): {"found": "9.25"},
          ("cosine-smooth", 1e4): {"found": "42.5"}, ("cosine-rough", 1e2): {"found": "3.95"},
          ("cosine-rough", 1e3): {"found": "8.86"}, ("cosine-rough", 1e4): {"found": "10.2"},
      }}),
      agree(table, sampled, r"\mathrm{loss}", of="loss of {trained} on cosine", over={"trained": "affine", "d": 5, "n": 1000.0}),
      source=SLIDE, kind="convention", reading="within a factor of two at the sizes of an experiment", expected="supported",
      statement=FACTOR + r" \leq 2 \quad \text{for affine } L = 1 \text{ alone}",
      assumes=(*TUNED, r"$d = 3$, $\sigma = 0.3$, $n = 10^2, 10^3, 10^4$: the slides do not give theirs",
               "generalizes: within a factor of two of the loss at the $w$ that is tuned to the tested class"),
      finding="""The cosine with $L = 0.1$ varies by less than the noise, so the attention trained on it averages all
          tokens ($w^* = 0$). Training on the cosine with $L = 10$ gives a window that is too narrow for the tested
          class.""")
claim("softmax.lipschitz-necessary/{trained}/factor",
      bound(table, FACTOR, high="2", control=cheaper, of=OF, along={"n": RAY}, method="exact"),
      bound(table, FACTOR, equals=price, within=tolerance, of=OF, along={"n": RAY}, method="exact"),
      SAMPLED,
      source=SLIDE, kind="convention", reading="within a factor of two in the limit", expected="supported",
      over={"trained": "affine", "d": (2, 3, 5, 8)},
      assumes=(*LIMIT, RHO, "generalizes: within a factor of two in the limit"),
      finding=DERIVED)
claim("softmax.lipschitz-necessary/{trained}/factor",
      bound(table, FACTOR, low="2", strict=True, truth=price, of=OF, along={"n": RAY}, method="exact"),
      bound(table, FACTOR, equals=price, within=tolerance, of=OF, along={"n": RAY}, method="exact"),
      SAMPLED,
      source=SLIDE, kind="convention", reading="within a factor of two in the limit", expected="supported",
      over={"trained": COSINES, "d": (2, 3, 5, 8)},
      assumes=(*LIMIT, RHO, "does not generalize: not within a factor of two in the limit"),
      finding=DERIVED)
claim("softmax.lipschitz-necessary/{trained}/rate",
      exponent(table, FACTOR, low="0", strict=True, truth="0", of=OF, along={"n": RAY}, method="exact"),
      SAMPLED,
      source=SLIDE, kind="convention", reading="no other rate for every n", expected="refuted",
      over={"trained": COSINES, "d": (2, 3, 5, 8)},
      assumes=(*LIMIT, "does not generalize: not within any constant factor as $n$ grows"),
      finding="""A wrong Lipschitz constant costs a factor that does not grow with $n$: $w^*$ of all smooth classes
          grows like $n^{2/(d+3)}$, and the loss at any constant multiple of $w^*$ has the best rate.""",
      corrected="A shared Lipschitz constant is necessary for the best constant, not for the rate.")
claim("softmax.lipschitz-necessary/affine-other/{side}/factor",
      bound(matched, r"\mathrm{loss}(w^*_{\mathrm{affine}}(L_0)) / \mathrm{loss}(w^*_{\mathrm{affine}}(1))",
            low="1", truth=gain, control=(None, nearly), along={"n": RAY}, method="exact"),
      source=SLIDE, kind="stronger", expected="refuted", over={"d": (2, 3, 5)},
      statement=r"""\lim_{n \to \infty} \mathrm{loss}(w^*_{\mathrm{affine}}(L_0)) / \mathrm{loss}(w^*_{\mathrm{affine}}(1)) \geq 1 \quad
          \text{on cosine } L = 1, \text{ for every } L_0""",
      assumes=(*TUNED[:2], "tested on cosine, $L = 1$; $\\sigma = 1$, $d = 2, 3, 5$", RHO,
               r"$L_0$ such that $\mathbb{E}\, (\Delta f)^2$ of the affine class is that of the cosine"),
      finding=r"""A shared Lipschitz constant does not make the optimal $w$ agree. The bias of a smooth class is
          $\mathbb{E}\, (\Delta f)^2 / (4 w^2)$, so its $w^*$ depends on $\mathbb{E}\, (\Delta f)^2$ alone. Affine tasks
          with the $L_0$ that matches the cosine's value have the $w^*$ of the cosine in the limit, and affine tasks
          with $L = 1$ do not.""",
      corrected=r"""For smooth classes $\mathbb{E}\, (\Delta f)^2$ determines how well a trained $w$ transfers: an
          affine class with another $L$ can do better.""")
claim("softmax.lipschitz-necessary/one-class/proved",
      RISES,
      source=SHARED, kind="convention", expected="supported",
      reading="necessary and sufficient, in one class f = L g, if ICL means that the trained w is the best for the tested tasks",
      title="within one class the trained w is the best for the tested tasks if and only if L' = L: every n and d",
      statement=r"w^*(L) \in \arg\min_w \mathcal{L}'(w) \iff L' = L",
      assumes=(*MODEL, rf"""trained on $f = L g$, tested on $f = L' g$, as in Theorem 3; any $n \geq 2$, $d \geq 2$; {LINEAR};
               $L, L', \sigma > 0$, $w \geq 0$"""),
      forall=("n >= 2", "d", "L > 0", "sigma > 0"), by_hand=STRICT,
      finding=r""""Sufficient" says little here: with $L' = L$ the tested tasks are the trained
          ones. Between classes with one largest constant it is false (`softmax.lipschitz-notion/largest`).""")
claim("softmax.lipschitz-necessary/one-class/consistent/proved",
      bound(proved_rates, EXPONENT["loss"], of="loss", low="0", truth="-3/(d + 2)", method="certified"),
      source=SHARED, kind="convention", reading="necessary, if ICL means that the loss tends to 0 as the context grows", expected="refuted",
      over={"law": "relu", "d": (2, 3, 5, 8)},
      title="the loss of the trained w on other L' does not tend to 0: disproved",
      statement=r"\mathcal{L}'(w^*(L)) = \Theta(L^2 \Lambda^e), \quad e \geq 0 \quad \text{if } L' \neq L",
      assumes=(*TUNED[:1], r"$\mathbf{M} = w^*(L) \mathbf{I}$; ReLU law; $n \to \infty$ at fixed $L, L', \sigma > 0$"),
      finding=r"""$\mathcal{L}'(w) = (L'/L)^2 B(w) + N(w)$ lies between $\mathcal{L}(w)$ and $(L'/L)^2 \mathcal{L}(w)$. By the window
          theorem $\mathcal{L}(w^*(L)) = \Theta(L^2 \Lambda^{-3/(d+2)})$, which tends to 0. A wrong $L$ costs a factor.""",
      corrected=r"$\mathcal{L}'(w^*(L)) = \Theta(\mathcal{L}(w^*(L))) \to 0$ for every $L'$: a shared $L$ is not necessary for this")
