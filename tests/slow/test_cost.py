"""Exact losses of random user-defined links: an expensive one is announced, and estimates are about right."""

from __future__ import annotations

import json
import os
import resource
import sys
import time
import warnings
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from lipverify import Problem, budget, loss_cost, loss_terms
from lipverify.errors import OutOfReach
from lipverify.laws import Ridge
from lipverify.loss.work import GIB  # internal: the unit of the estimated memory
from tests.slow.rounds import ROUNDS, SEED, dice

pytestmark = pytest.mark.nightly
SECONDS, MEMORY = 20.0, 1.0
"""The budget of each loss."""
ROOM = 0.5
"""GiB that a process may use beyond its budget: Python, NumPy, and uncounted copies."""
LATE = 3.0
"""Processor seconds within which a loss is refused, or its cost estimated."""
Link = Callable[[Any], Any]


def drawn(number: int) -> tuple[str, Problem, float]:
    """A problem with a random link: kinks, roots, jumps, bumps, and their sums; most of them declared."""
    rng = np.random.default_rng([SEED, number])
    d = int(rng.choice([2, 3, 4, 5, 8, 10, 15, 20, 30]))
    n, w = float(round(10 ** rng.uniform(0, 9))), float(10 ** rng.uniform(-13, 6))
    at = np.sort(rng.uniform(-0.95, 0.95, int(rng.integers(1, 5))))
    heights, power = rng.normal(size=at.size), float(rng.choice([0.3, 0.5, 0.7, 1.5]))
    scale, wave = float(10 ** rng.uniform(-3, 0)), float(rng.uniform(0, 6))

    def kinks(z: Any) -> Any:
        return sum(height * abs(z - each) for height, each in zip(heights, at, strict=True)) + np.sin(wave * z)

    def roots(z: Any) -> Any:
        return sum(height * abs(z - each) ** power for height, each in zip(heights[:2], at[:2], strict=True))

    def jumps(z: Any) -> Any:
        return sum(height * np.sign(z - each) for height, each in zip(heights, at, strict=True)) + np.cos(wave * z)

    def bump(z: Any) -> Any:
        return heights[0] * np.exp(-(((z - at[0]) / scale) ** 2)) + np.sin(wave * z)

    def mixed(z: Any) -> Any:
        return heights[0] * abs(z - at[0]) + heights[-1] * abs(z - at[-1]) ** power + np.exp(-((z - at[0]) ** 2))

    links: tuple[Link, ...] = (kinks, roots, jumps, bump, mixed)
    link, declared = links[int(rng.integers(len(links)))], rng.random() < 0.7
    places = {"kinks": tuple(at), "roots": tuple(at[:2]), "mixed": (*{at[0], at[-1]},)}
    law = Ridge(
        link,
        kinks=places.get(link.__name__, ()) if declared else (),
        jumps=tuple(at) if declared and link is jumps else (),
    )
    return link.__name__, Problem(d=d, n=n, law=law, sigma=1.0), w


def tried(number: int) -> dict[str, Any]:
    """The outcome of the loss of one problem, in its own process."""
    name, problem, w = drawn(number)
    found: dict[str, Any] = {"number": number, "link": name, "where": f"d = {problem.d}, n = {problem.n:g}, w = {w:g}"}
    begun, used = time.process_time(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    cost = loss_cost(problem, w)
    found |= {"estimate": cost.seconds, "memory": cost.memory, "asked": time.process_time() - begun}
    calls: list[tuple[int, int]] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        begun = time.process_time()
        with budget(SECONDS, MEMORY, lambda done, expected: calls.append((done, expected))) as meter:
            try:
                loss_terms(problem, w)
                found["outcome"] = "computed"
            except OutOfReach as refusal:
                found |= {"outcome": "stopped" if "stopped after" in str(refusal) else "refused", "said": str(refusal)}
    found |= {"took": time.process_time() - begun, "counted": meter.done, "calls": len(calls)}
    found["grew"] = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - used) * 1024 / GIB
    found["warned"] = [f"{each.category.__name__}: {each.message}" for each in caught]
    return found


def alone(number: int) -> dict[str, Any]:
    """`tried` in a child process, so that its memory and tables disappear with it."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(read)
        try:
            text = json.dumps(tried(number), default=float)
        except BaseException as error:
            text = json.dumps({"number": number, "outcome": f"{type(error).__name__}: {error}"})
        with os.fdopen(write, "w") as out:
            out.write(text)
        os._exit(0)
    os.close(write)
    with os.fdopen(read) as said:
        text = said.read()
    os.waitpid(child, 0)
    return dict(json.loads(text))


def complaints(found: dict[str, Any]) -> list[str]:
    """The fault of one outcome, if there is one."""
    if found["outcome"] not in ("computed", "refused", "stopped"):
        return [found["outcome"]]
    wrong = [f"warned: {each}" for each in found["warned"]]
    if found["grew"] > MEMORY + ROOM:
        wrong.append(f"took {found['grew']:.2g} GiB")
    if found["asked"] > LATE:
        wrong.append(f"the estimate took {found['asked']:.2g} s")
    if found["outcome"] == "stopped":
        wrong.append(f"estimated {found['estimate']:.2g} s: {found['said']}")
    if found["outcome"] == "refused" and found["took"] > max(LATE, SECONDS):
        wrong.append(f"refused after {found['took']:.2g} s")
    if found["outcome"] == "computed" and found["counted"] > 2.0 and not found["calls"]:
        wrong.append(f"{found['counted']:.2g} s without progress")
    return wrong


def test_random_links() -> None:
    """Each problem in its own process, with a budget of 20 s and 1 GiB."""
    import lipverify.loss.exact

    assert lipverify.loss.exact  # modules that a child would otherwise import again
    loss_terms(Problem(d=3, n=10.0, law=Ridge(np.sign, jumps=(0.0,))), 1.0)
    first = dice("cost").randrange(10**6)
    every = [alone(first + k) for k in range(3 * ROUNDS)]
    failed = {found["number"]: wrong for found in every if (wrong := complaints(found))}
    outcomes = Counter(found["outcome"] for found in every)
    long = sorted((found["took"] / found["estimate"], found["number"]) for found in every if found.get("took", 0) > 2)
    middle = f"{long[len(long) // 2][0]:.2g}" if long else "none"
    print(f"\n  cost of random links: {len(every)} tried, {len(failed)} failed, {dict(outcomes)}", file=sys.stderr)
    print(f"  of {len(long)} that took more than 2 s: taken over estimated {middle} (median),", file=sys.stderr)
    print(f"  {long[-1][0] if long else 0:.2g} at most", file=sys.stderr)
    assert not failed, failed
