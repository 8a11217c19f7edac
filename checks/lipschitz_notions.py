r"""Which Lipschitz constant the window sees: the largest of a function, the one along a direction, or a mean over the class."""

from __future__ import annotations

from fractions import Fraction

import lipverify as lv
from lipverify.claims import Source, bound, claim, identity

Value = tuple[float, float]
Vector = tuple[Fraction, ...]


def constant_of(l_1: int, l_2: int, smaller: str = "no") -> Value:
    """Lip(f) less max(|l_1|, |l_2|) for f(x) = l_1 <q, x>_+ + l_2 <-q, x>_+ on R^d, exactly; `smaller`: less the minimum.

    Between x = 0 and x' = q, or x' = -q, the quotient is |l_1| or |l_2|. No other pair has more: |f(x) - f(x')| is at most
    the largest slope times |<q, x - x'>|, and that at most |x - x'|.
    """
    q, origin = (Fraction(3, 5), Fraction(4, 5)), (Fraction(0), Fraction(0))

    def f(x: Vector) -> Fraction:
        z = dot(q, x)
        return l_1 * max(z, Fraction(0)) + l_2 * max(-z, Fraction(0))

    found = max(abs(f(x) - f(origin)) for x in (q, tuple(-a for a in q)))
    return float(found - (min if smaller == "yes" else max)(abs(l_1), abs(l_2))), 0.0


UNITS = tuple((Fraction(a, 5), Fraction(b, 5)) for a, b in ((5, 0), (3, 4), (4, 3), (-4, 3), (0, 5)))
"""Unit vectors of the plane with rational entries."""


def along(relevant: int, s: int) -> Value:
    """max over a of Lip_s(f) for f(x) = a^T B^T x, in R^4 with B its first two axes; s in col(B), or off it.

    f(s s^T x) is linear in s^T x, so that one pair x, x' gives Lip_s(f) = |a^T B^T s|; of all unit vectors a that
    along B^T s is the best, by Cauchy and Schwarz, and it is among those that are tried.
    """
    zero, unit = (Fraction(0), Fraction(0)), UNITS[s]
    direction = (*unit, *zero) if relevant else (*zero, *unit)
    x, other = tuple(map(Fraction, (1, 2, -1, 3))), tuple(map(Fraction, (0, -1, 2, 5)))
    gap = dot(direction, x) - dot(direction, other)

    def f(a: Vector, at: Vector) -> Fraction:
        return dot(a, at[:2])

    def projection(at: Vector) -> Vector:
        return tuple(dot(direction, at) * entry for entry in direction)

    return float(max(abs((f(a, projection(x)) - f(a, projection(other))) / gap) for a in UNITS)), 0.0


def dot(one: Vector, other: Vector) -> Fraction:
    """<one, other>."""
    return sum((a * b for a, b in zip(one, other, strict=True)), start=Fraction(0))


def windows(d: int, n: float, L: float) -> Value:
    """w* of the affine class with l ~ Unif[-L, L] over that of linear tasks whose slope is 1, always."""
    one, other = (
        lv.optimal_window(lv.Problem(d=d, n=n, law=law, sigma=1.0)) for law in (lv.laws.Affine(L=L), lv.laws.Linear())
    )
    return one.w / other.w, (one.w_error / one.w + other.w_error / other.w) * one.w / other.w


DEFINITION = Source(
    "S",
    "Definition (Lipschitzness)",
    r"$Lip(f) := \inf_{L} \{L : \|f(x) - f(x')\| \leq L \|x - x'\| \ \forall x, x'\}$. For any $f \in \mathcal{F}$, $Lip(f) = \max(|\ell_1|, |\ell_2|)$.",
)
DIRECTION = Source(
    "S",
    "Definition (Direction-wise Lipschitzness)",
    r"If $s \in \mathrm{col}(\mathbf{B})$: $\max_{f} \mathrm{Lip}_s(f) = 1$; if $s \in \mathrm{col}(\mathbf{B})^\perp$: $\max_{f} \mathrm{Lip}_s(f) = 0$",
)
SHARED = Source(
    "S",
    "Generalization Guarantees",
    "Shared Lipschitzness across (train, test) is both **necessary** and **sufficient** for ICL.",
)
MODEL = (
    r"tokens and query uniform on $S^{d-1}$, noise independent with variance $\sigma^2 = 1$",
    r"$\mathbf{M} = w \mathbf{I}$, attention scores $w \langle x_i, x \rangle$",
)

claim(
    "softmax.lipschitz-notion/constant",
    identity(constant_of, r"Lip(f) - \max(|\ell_1|, |\ell_2|)", twin={"smaller": "yes"}),
    source=DEFINITION,
    kind="printed",
    expected="supported",
    over={("l_1", "l_2"): ((2, -3), (5, 1), (0, 4))},
    title="the Lipschitz constant of a function of the class",
    assumes=(r"$f$ on $\mathbb{R}^d$, $|q| = 1$; for the affine class $\ell_2 = -\ell_1$, and $Lip(f) = |\ell|$",),
    finding=r"Attained between 0 and $\pm q$, and no pair has more: the slopes of $f$ along $q$ are $\ell_1$ and $-\ell_2$. On the sphere it is the supremum "
    r"near $\langle q, x \rangle = 0$.",
)
claim(
    "softmax.lipschitz-notion/direction",
    bound(along, r"\max_{\mathbf{a}} \mathrm{Lip}_s(f)", equals="relevant", within="1e-15", twin="1 - relevant", method="rational", grade="proved"),
    source=DIRECTION,
    kind="printed",
    expected="supported",
    over={"relevant": (0, 1), "s": (0, 1, 3)},
    title="the direction-wise Lipschitz constant is 1 on col(B) and 0 off it",
    statement=r"\max_{\mathbf{a}} \mathrm{Lip}_s(f) = \|\mathbf{B}^\top s\|",
    assumes=(r"in $\mathbb{R}^4$, $\mathbf{B}$ its first two axes; relevant: $s \in \mathrm{col}(\mathbf{B})$",),
    finding=r"$f(s s^\top x) = (\mathbf{a}^\top \mathbf{B}^\top s)(s^\top x)$, so that $\mathrm{Lip}_s(f) = |\mathbf{a}^\top \mathbf{B}^\top s|$, at most "
    r"$\|\mathbf{B}^\top s\|$ and equal to it for one $\mathbf{a}$.",
)  # fmt: skip
claim(
    "softmax.lipschitz-notion/mean-square",
    bound(windows, r"w^*_{\mathrm{affine}(L)} / w^*_{\mathrm{slope}\ 1}", equals=1, within=1e-6, twin={"L": 1.7}),
    source=SHARED,
    kind="derived",
    expected="supported",
    over={"d": (2, 5), "n": 1000, "L": 3**0.5},
    title="classes with the same mean square of their slope have one window",
    statement=r"\mathbb{E}\, \ell^2 = \mathbb{E}\, \ell'^2 \implies w^* = w'^*",
    assumes=(*MODEL, r"linear functions: $\ell \sim \mathrm{Unif}[-\sqrt{3}, \sqrt{3}]$ beside $\ell' = 1$"),
    finding=r"Only $\mathbb{E} f(x) f(x')$ enters the loss, and with it $\mathbb{E}\, \ell^2$.",
)
claim(
    "softmax.lipschitz-notion/largest",
    bound(
        windows,
        r"w^*_{\mathrm{affine}(1)} / w^*_{\mathrm{slope}\ 1}",
        along="n",
        ray=(1e6, 1e18, 9),
        equals=1,
        within=0.01,
        sharp="3**(-2/(d + 3))",
        given={"L": 1.0},
    ),
    source=SHARED,
    kind="convention",
    expected="refuted",
    over={"d": (2, 5)},
    title="classes with the same largest Lipschitz constant have one window",
    statement=r"\max_f Lip(f) = \max_{f'} Lip(f') \implies w^* \sim w'^*",
    assumes=(*MODEL, r"linear functions: $\ell \sim \mathrm{Unif}[-1, 1]$ beside $\ell' = 1$; $n \to \infty$"),
    finding=r"Both classes are 1-Lipschitz and no better. Attention adapts to an average over the class, $\mathbb{E}\, \ell^2$, which is $L^2/3$ for "
    r"$\mathrm{Unif}[-L, L]$: the notion of Lipschitzness that it learns is a mean, not a maximum. The rate is the same.",
    corrected=r"$w^*$ depends on $\mathbb{E}\, \ell^2$; at one largest $L$ windows differ by the factor $(\mathbb{E}\, \ell^2 / L^2)^{2/(d+3)}$",
)
