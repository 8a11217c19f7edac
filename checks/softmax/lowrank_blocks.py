r"""Tasks of low rank, f(x) = a^T B^T x: the best matrix c BB^T + c' (I - BB^T) by the exact method, and any matrix by sampling."""

from __future__ import annotations

from typing import Any, Literal

import lipverify as lv
from lipverify.claims import per_profile

CASES: dict[str, dict[str, float]] = {"two-tokens": {"n": 2, "sigma": 0.5}, "noiseless": {"n": 20, "sigma": 0.0}}
"""Each of the two assumptions of Theorem 4 without the other."""
KIND: dict[str, Literal["printed", "convention"]] = {"sphere": "printed", "product": "convention"}
"""The tokens of the source, and others."""


EDGE = {"two": "0", "none": "0"}
BEST = {
    "sphere": {
        (2, 1): EDGE,
        (3, 1): EDGE,
        (3, 2): EDGE | {"two": "1.72"},
        (4, 2): EDGE | {"two": "1.94"},
        (5, 3): EDGE | {"two": "1.42"},
        (6, 2): EDGE | {"two": "2.24"},
        (8, 3): EDGE | {"two": "1.67"},
    },
    "product": {
        (2, 1): EDGE | {"two": "1.42"},
        (3, 1): EDGE | {"two": "1.42"},
        (3, 2): EDGE | {"two": "1.38"},
        (4, 2): EDGE | {"two": "1.38"},
        (5, 3): EDGE | {"two": "1.14"},
        (6, 2): EDGE | {"two": "1.38"},
        (8, 3): {"two": "1.14", "none": "7.98"},
    },
}
"""The best c with two tokens and without noise, for controls; 0 where it is d, at the edge of the ball."""
QUICK = ((2, 1), (3, 2), (4, 2))
PAIRS, DECIDED = (
    {
        covariates: {
            ("d", "k"): per_profile(
                {pair: found[pair] for pair in QUICK if pair[1] >= least},
                {pair: found[pair] for pair in found if pair[1] >= least},
            )
        }
        for covariates, found in BEST.items()
        for least in [smallest[covariates]]
    }
    for smallest in ({"sphere": 1, "product": 1}, {"sphere": 1, "product": 2})
)
"""The (d, k) by the exact method, and those that sampling can decide: on the product with k = 1 and no noise the loss is
flat for all large c."""


def problem(covariates: str, d: int, k: int, n: float, sigma: float) -> lv.Problem:
    """f(x) = a^T B^T x, a uniform on S^{k-1} and B the first k axes, on the sphere or on a product of unit spheres.

    The choice of B is no restriction: covariates and law are invariant under rotations. Other radii of the product only
    change the units of M and sigma.
    """
    from lipverify.covariates import ProductOfSpheres, Sphere, axes

    B = axes(d, k)
    places = Sphere() if covariates == "sphere" else ProductOfSpheres(B)
    return lv.Problem(d=d, n=n, law=lv.laws.LowRank(B), sigma=sigma, covariates=places)


def best(covariates: str, d: int, k: int, n: float, sigma: float, C: float) -> dict[str, Any]:
    """The best M = c BB^T + c' (I - BB^T) in the ball of radius C, by the exact method, and the reduction of the loss by c'."""
    from lipverify.optimum import optimal_block

    block = optimal_block(problem(covariates, d, k, n, sigma), float(C))
    return {
        "c": (block.c, block.c_error),
        "ratio": block.ratio,
        "loss": (block.loss, block.loss_error),
        "gain": (block.gain, 2 * block.loss_error),
        "aligned": (block.aligned_c, block.aligned_loss),
    }


def searched(
    covariates: str, d: int, k: int, n: float, sigma: float, C: float, contexts: int, seed: int
) -> dict[str, Any]:
    """The best symmetric M in the same ball on sampled contexts, with no assumption about its form."""
    from lipverify.optimum import sampled_block

    stream = f"lowrank/{covariates}, d={d}, k={k}, n={n:g}, sigma={sigma:g}, C={C:g}"
    block = sampled_block(problem(covariates, d, k, n, sigma), k, float(C), contexts=contexts, seed=seed, stream=stream)
    return {
        "c": (block.c, block.c_error),
        "relevant": (block.relevant, block.relevant_error),
        "ratio": block.ratio,
        "loss": (block.loss, block.loss_error),
        "M": block.M,
    }


def best_in_case(covariates: str, case: str, d: int, k: int) -> dict[str, Any]:
    """The best M by the exact method under one of the assumptions of Theorem 4, in the ball of radius d."""
    return best(covariates, d, k, C=d, **CASES[case])


def searched_in_case(covariates: str, case: str, d: int, k: int, contexts: int, seed: int) -> dict[str, Any]:
    """The best M on sampled contexts under one of the assumptions of Theorem 4, in the ball of radius d."""
    return searched(covariates, d, k, C=d, contexts=contexts, seed=seed, **CASES[case])


def averaged(power: int, kept: str = "1") -> Any:
    """The mean of tanh(A + S)^power over the sign of S minus its form in T = tanh A and U = tanh S; `kept` scales the terms in S."""
    import sympy

    T, U = sympy.symbols("T U")
    both = [(T + sign * U) / (1 + sign * T * U) for sign in (1, -1)]
    changed = {
        1: -T * U**2 * (1 - T**2) / (1 - T**2 * U**2),
        2: U**2 * (1 - T**2) * (1 - 3 * T**2 + T**2 * U**2 * (1 + T**2)) / (1 - T**2 * U**2) ** 2,
    }[power]
    return sum(side**power for side in both) / 2 - T**power - sympy.Rational(kept) * changed


def bent(kept: str = "1") -> Any:
    """(m - z)'' along a line in b, squared, minus `kept` times its form; m = sum_i b_i e_i z_i / sum_i b_i e_i.

    m is a quotient of two linear functions of b. Along b + s beta let y = D' / D for the denominator D, and X = m' = N'
    / D - m y: then ((m - z)^2)'' = 2 X^2 - 4 y (m - z) X. With z_i = 1 for one token, 0 for all others and z = 0 it is
    (a_i^2)''.
    """
    import sympy

    s, z = sympy.symbols("s z")
    N, D, dN, dD = sympy.symbols("N D N' D'")
    m = (N + s * dN) / (D + s * dD)
    X, y = dN / D - N / D * dD / D, dD / D
    second = sympy.diff((m - z) ** 2, s, 2).subs(s, 0)
    return sympy.simplify(second - sympy.Rational(kept) * (2 * X**2 - 4 * y * (N / D - z) * X))


def small(kept: str = "1") -> Any:
    """(h - 2)(h - 1)^4 - 25 h^3 at h = 8 + t, minus `kept` times a polynomial in t with positive coefficients.

    With h = 1/P and e^P <= 1 / (1 - P) it is positive for P <= 1/8, and so e^{-P} sqrt(1 - P^2 e^{2P}) > 5 P e^{2P}.
    """
    import sympy

    t = sympy.symbols("t")
    h = 8 + t
    positive = 1606 + 5833 * t + 2536 * t**2 + 437 * t**3 + 34 * t**4 + t**5
    return (h - 2) * (h - 1) ** 4 - 25 * h**3 - sympy.Rational(kept) * positive


def at_zero(coefficient: str, kept: str = "1") -> Any:
    """A coefficient of the loss at M = 0 on the sphere, for symbols n and d, minus `kept` times its form.

    With m_j the mean of t^j over n tokens, K = log(1 + sum_j m_j omega^j / j!) and T = K', the moments are F = E T, alpha =
    E T^2, beta = (1 - alpha - F') / (d - 1) - F / omega and E sum a_i^2 = E e^{K(2 omega) - 2 K(omega)} / n. Then h_0 + h_2
    omega^2 is F / omega, gamma_0 is (alpha - beta) / omega^2, b_0 is (beta - beta(0)) / omega^2, and N_0 is the same of E sum
    a_i^2, all to leading orders.
    """
    import sympy
    from sympy.utilities.iterables import multiset_partitions

    n, d, omega = sympy.symbols("n d omega", positive=True)
    m = sympy.symbols("m1:5")

    def token(j: int) -> Any:
        """E t^j."""
        return sympy.prod([sympy.Integer(2 * i + 1) / (d + 2 * i) for i in range(j // 2)]) if j % 2 == 0 else 0

    def product(powers: list[int]) -> Any:
        """E m_j m_k ...: tokens coincide in blocks of a partition, and other tokens are independent."""
        blocks = multiset_partitions(list(range(len(powers))))
        total = sum(
            sympy.ff(n, len(partition)) * sympy.prod([token(sum(powers[i] for i in b)) for b in partition])
            for partition in blocks
        )
        return sympy.expand_func(total) / n ** len(powers)

    def mean(series: Any, power: int) -> Any:
        """The mean of a coefficient of a series in omega."""
        terms = sympy.Poly(sympy.expand(series).coeff(omega, power), *m).terms()
        return sum(c * product([j for j, e in enumerate(exponents, 1) for _ in range(e)]) for exponents, c in terms)

    inner = 1 + sum(m[j - 1] * omega**j / sympy.factorial(j) for j in range(1, 5))
    K = sympy.series(sympy.log(inner), omega, 0, 5).removeO()
    T = sympy.diff(K, omega)
    F, alpha = {j: mean(T, j) for j in (1, 3)}, {j: mean(T**2, j) for j in (0, 2)}
    b = (-alpha[2] - 3 * F[3]) / (d - 1) - F[3]
    doubled = sympy.series(sympy.exp(sympy.expand(K.subs(omega, 2 * omega) - 2 * K)), omega, 0, 3).removeO()
    coefficients = {"h_0": F[1], "h_2": F[3], "gamma_0": alpha[2] - b, "b_0": b, "N_0": mean(doubled, 2) / n}
    unit = (n - 1) / (d**2 * (d + 2) * n**3)
    form = {
        "h_0": (n - 1) / (d * n),
        "h_2": -unit * ((n - 2) ** 2 + d * n + 2),
        "gamma_0": unit * (d * n**2 + 2 * (n - 2) ** 2 + 4),
        "b_0": unit * ((d - 2) * n + 6),
        "N_0": (n - 1) / (d * n**2),
    }
    return coefficients[coefficient] - sympy.Rational(kept) * form[coefficient]


def rising(step: str, kept: str = "1") -> Any:
    """One algebraic step of the proof that E T^2 and E sum a_i^2 y_i rise with omega, minus `kept` times its form.

    "ratio": the slope of D(omega) = A_{d+2}(2 omega) less that of A = A_d(omega) where both are A, from A_d' = 1 - A_d^2 - (d
    - 1) A_d / omega; v = 1 / omega. "triple": sum (t_i - t_j)^2 t_l over three tokens with the mean m, t_i = m + delta_i.
    "weights": sum e^{x_i} - e^{-x_i} for sum x_i = 0, in p_i = e^{x_i / 2}. "mean": how prod (1 - t_i^2) changes if m changes its sign.
    """
    import sympy

    A, v, d, m, a, b, p, q = sympy.symbols("A v d m a b p q")
    deltas = (a, b, -a - b)
    squares, pairs, product = sum(x**2 for x in deltas), a * b - (a + b) ** 2, a * b * deltas[2]
    tokens, halves = [m + x for x in deltas], (p, q, 1 / (p * q))

    def slope(dimension: Any, inverse: Any) -> Any:
        return 1 - A**2 - (dimension - 1) * A * inverse

    def around(centre: Any) -> Any:
        return sympy.prod([1 - (centre + x) ** 2 for x in deltas])

    whole, form = {
        "ratio": (2 * slope(d + 2, v / 2) - slope(d, v), slope(d, v) + (d - 3) * A * v),
        "triple": (
            sum((tokens[i] - tokens[j]) ** 2 * tokens[3 - i - j] for i, j in ((0, 1), (0, 2), (1, 2))),
            3 * squares * m - 9 * product,
        ),
        "weights": (
            sum(x**2 - x**-2 for x in halves),
            sympy.prod([x - 1 / x for x in halves]),
        ),
        "mean": (around(m) - around(-m), -4 * product * m * (3 + m**2 + pairs)),
    }[step]
    return whole - sympy.Rational(kept) * form
