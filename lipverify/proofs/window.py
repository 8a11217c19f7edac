r"""Theorems about the optimal window: for every n, L and sigma in a stated range, with numbers.

low W < w* < high W,    W = Lambda^e,    e = 1 / ((d-1)/2 + beta),    Lambda = n L^2 / sigma^2
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from itertools import product

from flint import ctx

from lipverify.errors import InvalidInput, OutOfReach
from lipverify.foundation.quoting import shown
from lipverify.foundation.validation import number
from lipverify.problem.law import Law
from lipverify.proofs.checker import every_n
from lipverify.proofs.checker.every_n import critical, losses
from lipverify.proofs.checker.kernel import form
from lipverify.proofs.checker.window import laws, windows
from lipverify.proofs.record import SMALLEST, LawProof, below, beyond, context, subject
from lipverify.proofs.search import decimal, extended, find, in_doubles


@dataclass(frozen=True)
class Theorem(LawProof):
    r"""For every n, L, sigma that it covers: low W < w* < high W, and the loss at w* between two numbers.

    It covers Lambda >= least_lambda and n >= least_tokens W^{(d-1)/2 + max(beta, 1) - 1}. A fixed number of tokens in a
    window, n >= K w^{(d-1)/2}, is not enough: the f(x_i) in one window differ by about L^2 / w, which acts as label
    noise of that variance, and without many more tokens than w^{beta-1} it outweighs the bias however small sigma is.
    At fixed L / sigma all long contexts are covered: n = Lambda sigma^2 / L^2, so n / W^{(d-1)/2 + max(beta, 1) - 1} =
    W^{min(beta, 1)} sigma^2 / L^2.

    Attributes
    ----------
    data
        The proof file as decoded JSON: format, theorem, hypotheses, and the lemmas with their constants.

    Examples
    --------
    >>> from lipverify.laws import Affine
    >>> theorem = prove_window(Affine(), d=3)
    >>> 0 < theorem.low < theorem.high, theorem.failures()
    (True, [])
    """

    @property
    def low(self) -> float:
        """low W < w*."""
        return below(self.constants["low"])

    @property
    def high(self) -> float:
        """w* < high W."""
        return beyond(self.constants["high"])

    @property
    def least_lambda(self) -> float:
        """The least Lambda = n L^2 / sigma^2."""
        return float(self.constants["W_least"] ** (1 / self.exponent))

    @property
    def least_tokens(self) -> float:
        """K in n >= K W^{(d-1)/2 + max(beta, 1) - 1}: tokens in a window of width W^{-1/2}, over W^{beta-1} if > 1."""
        return self.constants["K"]

    def covers(self, n: float, L: float | None = None, sigma: float = 1.0) -> bool:
        """Whether the theorem speaks of these; L is 1 or that of the law if it is not given.

        >>> from lipverify.laws import Affine
        >>> prove_window(Affine(), d=3).covers(n=1e12), prove_window(Affine(), d=3).covers(n=1e12, L=100.0)
        (True, False)
        """
        n, L, sigma = context(n, self.constant(L), sigma)
        if not (n > 0 and L > 0 and sigma > 0):
            return False
        lam = signal(n, L, sigma, fewest=SMALLEST)
        power = self.noise_power + max(self.beta, 1.0) - 1
        return bool(lam >= self.least_lambda and n >= self.least_tokens * (lam**self.exponent) ** power)

    def window(self, n: float, L: float | None = None, sigma: float = 1.0) -> tuple[float, float]:
        """Two numbers between which w* lies.

        Raises
        ------
        OutOfReach
            If the theorem does not cover n, L and sigma.

        >>> from lipverify.laws import Affine
        >>> low, high = prove_window(Affine(), d=3).window(n=1e12)
        >>> round(low), round(high)
        (5849, 6275)
        """
        L = self.constant(L)
        if not self.covers(n, L, sigma):
            raise OutOfReach(
                f"n = {n:g}, L = {L:g}, sigma = {sigma:g}: not covered by {self.statement}; prove it with another "
                "least_lambda or least_tokens."
            )
        W = signal(n, L, sigma, fewest=SMALLEST) ** self.exponent
        return self.low * W, self.high * W


def prove_transfer(theorem: Theorem, ratio: float) -> Theorem:
    """Theorem 3 with numbers: bound the loss of the w* of L on tasks of L' = ratio L, over that of their own w*.

    Parameters
    ----------
    theorem
        The theorem about the windows of both.
    ratio
        L' / L, > 0.

    Returns
    -------
    Theorem
        The quotient of the losses is its fact "cost", wherever L and L' are both covered.

    Raises
    ------
    InvalidInput
        If `ratio` is not a positive number, or `theorem` is another proof.
    OutOfReach
        If the theorem's envelope begins too late.

    Examples
    --------
    >>> from lipverify.laws import Affine
    >>> cost = prove_transfer(prove_window(Affine(), d=3), ratio=3.0).fact("cost")
    >>> round(float(cost.low), 3), round(float(cost.high), 3)
    (1.674, 1.857)
    """
    if not isinstance(theorem, Theorem):
        raise InvalidInput(f"theorem = {shown(theorem)}: it must be one of `prove_window`, which has the envelopes.")
    if laws.own_constant(theorem.law):
        raise OutOfReach(f"{theorem.law} is another law for another L: no theorem is known for its transfer.")
    rho = number("ratio", ratio, "L' / L", above=0)
    with in_doubles(f"law = {theorem.law}, d = {theorem.d}, ratio = {rho!r}"):
        return Theorem(extended(theorem.data, "transfer", {windows.transfer: {"rho": f"{rho:.12g}"}}))


def unit(law: str, d: int) -> float:
    """1 / k_1, k_1 the power of the linear part of f over L^2: 3d for the affine law, 6d for ReLU."""
    with ctx.workprec(form.BITS):
        return float(critical.unit(laws.start(law, d)).mid())


def signal(n: float, L: float, sigma: float, fewest: float = 2) -> float:
    """Lambda = n L^2 / sigma^2, for n from `fewest` on and L and sigma whose squares are doubles."""
    number("n", n, "the number of tokens", least=fewest)
    number("L", L, "the Lipschitz constant", least=SMALLEST, below=1 / SMALLEST)
    number("sigma", sigma, "the noise", least=SMALLEST, below=1 / SMALLEST)
    lam = n * L**2 / sigma**2
    if not SMALLEST**2 <= lam <= SMALLEST**-2:
        raise InvalidInput(
            f"n = {n:g}, L = {L:g}, sigma = {sigma:g}: Lambda = n L^2 / sigma^2 must be between {SMALLEST**2:g} and "
            f"{SMALLEST**-2:g}, as powers of it are doubles; give an L / sigma nearer to 1."
        )
    return lam


@dataclass(frozen=True)
class EveryN(LawProof):
    """For every n >= 2: w* between two multiples of M = min(k_1 Lambda, k Lambda^e), 1/k_1 = 3d, or 6d for ReLU.

    It covers all L <= rho sigma, and all with n >= K W^{(d+1)/2}, W = Lambda^e, for ReLU with n >= K W^{d/2}: the same
    K as of `Theorem`, at any W. For all other L / sigma it bounds w* from below: by the same multiple of min(M, k V),
    V the largest W with so many tokens.

    Attributes
    ----------
    data
        The proof file as decoded JSON: format, theorem, hypotheses, and the lemmas with their constants.

    Examples
    --------
    >>> from lipverify.foundation.shipped import shipped
    >>> from lipverify.proofs import load
    >>> load(shipped() / "proofs" / "every-affine-3.json").d
    3
    """

    @property
    def most_signal(self) -> float:
        """rho: the largest L / sigma that is covered for every n."""
        return self.constants["rho"]

    @property
    def least_tokens(self) -> float:
        """K: larger L are covered where n >= K W^{(d+1)/2}, or for ReLU K W^{d/2}."""
        return self.constants["K"]

    @property
    def multiples(self) -> tuple[float, float]:
        """w* / M lies between these."""
        return below(self.constants["least_ratio"]), beyond(self.constants["largest_ratio"])

    def scale(self, n: float, L: float = 1.0, sigma: float = 1.0) -> float:
        """M = min(k_1 Lambda, k Lambda^e)."""
        lam = signal(n, L, sigma)
        return float(min(lam / unit(self.law, self.d), self.constants["k"] * lam**self.exponent))

    def covers(self, n: float, L: float | None = None, sigma: float = 1.0) -> bool:
        """Whether the theorem bounds w* from both sides; L is 1 if it is not given."""
        n, L, sigma = context(n, self.constant(L), sigma)
        if not (n >= 2 and L > 0 and sigma > 0):
            return False
        W = signal(n, L, sigma) ** self.exponent
        return L / sigma <= self.most_signal or n >= self.least_tokens * W ** (self.noise_power + self.beta - 1)

    def least(self, n: float, L: float | None = None, sigma: float = 1.0) -> float:
        """What w* is at least, for n >= 2 and any L and sigma.

        >>> from lipverify.foundation.shipped import shipped
        >>> from lipverify.proofs import load
        >>> theorem = load(shipped() / "proofs" / "every-affine-3.json")
        >>> [round(theorem.least(n=10**6, L=L), 1) for L in (1, 10, 100, 1000)]
        [37.7, 175.1, 266.8, 266.8]
        """
        L, share = self.constant(L), self.multiples[0]
        M = self.scale(n, L, sigma)
        if not self.covers(n, L, sigma):
            M = min(M, self.constants["k"] * (n / self.least_tokens) ** (1 / (self.noise_power + self.beta - 1)))
            share = below(self.constants["least"])
        return share * M * (1 - 1e-14)

    def window(self, n: float, L: float | None = None, sigma: float = 1.0) -> tuple[float, float]:
        """Two numbers between which w* lies; errors as of `Theorem.window`."""
        if not self.covers(n, L, sigma):
            raise OutOfReach(
                f"n = {n:g}, L = {self.constant(L):g}, sigma = {sigma:g}: not covered by {self.statement}; "
                "optimal_window computes w* of one problem, and prove_optimum encloses it."
            )
        M, (low, high) = self.scale(n, self.constant(L), sigma), self.multiples
        return low * M * (1 - 1e-14), high * M * (1 + 1e-14)


def prove_every_n(law: Law, d: int, most_signal: float = 1.0, least_tokens: float = 2.0) -> EveryN:
    r"""Prove between which multiples of M = min(Lambda / 3d, k Lambda^e) w* lies for every n >= 2; for ReLU with 6d.

    For small Lambda = n L^2 / sigma^2, w* is near Lambda / 3d; for large Lambda it is near k Lambda^e, with the
    constant k of `prove_window`. The theorem bounds the distance, few tokens included. L / sigma is bounded by a
    number or, for large n, by a power of n: L^2 / sigma^2 <= W / K. With less noise the differences of f within one
    window, about L^2 / w, outweigh the noise, and w* is near the minimum of the bias for every Lambda.

    Parameters
    ----------
    law
        Affine or ReLU: the theorem holds for every L, whatever that of the law.
    d
        The ambient dimension, >= 2.
    most_signal
        rho, the largest L / sigma for every n, > 0.
    least_tokens
        K, with which all larger L are covered for which n >= K W^{(d+1)/2}, or for ReLU K W^{d/2}, W = Lambda^e; > 0.
        For ReLU in the plane 8 takes seconds, 2 many minutes.

    Returns
    -------
    EveryN
        The multiples, and their proof.

    Raises
    ------
    InvalidInput
        If an argument is not a number of its kind.
    OutOfReach
        If the law is another one, or no bounds come out.

    Source: slopes of noise and bias, from both sides; for ReLU, whose bias has no such slope, the loss at two places;
    see the lemmas.

    Examples
    --------
    >>> from lipverify.foundation.shipped import shipped
    >>> from lipverify.proofs import load
    >>> low, high = load(shipped() / "proofs" / "every-affine-3.json").window(n=10)
    >>> round(low, 3), round(high, 3)
    (0.692, 1.359)
    """
    name, d = subject(law, d)
    rho = number("most_signal", most_signal, "L / sigma", above=0)
    K = number("least_tokens", least_tokens, "K", above=0)
    if name not in ROUTES:
        raise OutOfReach(
            f"law = {law!r}: with few tokens w* is proved for Affine() and ReLU(); use prove_window or optimal_window."
        )
    chooses, starts, shares, first = ROUTES[name]
    tried = f"law = {name}, d = {d}, most_signal = {rho!r}, least_tokens = {K!r}"
    with in_doubles(tried):
        for W, share in product(starts, shares):
            with suppress(OutOfReach):
                data = find(name, d, W, K)
                constant = float(f"{float(data['lemmas'][-1]['constants']['limit_low']):.3g}")
                chosen = {"rho": decimal(rho), "k": decimal(constant), "reach": decimal(share * constant)}
                if first:
                    both = (unit(name, d) * constant) ** ((d + 2) / d)  # where both parts of M are equal
                    chosen["first"] = decimal(first * both)
                lemmas = {lemma: chosen if lemma is chooses else {} for lemma in every_n.LEMMAS[name]}
                return EveryN(extended(data, "every n", lemmas))
    raise OutOfReach(
        f"{tried}: with few tokens in a window the bounds are too wide; ask for a smaller most_signal or d, or a "
        "larger least_tokens."
    )


ROUTES: dict[str, tuple[form.Rule, tuple[float, ...], tuple[float, ...], float]] = {
    "affine": (critical.reached, (200.0, 400.0), (1.8, 2.3), 0.0),
    "relu": (losses.levels, (1e5,), (3.2,), 3.0),
}
"""By law: the lemma with numbers to choose; W from which the window is proved, and reach / k, of which the first pair
that is enough is taken; and the Lambda up to which slopes bound w*, in units of that where both parts of M are equal,
or 0 if for all. From 1.5 k W on (d = 3; d = 2: 1.6) noise alone is more than the least loss, if bounds are close. The
envelopes of ReLU are wider, so that it needs a larger W, and its bias has no slope near w*.
"""


def prove_window(law: Law, d: int, *, least_lambda: float | None = None, least_tokens: float | None = None) -> Theorem:
    r"""Prove between which multiples of Lambda^e the optimal w* lies.

    Parameters
    ----------
    law
        Affine, ReLU or Quadratic: the theorem holds for every L, whatever that of the law; Cosine, for its own L; or
        Matern, RBF, `Zonal(spectrum=...)`, links and kernels that declare their form, where L is a factor of f.
    d
        The ambient dimension, >= 2.
    least_lambda
        The least Lambda = n L^2 / sigma^2; by default W = Lambda^e >= 10^4 (10^8 where f jumps), or Lambda >= 10^27
        if that comes first; where nothing can be proved from there, ten times that, then 10^4 to 10^6 (10^8 to 10^10).
    least_tokens
        K in n >= K W^{(d-1)/2 + max(beta, 1) - 1}; by default W_least / 100, which covers every L <= 10 sigma, and 10
        at least; where f jumps W_least^{1/2}, which covers L <= sigma.

    Returns
    -------
    Theorem
        Checked by `lipverify.proofs.checker`, which shares nothing with the search but its formulas.

    Raises
    ------
    InvalidInput
        If `d` is not an integer >= 2, or a range is not a positive number.
    OutOfReach
        If no such theorem is known for the law, or none can be proved from that little.

    Source: Jensen's inequality, the Laplace representation of 1/S^2 and Bessel's equation; see the lemmas.

    Examples
    --------
    >>> from lipverify.laws import Affine
    >>> theorem = prove_window(Affine(), d=3)
    >>> theorem.exponent, round(theorem.low, 3), round(theorem.high, 3)
    (0.3333333333333333, 0.585, 0.627)
    >>> theorem.failures()
    []
    """
    law_name, d = subject(law, d)
    beta = laws.beta(law_name)
    power, slowest = (d - 1) / 2 + beta, min(beta, 1.0)
    if least_lambda is not None:
        starts = [number("least_lambda", least_lambda, "the least Lambda", least=1) ** (1 / power)]
    else:
        usual = 1e4 ** (1 / slowest)
        first = min(usual, float(f"{1e27 ** (1 / power):.2g}"))  # three decades below the longest context
        starts = sorted({first, *(usual * 10**j for j in range(3)), 10 * first})
    if least_tokens is not None:
        least_tokens = number("least_tokens", least_tokens, "K", above=0)
    with in_doubles(f"law = {law_name}, d = {d}, least_lambda = {least_lambda}, least_tokens = {least_tokens}"):
        for W in starts:
            # by default every L <= 10 sigma is covered, or where f jumps, L <= sigma
            usual_tokens = max(W**slowest / (100 if slowest == 1 else 1), 10.0)
            try:
                return Theorem(find(law_name, d, W, usual_tokens if least_tokens is None else least_tokens))
            except OutOfReach as error:
                failure = error
        raise failure
