r"""Balls for one w at one precision, from the averages that suit it."""

from __future__ import annotations

import math

from flint import arb, ctx

from lipverify.errors import OutOfReach
from lipverify.loss.certified.context import Context
from lipverify.loss.certified.degrees import degree_by_mass, degree_by_series, degree_by_transform
from lipverify.loss.certified.harmonics import Ball
from lipverify.loss.certified.mellin import MellinTransform
from lipverify.loss.certified.nodes import Nodes
from lipverify.loss.certified.series import PowerSeries
from lipverify.loss.certified.spectra import spectrum_of
from lipverify.problem import Problem

LARGEST_SERIES_LAMBDA = 400.0
LARGEST_W = 1e9
MOST_FREQUENCIES = 40_000
GUARD_BITS = 40


def enclose(problem: Problem, w: float, goal: float) -> tuple[Ball, Ball]:
    """(N, B) as balls with a relative radius of about e^{-goal}; the goal is not guaranteed."""
    n = int(problem.n)
    # e^{-2w} and the averages that it scales are known to w times the working precision
    with ctx.workprec(math.ceil(goal / math.log(2) + math.log2(1 + w)) + GUARD_BITS):
        noise, bias = _uniform(problem, n, goal) if w == 0 or n == 1 else _narrowed(problem, n, w, goal)
        return arb(problem.sigma) ** 2 * noise, bias


def _uniform(problem: Problem, n: int, goal: float) -> tuple[Ball, Ball]:
    """At w = 0 or n = 1 all weights are 1/n: N = sigma^2 / n, B = (1 + 1/n) Var f(x)."""
    law, d = problem.law, problem.d
    start = spectrum_of(law, d, 2)
    top = degree_by_mass(law, d, goal) if start.fast and start.infinite else 2
    return arb(1) / n, (1 + arb(1) / n) * spectrum_of(law, d, top).variance


def _narrowed(problem: Problem, n: int, w: float, goal: float) -> tuple[Ball, Ball]:
    """(N, B) for w > 0 and n > 1: by the power series where lambda stays small, by the Mellin transform elsewhere."""
    if w > LARGEST_W:
        raise OutOfReach(f"w = {w}: Bessel functions are enclosed up to w = {LARGEST_W:g}; use method='exact'.")
    nodes = Nodes.place(problem.d, n, w, goal)
    if nodes.high <= math.log(LARGEST_SERIES_LAMBDA):
        return _by_series(problem, n, w, goal, nodes)
    return _by_transform(problem, n, w, goal, nodes)


def _by_series(problem: Problem, n: int, w: float, goal: float, nodes: Nodes) -> tuple[Ball, Ball]:
    """(N, B) by the power series, with extra bits for the cancellation of its terms."""
    law, d, largest = problem.law, problem.d, math.exp(nodes.high)
    with ctx.workprec(ctx.prec + math.ceil(largest / math.log(2))):
        start = spectrum_of(law, d, 2)
        averages = PowerSeries(d, arb(w), nodes, PowerSeries.terms_for(largest, goal), start.top)
        if start.infinite:
            top = _by_mass(problem, w, goal) if start.fast else degree_by_series(law, averages, goal)
            averages = averages.up_to(top)
        return Context(d, n, arb(w), nodes, spectrum_of(law, d, averages.top)).enclose(averages)


def _by_transform(problem: Problem, n: int, w: float, goal: float, nodes: Nodes) -> tuple[Ball, Ball]:
    """(N, B) by the Mellin transform, whose absolute accuracy must serve terms of order 1/n^2."""
    law, d, absolute = problem.law, problem.d, goal + 2 * math.log(n) + 2 * math.log1p(w)
    start = spectrum_of(law, d, 2)
    if nodes.count <= MOST_FREQUENCIES:
        averages = MellinTransform.place(d, arb(w), nodes, absolute, start.top)
    if nodes.count > MOST_FREQUENCIES or averages.frequencies > MOST_FREQUENCIES:
        raise OutOfReach(
            f"d = {d}, n = {problem.n}, w = {w}: windows this narrow that hold few tokens need more than "
            f"{MOST_FREQUENCIES} frequencies, the work of a few seconds; use method='exact' or fewer digits."
        )
    with ctx.workprec(max(ctx.prec, averages.bits)):
        if start.infinite:
            top = _by_mass(problem, w, goal) if start.fast else degree_by_transform(law, averages, absolute)
            averages = averages.up_to(top)
        return Context(d, n, arb(w), nodes, spectrum_of(law, d, averages.top)).enclose(averages)


def _by_mass(problem: Problem, w: float, goal: float) -> int:
    """The degree for a spectrum that falls fast, against a bias that falls as w^-2."""
    return degree_by_mass(problem.law, problem.d, goal + 4 * math.log1p(w))
