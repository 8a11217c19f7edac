r"""The halving of a domain until a user's formula, evaluated with balls, is analytic on every interval."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from flint import acb, arb, ctx

from lipverify.foundation.arrays import EPS, Floats
from lipverify.problem.balls import OPERATIONS, Ball, UndecidedError, decided
from lipverify.problem.features import ROOT, SMALLEST, Features
from lipverify.problem.formula import MISREAD, OFFSET, SAMPLES, Symbol, formula_of

REACH = 2.5
"""Radius of the disk, in half-widths of the interval: the error of 24 Gauss nodes is then less than 1e-21 of the bound
on the disk; in the angle too, where the interval at either end of [-1, 1] is mapped by a square."""
GROWN = 1e3
"""Largest variation of a function on the disk, in units of its variation over the whole interval."""
WIDER = 1e-8
"""Share of its width by which an interval overlaps the next; the radii of balls are rounded up by less."""
ROUNDED = 4.0
"""Factor on the radius of a ball of 53 bits: NumPy's functions are a few times less accurate than Arb's."""
NO_DOUBLE, FOR_ROUNDING, FREE = 1e-9, 4e-17, 1e-18
"""In half an interval at an end of the domain that is narrower than the first, no double is that near to the end. The
others are the share of the half, and the length, that a ball leaves free at the end so that rounding does not reach it.
"""
AT_END, RISING = 1e-7, 3.0
"""In the last 2^-51 next to an end, values may differ from that before by the first share of the function's variation,
or by RISING times the difference within `BESIDE`, as at a root: on the circle, 1e-8 of the points are so near."""
MOST = 20_000
"""Largest number of intervals, two or three seconds' work: a function with more features is not traced."""
BESIDE, STEEP = 32 * SMALLEST, 1.01
"""Larger values are bounded if this factor bounds them relative to those at this distance from the place, as at the tip
of a feature wider than 3e-12. A box too narrow for rounded numbers to place its sides to 1 % does not reach so far."""


def traced(function: Callable[[Any], Any], low: float, high: float) -> Features:
    """The uncached part of `features`; raises if the function is not a formula of known operations."""
    # set the precision here, whatever it is elsewhere
    with ctx.workprec(64):
        return _Search(function, low, high).features()


def rounding(function: Callable[[Any], Any], points: Floats) -> Floats:
    """Bounds on the rounding errors of a formula's value in doubles, if its constants are rounded unless whole."""

    def step(name: str, *inputs: Any) -> Ball:
        if name == "constant" and not float(inputs[0]).is_integer():
            return Ball(arb(inputs[0], EPS / 2 * abs(inputs[0])), None)
        return OPERATIONS[name][0](*inputs)

    with ctx.workprec(53):
        formula = formula_of(function)
        balls = [formula.evaluate(Ball(arb(point), None), step).interval for point in points.tolist()]
        return ROUNDED * np.array([float(ball.rad()) if ball.is_finite() else np.nan for ball in balls])


class _Search:
    """The halving of one function's domain."""

    def __init__(self, function: Callable[[Any], Any], low: float, high: float) -> None:
        self.function, self.low, self.high = function, low, high
        values = np.asarray(function(np.linspace(low, high, 4097)), dtype=float)
        if not np.all(np.isfinite(values)):
            raise ValueError("not finite")
        self.middle = float(values[0])
        distances = np.abs(values - self.middle)
        # of a constant with features between the points, what rounding hides
        rounding = EPS * float(np.max(np.abs(values)))
        self.size, self.mean = max(float(np.max(distances)), rounding, 1e-300), float(np.mean(distances))
        self.looked = 0
        try:
            self.formula: Symbol | None = formula_of(function)
        except UndecidedError:
            self.formula = None
        self._require_same()

    def features(self) -> Features:
        """Search twice: first for the points where the function is not analytic, then on the intervals between them."""
        _, slivers = self._halved(self.low, self.high, ends=False)
        joined: list[list[float]] = []
        for start, stop in slivers:
            if joined and start <= joined[-1][1]:
                joined[-1][1] = stop
            else:
                joined.append([start, stop])
        bounds = [self.low, *(end for sliver in joined for end in sliver), self.high]
        leaves: list[tuple[float, float]] = []
        unresolved: list[tuple[float, float]] = [(start, stop) for start, stop in joined]
        for start, stop in zip(bounds[::2], bounds[1::2], strict=True):
            if start < stop:
                analytic, halves = self._halved(start, stop, ends=True)
                leaves += analytic
                unresolved += halves
        places = [
            self._place(start, stop)
            for start, stop in joined
            if start > self.low and stop < self.high and not self._removable(leaves, start, stop)
        ]
        unbounded = [(start + stop) / 2 for start, stop in unresolved if not self._tame(start, stop)]
        # the gap between two intervals is rounding: add it to the left one
        edges = np.unique([self.low, self.high, *(start for start, _ in leaves if start > self.low + 4 * SMALLEST)])
        return Features(edges, tuple(places), tuple(sorted(set(unbounded))))

    def _halved(self, low: float, high: float, ends: bool) -> tuple[list[Any], list[Any]]:
        """The intervals where the function is analytic, and those where it is not; `ends`: low and high are kinks."""
        leaves, slivers, stack = [], [], [(low, high)]
        while stack:
            start, stop = stack.pop()
            middle = (start + stop) / 2
            if self._analytic(start, stop, ends and start == low, ends and stop == high):
                leaves.append((start, stop))
            elif stop - start <= SMALLEST or not start < middle < stop:
                slivers.append((start, stop))
                # a place alone takes a hundred steps, so more are neighbours: rounding hides the function there, as
                # where two functions in a maximum touch or are the same
                if len(slivers) > 1_000:
                    raise OverflowError("no width resolves it")
            else:
                stack += [(middle, stop), (start, middle)]
        return leaves, slivers

    def _analytic(self, start: float, stop: float, first: bool, last: bool) -> bool:
        """True if the function is analytic on the disk about an interval, and varies by at most GROWN there."""
        self.looked += 1
        if self.looked > MOST:
            raise OverflowError("too many features")
        half, middle = (stop - start) / 2, (start + stop) / 2
        inner = start + WIDER * half * (1 if first or start == self.low else -1)
        outer = stop - WIDER * half * (1 if last or stop == self.high else -1)
        real = arb((inner + outer) / 2, (outer - inner) / 2)
        disk = acb(arb(middle, REACH * half), arb(0, REACH * half))
        try:
            value = self._value(Ball(real, disk))
        except UndecidedError:
            return False
        if not value.disk.is_finite() or not self._same_to_the_end(start, stop, disk):
            return False
        varies = float((value.disk - value.disk.mid()).abs_upper())
        if varies > GROWN * self.size:
            self.size = max(self.size, self._distance(middle))
        return varies <= GROWN * self.size

    def _same_to_the_end(self, start: float, stop: float, disk: Any) -> bool:
        """False if a comparison changes its answer between the shortened interval and the end of the domain."""
        half = (stop - start) / 2
        for end, inwards in ((self.low, half), (self.high, -half)):
            if half > NO_DOUBLE and end in (start, stop):
                free = math.copysign(max(FOR_ROUNDING * half, FREE), inwards)
                near, far = arb(end) + free, arb(end) + 2 * WIDER * inwards
                if not self._decided(near.union(far), disk):
                    return False
        return True

    def _decided(self, interval: Any, disk: Any) -> bool:
        """True if every comparison has a single answer on an interval, and the continuation is finite on a disk."""
        try:
            return bool(self._value(Ball(interval, disk)).disk.is_finite())
        except UndecidedError:
            return False

    def _distance(self, *points: float) -> float:
        """The largest finite distance of the function's values at some points from its first value."""
        values = np.asarray(self.function(np.array(points)), dtype=float)
        return float(np.max(np.abs(values - self.middle), where=np.isfinite(values), initial=0.0))

    def _value(self, ball: Ball) -> Ball:
        formula = self.formula
        if formula is None:  # a Python `if` selects the operations: record those of this ball
            formula = formula_of(self.function, lambda condition: decided(condition.evaluate(ball)))
        return formula.evaluate(ball)

    def _tame(self, start: float, stop: float) -> bool:
        """True if a sliver's values add less than rounding to an average, or are about as large as those beside it."""
        ends = arb(start) + FREE * (start == self.low), arb(stop) - FREE * (stop == self.high)
        try:
            value = self._value(Ball(ends[0].union(ends[1]), None)).interval
        except UndecidedError:
            return False
        beside = self._distance(max(start - BESIDE, self.low), min(stop + BESIDE, self.high))
        allowed, centre = max(10 * self.mean, STEEP * beside), self.middle  # the first adds less than rounding
        if start == self.low or stop == self.high:
            inner, further = (stop, stop + BESIDE) if start == self.low else (start, start - BESIDE)
            centre, before = np.asarray(self.function(np.array([inner, further])), dtype=float).tolist()
            allowed = min(allowed, max(AT_END * self.size, RISING * abs(centre - before)))
        return bool(value.is_finite()) and float((value - centre).abs_upper()) <= allowed

    def _removable(self, leaves: list[tuple[float, float]], start: float, stop: float) -> bool:
        """True if the formula on the left of a place continues on its right."""
        before = [leaf for leaf in leaves if leaf[1] == start]
        after = [leaf for leaf in leaves if leaf[0] == stop]
        if not before or not after:
            return False
        (low, high), width = before[0], min(before[0][1] - before[0][0], after[0][1] - after[0][0])
        if width < ROOT:
            return False
        inside = arb((low + high) / 2, (high - low) / 4)
        places = stop + width * np.array([0.1, 0.4, 0.8, 1.0])
        expected = np.asarray(self.function(places), dtype=float)
        for point, value in zip(places.tolist(), expected.tolist(), strict=True):
            further = self._value(Ball(inside, acb(point))).disk.real
            if not abs(float(further.mid()) - value) <= 1e-13 * (self.size + abs(value)):
                return False
        return True

    def _place(self, start: float, stop: float) -> float:
        """The place between two ends: where a comparison changes, to rounding, or a number with few digits close by."""
        low, high, apart = arb(start), arb(stop), SMALLEST
        with ctx.workprec(128):
            for _ in range(24):  # near 1 its neighbours are doubles 2^-53 apart
                middle = (low + high) / 2
                sides = (low, middle), (middle, high)
                decided = [self._decided(one.union(other), acb(one.union(other))) for one, other in sides]
                if sum(decided) != 1:
                    break
                low, high = sides[decided.index(False)]
            else:
                apart = 0.0
            place = float((low + high) / 2)
            nice = round(place, 10)
            close = self.low < nice < self.high and low - apart <= nice <= high + apart
            return (nice if close else place) + 0.0

    def _require_same(self) -> None:
        """Refuse a function whose values on arrays differ from those on balls."""
        points = np.linspace(self.low, self.high, SAMPLES)[:-1] + OFFSET * (self.high - self.low) / 2
        expected = np.asarray(self.function(points), dtype=float)
        allowed = MISREAD * (self.size + float(np.max(np.abs(expected))))
        for point, value in zip(points.tolist(), expected.tolist(), strict=True):
            interval = self._value(Ball(arb(point, 4e-16 * (1 + abs(point))), None)).interval
            if interval.is_finite() and not (interval + arb(0, allowed)).contains(arb(value)):
                raise ValueError("not the same function")
