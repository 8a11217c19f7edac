"""The optimal w for every n and every L / sigma, from both sides: in two, three and five dimensions.

What is known of little noise by `every` is joined with what `largest` and `five` say of hardly any: w* < C n^p, p =
2/3 or 1/3. M = min(Lambda / 3d, k W, m n^p), W = Lambda^{1/(a+2)}, Lambda = n L^2 / sigma^2; other letters as in those
modules. And of ReLU, by `levels` and in five dimensions `five`, in three `three`: p = 2/5 or 4/5, M = min(Lambda / 6d,
k W, m n^p), W = Lambda^{1/(a+3/2)}. And of the affine law in the plane, by `plane`: M = min(Lambda / 6, max(k W, L^2 /
12 sigma^2), m (n^2 + 150)), w* < C (n^2 + 150).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import reduce

from flint import arb

from .chain import Ball, Bounds, Conditions, Known, Rule, least, most
from .every import FEW, Piece, end_of_few, extremes, looked_at, polynomials, ratio, relative, shares, unit
from .five import SINGLE, few_in_five, few_of_relu, many_in_five, many_of_relu, nearest, nearest_of_relu
from .largest import LAST, SIDES, alone, both_sides, few_tokens, largest, many_tokens
from .plane import FEW as SINGLY
from .plane import START, V_LEAST, both_sides_in_plane, few_in_plane, largest_in_plane, many_in_plane, top
from .plane import looked_at as looked_at_in_plane
from .plane import nearest as nearest_in_plane
from .three import SIDES as CROWDED
from .three import alone_of_relu, both_of_relu, few_in_three, many_in_three
from .two import CLOSE, both_in_two, few_in_two, many_in_two
from .two import looked_at as looked_at_in_two
from .two import nearest as nearest_in_two

FEWER, END = 40, arb(12)
"""Below this n five dimensions are looked at by polynomials, up to this w."""
NEXT, FLAT = arb(45) / 2, arb(20)
"""In the plane: the first w that is looked at beyond the polynomials, of the affine law and of ReLU."""

EXPONENTS = {("affine", 3): (2, 3), ("affine", 5): (1, 3), ("relu", 3): (4, 5), ("relu", 5): (2, 5)}
"""p, by the law and the dimension."""


def power(k: Known) -> Ball:
    """p."""
    over, under = EXPONENTS["relu" if "kinked" in k else "affine", int(k["d"].unique_fmpz())]
    return arb(over) / under


def few_sides(k: Known) -> tuple[Bounds, Conditions]:
    """For n < 80 (d = 3) or 40 (d = 5): few_sides_low M <= w* <= few_sides_high M, M = min(Lambda / 3d, k W, m n^p).

    Because up to w_1 = 21 or 12 each critical w is in a part where w / min(Lambda / 3d, k W) is enclosed (`few`), and
    w* is less than C n^p. If it is w_1 or more, Lambda is more than Lambda_0: up to that n N + Lambda b / 3d is at
    some smaller w less than with N at w_1, since N rises, and b at least what `largest` or `five` says, which rises
    too.
    """
    few, last = (SIDES, LAST) if k["d"] == 3 else (FEWER, END)
    return extremes("few_sides", list(sides(k, few, last, alone if k["d"] == 3 else nearest))), {}


def sides(
    k: Known, few: int, last: Ball, beyond: Callable[[int, Ball], Ball], tokens: range | None = None
) -> Iterator[tuple[Ball, Ball]]:
    """w / M at least and at most, for all parts up to `last` where w can be best, and beyond, for n from 2 to few - 1.

    Or for some of these n, `tokens`. Where `beyond` is what b is at least from one w on.
    """
    d, even = int(k["d"].unique_fmpz()), "kinked" in k
    pieces, (_, rest) = polynomials(d, float(last), few, even), relative(d, even)
    for n in range(2, few) if tokens is None else tokens:
        top, stop = (k[name] * arb(n) ** power(k) for name in ("m", "C"))
        for w, share in shares(pieces, n, stop.min(last), 4 * rest):
            if share[0] == arb("inf"):  # where B rises nothing is best
                continue
            low, high = ratio(k, w, share)
            yield low.max(w[0] / top), high.max(w[1] / top)
        Lambda = least_signal(k, pieces, n, last, beyond(n, last) - 4 * rest)
        if not (stop < last or Lambda == arb("inf")):
            M = (Lambda / unit(k)).min(k["k"] * Lambda ** (1 / (k["a"] + k["beta"]))).min(top)
            yield last / top, stop / M


def least_signal(k: Known, pieces: list[Piece], n: int, last: Ball, beyond: Ball) -> Ball:
    """Up to this Lambda no w >= last is best, where b is no less than `beyond`; infinite if that is so for all."""
    found, most = arb(0), pieces[-1][0][n - 2].over(last, last)
    for _, noise, bias in looked_at(pieces, n, slice(None, -1, 4)):
        gained, lost = most - noise, bias - beyond
        if gained > 0:
            found = found.max(arb("inf") if lost <= 0 else (unit(k) * n * gained / lost.upper()).lower())
    return found


def signals(k: Known) -> tuple[Bounds, Conditions]:
    """For d = 3, n >= 2, all L, sigma > 0: all_low M <= w* <= all_high M, m = 1; from 256 on later_low, later_high.

    Because from 80 tokens on `every` says it where L <= rho sigma or W <= V, and M is there min(Lambda / 9, k W): k W
    is at most n^{2/3}. For larger W `both_sides` does: W^2 >= n/2 if W > V, and Lambda / 9 >= k W.
    """
    low, high = k["few_sides_low"].min(k["lower"]), k["few_sides_high"].max(k["upper"])
    return {}, {
        "k <= 1 <= K, rho <= 1, m = 1": k["k"] <= 1 <= k["K"] and k["rho"] <= 1 and k["m"] == 1,
        "all_low, all_high": between(k, k["all_low"], low, high, k["all_high"]),
        "later_low, later_high": between(k, k["later_low"], k["lower_later"], k["upper_later"], k["later_high"]),
    }


def between(k: Known, lowest: Ball, low: Ball, high: Ball, highest: Ball) -> bool:
    """Whether what is stated of w* / M follows from this, and from `every`."""
    return lowest <= low.min(k["least_ratio"]) and highest >= high.max(k["largest_ratio"])


def signals_in_five(k: Known) -> tuple[Bounds, Conditions]:
    """For d = 5, n >= 2, all L, sigma > 0: all_low M <= w* <= all_high M.

    Because from 40 tokens on, with V = v n^{1/3}, v = K^{-1/3}, w* < C n^{1/3}. Where L <= rho sigma or W <= V `every`
    says it, or M is m n^{1/3}. For larger W w* is at least least min(Lambda / 15, k W, k V) (`every`), where k V = (k v
    / m) m n^{1/3}; and M is at least min(k V, m n^{1/3}), as Lambda / 15 >= V^3 V / 15 = (n / 15 K) V >= k V.
    """
    V = k["k"] * k["K"] ** (-arb(1) / 3)
    low = k["few_sides_low"].min(k["least"] * (V / k["m"]).min(1))
    high = k["few_sides_high"].max(k["C"] / V.min(k["m"]))
    return {}, {
        "15 k K <= 40": 15 * k["k"] * k["K"] <= FEWER,
        "all_low, all_high": between(k, k["all_low"], low, high, k["all_high"]),
    }


def few_sides_of_relu(k: Known) -> tuple[Bounds, Conditions]:
    """For n < 41: w* <= few_sides_high M, M = min(Lambda / 6d, k W, m n^{2/5}).

    As in `few_sides`, up to w_1 = 12 and beyond. Harmonics beyond the 24th are in no polynomial: B / k_1 is off by at
    most 4 times the sum of their k_l / k_1, and its slope too (`every`).
    """
    found = sides(k, SINGLE, END, nearest_of_relu)
    return {"few_sides_high": least(reduce(arb.max, [high for _, high in found]))}, {}


def signals_of_relu(k: Known) -> tuple[Bounds, Conditions]:
    """For d = 5, n >= 2, all L, sigma > 0: all_low M <= w* <= all_high M, and w* < C n^{2/5}, also for sigma = 0.

    The loss is continuous, and at each w >= C n^{2/5} more than at some smaller one, as B is and N falls nowhere
    (`window`): so it has a least value, and no such w attains it; no w < 0 does (`window`). M is at most the smaller
    one of that of `joined` and k V, k V >= m n^{2/5}, and that gives the lower bound. For n >= 41 from above: where L
    <= rho sigma or W <= V `joined` says it, or M is m n^{2/5}, as it is for larger W: there k W >= k V, and Lambda / 30
    is at least V^{7/2} / 30 = (n / 30 K) V >= k V.
    """
    high = k["few_sides_high"].max(k["C"] / k["m"])
    return {}, {
        "30 k K <= 41": unit(k) * k["k"] * k["K"] <= SINGLE,
        "m <= k K^(-2/5)": k["m"] <= k["k"] * k["K"] ** (-arb(2) / 5),
        "all_low, all_high": between(k, k["all_low"], k["least"], high, k["all_high"]),
    }


def few_sides_in_plane(k: Known) -> tuple[Bounds, Conditions]:
    """For n < 256: few_sides_low M <= w* <= few_sides_high M, M = min(Lambda / 6, max(k W, L^2 / 12 sigma^2), m (n^2 +
    150)).

    For n >= 100 if w* <= w_1; every larger one has max(k W, L^2 / 12 sigma^2) >= k 128^{2/3}. Here w_1 is the end of
    the polynomials of `few`, so that up to it each critical w is in a part where w / M is enclosed: L^2 / 12 sigma^2 is
    Lambda / 12 n. Beyond, for n < 100: if some w >= w_2 is best, Lambda is at least Lambda_0, since otherwise n N at
    w_2 with Lambda b / 6 by the nearest token, both of which rise, is more than the loss at some smaller w that is
    looked at; and b is less there at none. w_2 is each of these w from 22.5 on, and w* < C (n^2 + 150).
    """
    found, crowded, last = sides_in_plane(k, SINGLY, NEXT, looked_at_in_plane(), nearest_in_plane)
    return extremes("few_sides", found), {
        "no w* > w_1 if w_0 < k 128^(2/3)": crowded >= k["k"] * V_LEAST,
        "w_1 >= 22.5": last >= NEXT,
    }


def sides_in_plane(
    k: Known,
    single: int,
    first: Ball,
    places: list[tuple[Ball, list[Ball], list[Ball]]],
    beyond: Callable[[int, Ball], Ball],
) -> tuple[list[tuple[Ball, Ball]], Ball, Ball]:
    """Of `few_sides_in_plane` and `sides_in_two`: w / M at least and at most, the least w_0 beyond w_1, and w_1.

    Where `places` are looked at for n < single, with b at most; from `first` on b is at least `beyond`.
    """
    even = "kinked" in k
    pieces, (_, rest), found, crowded = polynomials(2, end_of_few(k), FEW, even), relative(2, even), [], arb("inf")
    last = pieces[-1][4][-1]
    for n in range(2, FEW):
        most, stop = k["m"] * top(n), k["C"] * top(n)
        for w, share in shares(pieces, n, stop.min(last), 4 * rest):
            if share[0] == arb("inf"):  # where B rises nothing is best
                continue
            low, high = ratio(k, w, share)
            least, largest = (12 * n / (unit(k) * each) for each in share)
            low = low.min(largest if share[1].is_finite() else arb(0))
            found.append((low.max(w[0] / most), high.min(least).max(w[1] / most)))
        if n >= single:
            crowded = crowded.min(of_signal(k, n, least_signal(k, pieces, n, last, -4 * rest)))
            continue
        tried = [(w, noises[n - 2], biases[n - 2]) for w, noises, biases in places]
        for j, (w, noise, _) in enumerate(tried):
            if not first <= w < stop:
                continue
            far = beyond(n, w)
            if not any(bias < far for _, _, bias in tried[:j]):
                needed = [(unit(k) * n * (noise - N) / (bias - far)).lower() for _, N, bias in tried[:j] if bias > far]
                Lambda = reduce(arb.max, needed, arb(0))
                M = (Lambda / unit(k)).min(of_signal(k, n, Lambda)).min(most)
                after = tried[j + 1][0] if j + 1 < len(tried) else stop
                found.append((w / most, stop.min(after) / M))
    return found, crowded, last


def of_signal(k: Known, n: int, Lambda: Ball) -> Ball:
    """max(k W, L^2 / 12 sigma^2)."""
    return (k["k"] * Lambda ** (1 / (k["a"] + k["beta"]))).max(Lambda / (12 * n))


def signals_in_plane(k: Known) -> tuple[Bounds, Conditions]:
    """For d = 2, n >= 2, all L, sigma > 0: all_low M <= w* <= all_high M, M as in `few_sides_in_plane`.

    Let w_0 = max(k W, L^2 / 12 sigma^2). For n >= 256 and L <= rho sigma or W <= V `every` says it, since M is there
    min(Lambda / 6, k W): L^2 / 12 sigma^2 is at most k W, as W^{3/2} <= n / K or L <= sigma, and k W at most m n^2.
    Otherwise w* >= least k V (`every`), and w_0 >= k V >= k 128^{2/3}; or w* <= w_1 and `few_sides_in_plane` says it.
    If w_0 <= n^2 / 80, then `both_sides_in_plane` does, as Lambda / 6 >= w_0. If it is more, w* <= C (n^2 + 150), M >=
    m n^2, and w* is at least that of the L with w_0 = n^2 / 80 (`monotone`), and M <= (n^2 + 150) / 80.
    """
    crowded = 1 + arb(150) / SINGLY**2
    low = k["few_sides_low"].min(k["lower"]) / crowded  # of that L w* may be one of few sides
    high = k["few_sides_high"].max(k["upper"]).max(k["C"] * crowded / k["m"])
    return {}, {
        "K = 2, rho <= 1, m <= 1/80": k["K"] == 2 and k["rho"] <= 1 and k["m"] <= START,
        "1/24 <= k <= 1/2": 24 * k["k"] >= 1 and 2 * k["k"] <= 1,
        "all_low, all_high": between(k, k["all_low"], low, high, k["all_high"]),
    }


def sides_in_three(k: Known) -> tuple[Bounds, Conditions]:
    """For n < 48: w* <= few_sides_high M, and for n < 256 w* >= few_sides_low M, M = min(Lambda / 18, k W, m n^{4/5}).

    As in `few_sides`, up to the w of `few`, whose polynomials these are, and beyond; harmonics as in
    `few_sides_of_relu`.
    """
    few, more = (
        list(sides(k, FEW, arb(end_of_few(k)), alone_of_relu, tokens))
        for tokens in (range(2, CROWDED), range(CROWDED, FEW))
    )
    low = reduce(arb.min, [low for low, _ in few + more])
    return {"few_sides_low": most(low), "few_sides_high": least(reduce(arb.max, [high for _, high in few]))}, {}


def signals_in_three(k: Known) -> tuple[Bounds, Conditions]:
    """For d = 3, n >= 2, all L, sigma > 0: all_low M <= w* <= all_high M, and w* < C n^{4/5}, also for sigma = 0.

    As in `signals_of_relu` the loss has a least value, and no w >= C n^{4/5} attains it. From 48 tokens on, where L <=
    rho sigma or W <= V, `joined` says it, or M is m n^{4/5}, from above; and for larger W `both_of_relu`, from below
    from 256 tokens on: there Lambda / 18 is at least V^{3/2} W / 18 = (n / 36) W >= k W.
    """
    low, high = k["few_sides_low"].min(k["lower"]), k["few_sides_high"].max(k["upper"]).max(k["C"] / k["m"])
    return {}, {
        "18 k K <= 48": unit(k) * k["k"] * k["K"] <= CROWDED,
        "all_low, all_high": between(k, k["all_low"], low, high, k["all_high"]),
    }


def sides_in_two(k: Known) -> tuple[Bounds, Conditions]:
    """For n < 256: few_sides_low M <= w* <= few_sides_high M, M = min(Lambda / 12, max(k W, L^2 / 12 sigma^2), m (n^2 +
    150)).

    For n >= 72 if w* <= w_2, the end of the polynomials of `few`; every larger one has max(k W, L^2 / 12 sigma^2) >=
    256 k / K. As in `few_sides_in_plane`, with harmonics as in `few_sides_of_relu`.
    """
    found, crowded, last = sides_in_plane(k, CLOSE, FLAT, looked_at_in_two(), nearest_in_two)
    return extremes("few_sides", found), {
        "no w* > w_2 if w_0 < 256 k / K": crowded >= k["k"] * FEW / k["K"],
        "w_2 >= 20": last >= FLAT,
    }


def signals_in_two(k: Known) -> tuple[Bounds, Conditions]:
    """For d = 2, n >= 2, all L, sigma > 0: all_low M <= w* <= all_high M, M as in `sides_in_two`; w* < C (n^2 + 150).

    The last also for sigma = 0: as in `signals_of_relu` the loss has a least value, and no w >= C (n^2 + 150) attains
    it. Let w_0 = max(k W, L^2 / 12 sigma^2). For n >= 256 and L <= rho sigma or W <= V `joined` says it, since M is
    there min(Lambda / 12, k W): L^2 / 12 sigma^2 is at most k W, as W <= n / K or L <= sigma, and k W at most k n.
    Otherwise w* >= least k V (`joined`), as Lambda / 12 >= k W, and w_0 >= k V >= 256 k / K; or w* <= w_2 and
    `sides_in_two` says it. If w_0 <= n^2 / 80, then `both_in_two` does, as Lambda / 12 >= w_0. If it is more, it is as
    in `signals_in_plane`.
    """
    crowded = 1 + arb(150) / CLOSE**2
    low = k["few_sides_low"].min(k["lower"]) / crowded  # of that L w* may be one of few sides
    high = k["few_sides_high"].max(k["upper"]).max(k["C"] * crowded / k["m"])
    return {}, {
        "rho <= 1, 12 k K >= 1, 192 k >= 1": k["rho"] <= 1 and 12 * k["k"] * k["K"] >= 1 and 192 * k["k"] >= 1,
        "12 k <= 256 / K, K >= 1": 12 * k["k"] * k["K"] <= FEW and k["K"] >= 1,
        "k <= 256 m, m <= 1/80": k["k"] <= FEW * k["m"] and k["m"] <= START,
        "256 k / K <= 72^2 / 80": FEW * k["k"] <= START * CLOSE**2 * k["K"],
        "all_low, all_high": between(k, k["all_low"], low, high, k["all_high"]),
    }


LEMMAS: dict[tuple[str, int], tuple[Rule, ...]] = {
    ("affine", 2): (
        few_in_plane,
        many_in_plane,
        largest_in_plane,
        few_sides_in_plane,
        both_sides_in_plane,
        signals_in_plane,
    ),
    ("affine", 3): (few_tokens, many_tokens, largest, few_sides, both_sides, signals),
    ("affine", 5): (few_in_five, many_in_five, largest, few_sides, signals_in_five),
    ("relu", 2): (few_in_two, many_in_two, sides_in_two, both_in_two, signals_in_two),
    ("relu", 3): (few_in_three, many_in_three, sides_in_three, both_of_relu, signals_in_three),
    ("relu", 5): (few_of_relu, many_of_relu, few_sides_of_relu, signals_of_relu),
}
"""The lemmas that follow those of every number of tokens, by the law and the dimension."""
CHOICES: dict[Rule, tuple[str, ...]] = {
    few_tokens: ("C",),
    many_tokens: ("x",),
    few_in_five: ("C",),
    many_in_five: ("x",),
    few_sides: ("m",),
    both_sides: ("lower", "upper", "lower_later", "upper_later"),
    signals: ("all_low", "all_high", "later_low", "later_high"),
    signals_in_five: ("all_low", "all_high"),
    few_in_plane: ("C",),
    few_sides_in_plane: ("m",),
    both_sides_in_plane: ("lower", "upper"),
    signals_in_plane: ("all_low", "all_high"),
    few_in_two: ("C",),
    sides_in_two: ("m",),
    both_in_two: ("lower", "upper"),
    signals_in_two: ("all_low", "all_high"),
    few_in_three: ("C",),
    many_in_three: ("x",),
    sides_in_three: ("m",),
    both_of_relu: ("lower", "upper"),
    signals_in_three: ("all_low", "all_high"),
    few_of_relu: ("C",),
    few_sides_of_relu: ("m",),
    signals_of_relu: ("all_low", "all_high"),
}
"""The constants that a proof is free to choose."""
