"""Proofs with another structure: whatever the checker still accepts must be true by an independent evaluator."""

from __future__ import annotations

import copy
import json
import os
import random
from collections import Counter
from collections.abc import Callable, Iterable
from functools import cache
from typing import Any

import mpmath
import pytest
from flint import arb, ctx

from lipverify import Problem
from lipverify.foundation.shipped import shipped
from lipverify.laws import Affine
from lipverify.proofs import checker, prove_falling
from lipverify.proofs.checker import chain

# internal: a mutant's constants are rounded outwards, as those of a proof are
from lipverify.proofs.search import rounded
from tests.reference import oracle, statements

Data = dict[str, Any]
FILES = (
    *("affine-2", "affine-3", "quadratic-3", "cosine-3", "relu-3", "relu-5", "rough-0.75-2", "tradeoff-affine-3"),
    *("tradeoff-relu-3", "rising-affine-8-3", "rising-affine-5-3", "optimum-cosine-4-2-1000-13", "lt-layers"),
    *("lt-cosine", "lt-ridge-2-1-yx", "lt-ridge-5-2-yy", "lt-ridge-1-2-yy", "dimensions-affine"),
    *("dimensions-quadratic", "dimensions-relu"),
)
"""Proofs that are certified in milliseconds; the others have the same kinds."""
PROOFS: dict[str, Data] = {
    name: json.loads((shipped() / "proofs" / f"{name}.json").read_text(encoding="utf-8")) for name in FILES
}
PROOFS["falling"] = prove_falling(Problem(d=2, n=5, law=Affine(), sigma=4.0)).data  # the shipped ones take seconds
MUTANTS = 500
TYPES: tuple[Any, ...] = (True, 2.0, 2.9, None, [], {}, "2", "2.9", "0.5 +/- 0", "1\n", 10**40, "x", -1, "1e300", "0")
RANGES = ("u", "T_least", "W_least", "K", "rho", "at", "low", "high", "end", "w_1", "w_2", "stop")


wrong = cache(statements.wrong)  # many mutants state what their proof stated


def any_proof(rng: random.Random) -> Data:
    return copy.deepcopy(PROOFS[rng.choice((*FILES, "falling"))])


def renumbered(proof: Data, stages: list[list[Data]]) -> Data:
    """The proof with these lemmas of stages, numbered from 1 on."""
    lemmas = proof["lemmas"]
    first = next((i for i, lemma in enumerate(lemmas) if lemma["stage"]), len(lemmas))
    tail = [lemma for lemma in lemmas[first:] if not lemma["stage"]]
    inner = [{**lemma, "stage": i} for i, stage in enumerate(stages, 1) for lemma in stage]
    return {**proof, "lemmas": lemmas[:first] + inner + tail}


def stages_of(proof: Data) -> list[list[Data]]:
    numbers = sorted({lemma["stage"] for lemma in proof["lemmas"]} - {0})
    return [[lemma for lemma in proof["lemmas"] if lemma["stage"] == number] for number in numbers]


def omit(proof: Data, rng: random.Random) -> Data:
    """Remove a lemma, a stage, or everything after the stages."""
    lemmas, stages = proof["lemmas"], stages_of(proof)
    way = rng.choice(("lemma", "stage", "tail"))
    if way == "stage" and stages:
        return renumbered(proof, [each for each in stages if each is not rng.choice(stages)])
    if way == "tail":
        return {**proof, "lemmas": lemmas[: rng.randrange(len(lemmas))]}
    return {**proof, "lemmas": [each for each in lemmas if each is not rng.choice(lemmas)]}


def swap(proof: Data, rng: random.Random) -> Data:
    """Swap two lemmas or two stages, or their constants."""
    stages, lemmas = stages_of(proof), proof["lemmas"]
    if len(stages) > 1 and rng.random() < 0.5:
        rng.shuffle(stages)
        return renumbered(proof, stages)
    i, j = rng.randrange(len(lemmas)), rng.randrange(len(lemmas))
    if rng.random() < 0.5:
        lemmas[i], lemmas[j] = lemmas[j], lemmas[i]
    else:
        lemmas[i]["constants"], lemmas[j]["constants"] = lemmas[j]["constants"], lemmas[i]["constants"]
    return proof


def repeat(proof: Data, rng: random.Random) -> Data:
    """Repeat a lemma or a stage."""
    stages, lemmas = stages_of(proof), proof["lemmas"]
    if stages and rng.random() < 0.7:
        stages.insert(rng.randrange(len(stages) + 1), rng.choice(stages))
        return renumbered(proof, stages)
    lemmas.insert(rng.randrange(len(lemmas) + 1), rng.choice(lemmas))
    return proof


def splice(proof: Data, rng: random.Random) -> Data:
    """Take stages, lemmas or constants of another proof, of the same law and dimension if there is one."""
    alike = [each for each in PROOFS.values() if (each.get("law"), each.get("d")) == (proof.get("law"), proof.get("d"))]
    other = copy.deepcopy(rng.choice(alike)) if rng.random() < 0.7 else any_proof(rng)
    way = rng.choice(("stages", "lemma", "head", "tail"))
    if way == "stages":
        both = stages_of(proof) + stages_of(other)
        return renumbered(proof, rng.sample(both, rng.randint(0, len(both))))
    if way == "lemma":
        proof["lemmas"][rng.randrange(len(proof["lemmas"]))] = rng.choice(other["lemmas"])
        return proof
    cut = rng.randrange(len(proof["lemmas"]) + 1)
    one, two = (proof, other) if way == "head" else (other, proof)
    return {**proof, "lemmas": one["lemmas"][:cut] + two["lemmas"][cut:]}


def retitle(proof: Data, rng: random.Random) -> Data:
    """Take another theorem, with its lemmas in place of the others, for one stage or for all."""
    proof["theorem"] = rng.choice(sorted(checker.KINDS))
    stages = stages_of(proof)
    if stages and rng.random() < 0.7:
        tail = [each for each in any_proof(rng)["lemmas"] if each["name"] == proof["theorem"]]
        kept = renumbered(proof, [rng.choice(stages)] if rng.random() < 0.7 else stages)["lemmas"]
        names = {"window": ("window", "limit"), "transfer": ("window", "limit")}.get(proof["theorem"], ())
        inner = [each for each in kept if each["stage"] or each["name"] not in ("window", "limit", "tradeoff")]
        proof["lemmas"] = inner + [each for each in kept if each["name"] in names] + tail
    return proof


def about(proof: Data, rng: random.Random) -> Data:
    """Take another law, another dimension, or other given data."""
    if "given" not in proof or not proof["given"]:
        other = any_proof(rng)
        key = rng.choice(("law", "d"))
        proof[key] = rng.choice((other.get(key, 3), 2, 3, 4, "affine", "relu", "link:0,1", "zonal:0,1,0.5"))
        return proof
    name = rng.choice(sorted(proof["given"]))
    others = [each["given"][name] for each in PROOFS.values() if name in each.get("given", {})]
    proof["given"][name] = rng.choice((*others, *TYPES))
    return proof


def retype(proof: Data, rng: random.Random) -> Data:
    """Give a value another type or form, or add or remove a key."""
    place: Any = proof
    while True:
        keys = list(range(len(place))) if isinstance(place, list) else sorted(place)
        if not keys:
            return proof
        key = rng.choice(keys)
        if isinstance(place[key], dict | list) and rng.random() < 0.9:
            place = place[key]
            continue
        way = rng.random()
        if way < 0.1 and isinstance(place, dict):
            place["more"] = place[key]
        elif way < 0.2:
            del place[key]
        else:
            place[key] = rng.choice(TYPES)
        return proof


def restate(proof: Data, rng: random.Random) -> Data:
    """Move constants by a little or by much, in either direction, or write them in another form."""
    for _ in range(rng.randint(1, 3)):
        constants = rng.choice(proof["lemmas"])["constants"]
        if constants:
            name = rng.choice(sorted(constants))
            share = rng.choice((-1, 1)) * 10.0 ** rng.randint(-9, 0)
            constants[name] = rng.choice((f"{float(constants[name]) * (1 + share):.12g}", f"{constants[name]}e0"))
    return proof


def remake(proof: Data, rng: random.Random) -> Data:
    """Take another range, theorem, law or structure, with every bound computed again by the checker's own lemmas."""
    for _ in range(rng.randint(1, 2)):
        proof = rng.choice((omit, swap, repeat, splice, retitle, about))(proof, rng)
    for lemma in proof["lemmas"]:
        for name in set(lemma["constants"]) & set(RANGES):
            if rng.random() < 0.2:
                moved = float(lemma["constants"][name]) * rng.choice((0.5, 0.9, 1.1, 2, 10))
                lemma["constants"][name] = f"{moved:.12g}"
    return fitted(proof)


def fitted(stated: Data) -> Data:
    """The bounds of each lemma that the checker accepts, as far as it proceeds."""
    proof = checker.read(stated)
    kind = checker.KINDS[proof.theorem]
    with ctx.workprec(chain.BITS):
        facts: dict[int, dict[str, Any]] = {0: kind.given(proof.about)}
        for lemma, (rule, stage) in zip(stated["lemmas"], kind.chain(proof), strict=False):
            free = {key: text for key, text in lemma["constants"].items() if key in kind.chosen.get(rule, ())}
            known = {key: arb(text) for key, text in lemma["constants"].items()}
            bounds, _ = rule({**kind.gathered({**facts, stage: {**facts.get(stage, {}), **known}}, stage)})
            lemma["constants"] = free | {key: rounded(bound, side) for key, (side, bound) in bounds.items()}
            facts.setdefault(stage, {}).update({key: arb(text) for key, text in lemma["constants"].items()})
    return stated


KINDS: tuple[Callable[[Data, random.Random], Data], ...] = (
    omit, swap, repeat, splice, retitle, about, retype, restate, remake,
)  # fmt: skip


def counted(number: int, seed: int) -> tuple[dict[str, Counter[str]], list[str]]:
    """The number of mutants of each kind that are rejected, accepted and false, and the statements of the last."""
    counts: dict[str, Counter[str]] = {kind.__name__: Counter() for kind in KINDS}
    false = []
    for i in range(number):
        rng, kind = random.Random(f"{seed}/{i}"), KINDS[i % len(KINDS)]
        try:
            original = any_proof(rng)
            mutant = kind(copy.deepcopy(original), rng)
        except (ArithmeticError, LookupError, TypeError, ValueError):  # no such mutant exists for this proof
            counts[kind.__name__]["none"] += 1
            continue
        if mutant == original:
            counts[kind.__name__]["none"] += 1
            continue
        if checker.failures(mutant):
            counts[kind.__name__]["rejected"] += 1
            continue
        said = checker.statement(mutant)
        counts[kind.__name__]["accepted"] += 1
        if faults := wrong(said):
            counts[kind.__name__]["false"] += 1
            false.append(f"mutant {seed}/{i}, {kind.__name__}: {said}: {faults[0]}")
    return counts, false


def accepted_mutants(name: str, proofs: Iterable[Data]) -> int:
    """The number of accepted mutants, one of each proof, all of which the evaluator finds true."""
    accepted = 0
    for i, proof in enumerate(proofs):
        rng, kind = random.Random(f"{name}/{i}"), KINDS[i % len(KINDS)]
        try:
            mutant = kind(copy.deepcopy(proof), rng)
        except (ArithmeticError, LookupError, TypeError, ValueError):
            continue
        if json.dumps(mutant) != json.dumps(proof) and not checker.failures(mutant):
            accepted += 1
            assert statements.wrong(checker.statement(mutant)) == [], (i, kind.__name__)
    print(f"{name}: {accepted} mutants accepted, none of them false")
    return accepted


def table(counts: dict[str, Counter[str]]) -> str:
    """One line for each kind."""
    return "\n".join(
        f"  {kind}: {sum(found.values()) - found['none']} tried, {found['rejected']} rejected, {found['accepted']} "
        f"accepted, {found['false']} false"
        for kind, found in counts.items()
    )


def test_accepted_mutants_among_three_hundred_are_true() -> None:
    counts, false = counted(MUTANTS, 1)
    assert not false, "\n".join(false)
    assert sum(found["accepted"] for found in counts.values()) > 10, table(counts)
    assert all(found["rejected"] for found in counts.values()), table(counts)


@pytest.mark.nightly
def test_accepted_mutants_among_thousands_are_true() -> None:
    seed = int(os.environ.get("LIPVERIFY_SEED", "2"))
    counts, false = counted(30 * int(os.environ.get("LIPVERIFY_ROUNDS", "100")), seed)
    print(f"\nseed {seed}: mutants of proofs\n{table(counts)}")
    assert not false, "\n".join(false)


@pytest.mark.parametrize("name", PROOFS)
def test_the_evaluator_finds_proved_statements_true(name: str) -> None:
    assert wrong(checker.statement(PROOFS[name])) == []


SHARE = 0.03
"""The share by which a printed number is moved to become false; the width of the bounds is about that."""


@pytest.mark.parametrize("name", ["affine-3", "tradeoff-affine-3", "rising-affine-8-3", "lt-cosine", "lt-ridge-2-1-yx"])
def test_the_evaluator_finds_false_statements_false(name: str) -> None:
    """The power of the evaluator: each bound of the statement moved inwards is detected."""
    control = copy.deepcopy(PROOFS[name])
    moved = {
        "window": {"low": 1.1, "high": 0.9, "loss_low": 1 + SHARE, "loss_high": 1 - SHARE},
        "tradeoff": {"rise_low": 1 + SHARE, "rise_high": 1 - SHARE, "fall_low": 1 + SHARE, "fall_high": 1 - SHARE},
        "rising": {"slope_low": 1 + SHARE},
        "remainder": {"offset": 1 - SHARE},
        "attained": {"low": 1 + SHARE},
        "rate": {"K": 0.5},
    }
    tried = 0
    for lemma in control["lemmas"]:
        for key, factor in moved.get(lemma["name"], {}).items():
            kept = lemma["constants"][key]
            lemma["constants"][key] = f"{float(kept) * factor:.12g}"
            assert any(statements.faults(checker.statement(control))), key
            lemma["constants"][key] = kept
            tried += 1
    assert tried


def test_the_evaluator_finds_the_envelope_false_that_was_accepted() -> None:
    """The u of the first stage with the constants of the last."""
    said = (
        "relu, d = 5: 0.16 <= n N / (sigma^2 w^2) <= 0.166739 and 1e-9 <= w^1.5 B / L^2 <= 1e9 + 0 w^2.5 / n, for all "
        "w >= 1368.06 and all n >= 1000000 w^2"
    )
    assert "0.16684" in statements.wrong(said)[0]
    assert statements.wrong(said.replace("0.166739", "0.16685")) == []


@pytest.mark.parametrize(("d", "n", "w"), [(2, 2, 3.0), (3, 5, 2.0), (5, 40, 6.0)])
def test_the_evaluator_is_the_oracle_s(d: int, n: int, w: float) -> None:
    """Both are written from the definition; the oracle integrates in mpmath."""
    with mpmath.workdps(30):
        exact = oracle.laplace(d, n, mpmath.mpf(w), order=12)
    for found, value in zip(statements.terms("affine", d, n, w), exact, strict=False):
        assert found == pytest.approx(float(value), rel=statements.ROUNDING)


LARGE = {"relu-6", "relu-7", "relu-8"}
"""Their windows need more harmonics than memory holds."""
SHIPPED = sorted({path.stem for path in (shipped() / "proofs").glob("*.json")} - LARGE)
NEAR = 0.01
"""The share by which one bound of a statement is moved inwards."""
SHARP = {
    **{f"affine-{d}": "loss_low, loss_high" for d in range(2, 9)},
    **{f"quadratic-{d}": "loss_low, loss_high" for d in (2, 3, 5)},
    **{f"cosine-{d}": "loss_low, loss_high" for d in (2, 3, 5)},
    **{f"relu-{d}": "loss_high" for d in (2, 3, 4, 5)},
    **{f"clip-{d}": "loss_high" for d in (2, 3, 5)},
    **{f"step-{d}": "loss_low, loss_high" for d in (2, 3, 5)},
    "beside-2": "loss_low, loss_high",
    "dimensions-affine": "low, high, loss_low, loss_high",
    "dimensions-quadratic": "loss_low, loss_high",
    "dimensions-relu": "loss_low, loss_high",
    "covariance-space": "low, high",
    "lt-cosine": "offset, low",
    **{f"rising-affine-{d}-3": "slope 1" for d in (2, 3, 5, 8)},
    "tradeoff-affine-2": "rise_low, rise_high",
    "tradeoff-affine-3": "rise_low, rise_high, fall_high",
    **{f"tradeoff-affine-{d}": "rise_low, rise_high, fall_low, fall_high" for d in (5, 8)},
}
"""Bounds with less slack than `NEAR`."""


@pytest.mark.slow
@pytest.mark.parametrize("name", SHIPPED)
def test_the_evaluator_finds_every_shipped_proof_true_at_its_border_and_inside(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(statements, "INSIDE", (1.0, 10.0))
    proof = json.loads((shipped() / "proofs" / f"{name}.json").read_text(encoding="utf-8"))
    assert statements.wrong(checker.statement(proof)) == []


@pytest.mark.slow
@pytest.mark.parametrize(("name", "bounds"), SHARP.items())
def test_the_evaluator_finds_bounds_one_per_cent_closer_false(name: str, bounds: str) -> None:
    """Theorems with less slack than that; the bounds of w* have more."""
    said = checker.statement(json.loads((shipped() / "proofs" / f"{name}.json").read_text(encoding="utf-8")))
    closer = statements.closer(said, NEAR)
    found = {what.partition(" ")[2] for what, control in closer.items() if any(statements.faults(control))}
    assert set(bounds.split(", ")) <= found
