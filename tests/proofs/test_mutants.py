"""Proofs with another structure: whatever the checker still accepts must be true by an independent evaluator."""

from __future__ import annotations

import copy
import json
import os
import random
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from functools import cache
from time import process_time
from typing import Any

import pytest
from flint import arb, ctx

from lipverify import Problem
from lipverify.foundation.shipped import shipped
from lipverify.laws import Affine
from lipverify.proofs import checker, prove_falling

# internal: the form of a proof, of which a test changes parts
from lipverify.proofs.checker.kernel import form

# internal: the lemmas of a window, of which a test changes one
from lipverify.proofs.checker.window import windows

# internal: a mutant's constants are rounded outwards, as those of a proof are
from lipverify.proofs.search import rounded
from tests.proofs.controls import committed
from tests.reference import balls, statements

Data = dict[str, Any]
FILES = (
    *("affine-2", "affine-3", "quadratic-3", "cosine-3", "relu-3", "relu-5", "rough-0.75-2", "tradeoff-affine-3"),
    *("tradeoff-relu-3", "rising-affine-8-3", "rising-affine-5-3", "optimum-cosine-4-2-1000-13", "lt-layers"),
    *("lt-cosine", "lt-ridge-2-1-yx", "lt-ridge-5-2-yy", "lt-ridge-1-2-yy", "dimensions-affine"),
    *("dimensions-quadratic", "dimensions-relu"),
)
"""Proofs that are certified in milliseconds; the others have the same kinds."""
PROOFS: dict[str, Data] = {name: committed(name) for name in FILES}
PROOFS["falling"] = prove_falling(Problem(d=2, n=5, law=Affine(), sigma=4.0)).data  # the shipped ones take seconds
MUTANTS = 260
TYPES: tuple[Any, ...] = (True, 2.0, 2.9, None, [], {}, "2", "2.9", "0.5 +/- 0", "1\n", 10**40, "x", -1, "1e300", "0")
RANGES = ("u", "T_least", "W_least", "K", "rho", "at", "low", "high", "end", "w_1", "w_2", "stop")


wrong = cache(statements.wrong)  # many mutants state what their proof stated


class Reads(Mapping[str, Any]):
    """The facts of a lemma, and what it reads of them."""

    def __init__(self, known: Mapping[str, Any]) -> None:
        self.known = known
        self.read: dict[str, str] = {}

    def __getitem__(self, name: str) -> Any:
        self.read[name] = exact(self.known.get(name))
        return self.known[name]

    def __iter__(self) -> Iterator[str]:
        self.read[""] = " ".join(self.known)
        return iter(self.known)

    def __len__(self) -> int:
        return sum(1 for _ in self)


def exact(value: Any) -> str:
    """All bits of a ball; what else a fact may be: a name, a whole number, a piece of a law."""
    return value.repr() if isinstance(value, arb) else repr(value)


class Remembered:
    """Lemmas are certified once: again only if a fact that a lemma reads has another value, to the last bit.

    What a lemma certifies follows from its rule and from what it reads of the facts, and from nothing else. Those that
    are known or quick come first, and none after one that does not follow, because a proof needs them all.
    """

    def __init__(self) -> None:
        self.results: dict[form.Rule, list[tuple[dict[str, str], Any]]] = {}
        self.seconds: defaultdict[form.Rule, float] = defaultdict(float)

    def result(self, rule: form.Rule, known: Mapping[str, Any]) -> Any:
        """Bounds and conditions of a lemma that is known, or None."""
        facts = {**{name: exact(value) for name, value in known.items()}, "": " ".join(known)}
        for read, result in self.results.get(rule, ()):
            if all(facts.get(name, exact(None)) == value for name, value in read.items()):
                return result
        return None

    def run(self, rule: form.Rule, known: Mapping[str, Any]) -> Any:
        """Bounds and conditions of a lemma."""
        found = self.result(rule, known)
        if found is None:
            facts, start = Reads(known), process_time()
            try:
                found = rule(facts)
            except Exception as error:  # as in the checker
                found = error
            self.seconds[rule] = max(self.seconds[rule], process_time() - start)
            self.results.setdefault(rule, []).append((facts.read, found))
        if isinstance(found, Exception):
            raise found
        return found

    def steps(self, kind: form.Kind, proof: form.Proof, known: int = 0) -> Iterator[Any]:
        """Takes the place of `form.steps`."""
        facts, lemmas = {0: kind.given(proof.about)}, list[Any]()
        for i, (lemma, (rule, stage)) in enumerate(zip(proof.lemmas, kind.chain(proof), strict=True)):
            constants = {name: form.ball(value) for name, value in lemma.constants.items()}
            facts.setdefault(stage, {}).update(constants)
            if i >= known:
                lemmas.append((rule, stage, constants, kind.gathered(facts, stage)))
        costs = [0.0 if self.result(rule, facts) else self.seconds[rule] for rule, _, _, facts in lemmas]
        for _, (rule, stage, constants, facts) in sorted(zip(costs, lemmas, strict=True), key=lambda pair: pair[0]):
            step = rule, stage, constants, *self.run(rule, facts)
            yield step
            if any(form.missing(kind, *step)):
                return


PLAIN = Remembered()
"""Shared by all tests that replace `form.steps`."""


def any_proof(rng: random.Random) -> Data:
    return copy.deepcopy(PROOFS[rng.choice(list(PROOFS))])


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


def respell(proof: Data, rng: random.Random) -> Data:
    """Write numbers in other ways, with the same value."""
    for lemma in proof["lemmas"]:
        for name, text in lemma["constants"].items():
            value = Fraction(text)
            over, under = str(value.numerator), str(value.denominator)
            decimal = Decimal(text) if "/" not in text else None
            ways = [text, f"{over}/{under}"] if len(over) <= 40 and len(under) <= 40 else [text]
            ways += [f"{decimal:.39g}"] if decimal is not None else []
            ways += [f"{text}E+0", f"{text}e-000"] if not set("e/E") & set(text) else []
            lemma["constants"][name] = rng.choice(ways)
    return proof


def touch(proof: Data, rng: random.Random) -> Data:
    """Give a range no length, the end of another one, or an end on its other side."""
    lemmas = [
        lemma for lemma in proof["lemmas"] if set(lemma["constants"]) & {*RANGES, "lower", "upper", "k", "m", "C"}
    ]
    lemma = rng.choice(lemmas)
    name, other = rng.choice(sorted(lemma["constants"])), rng.choice(sorted(rng.choice(lemmas)["constants"].items()))
    lemma["constants"][name] = rng.choice((other[1], "0", f"-{lemma['constants'][name]}"))
    return fitted(proof) if rng.random() < 0.5 else proof


WORDS = (
    *("affine", "quadratic", "relu", "cosine:1/2", "cosine:2", "zonal:0,1,0.5", "zonal:5,1e0", "zonal:0,0,1"),
    *("link:0,-1", "link:1,0,2", "kinked:0,1", "kinked:-1,2", "powers:0,1,1/3", "rbf:2", "rbf:1,3", "matern-1.5:1,2"),
    *("matern-2.5:0.5,1", "rough-0.5", "kinks:0|0,-1|0,1", "jumps:0.25|0|1", "jumps:0|0|0", "kinks:0|0,1|0,1"),
)
"""Laws as a proof file has them, some of them of no kind."""


def relaw(proof: Data, rng: random.Random) -> Data:
    """Take another law of any kind, with the lemmas that it needs from other proofs and every bound computed again."""
    proof["law"] = rng.choice(WORDS)
    if proof["theorem"] in windows.THEOREMS:
        proof["theorem"] = rng.choice((proof["theorem"], "envelope", "envelope", "tradeoff"))
    read = checker.read(proof)
    known = {lemma["name"]: lemma for each in (*PROOFS.values(), proof) for lemma in each["lemmas"]}
    stages = {(lemma["name"], lemma["stage"]): lemma for lemma in proof["lemmas"]}
    lemmas = []
    for rule, stage in checker.KINDS[proof["theorem"]].chain(read):
        name, (says, because) = rule.__name__, form.wording(rule)
        constants = stages.get((name, stage), known.get(name, {})).get("constants", {})
        record = {"name": name, "stage": stage, "says": says, "because": because, "constants": constants}
        lemmas.append(copy.deepcopy(record))
    proof["lemmas"] = lemmas
    return fitted(proof)


def refit(proof: Data, rng: random.Random) -> Data:
    """Choose some of the free constants anew, by a little or by much, with every bound computed again."""
    chosen = {name for names in checker.KINDS[proof["theorem"]].chosen.values() for name in names}
    free = [(lemma, name) for lemma in proof["lemmas"] for name in sorted(set(lemma["constants"]) & chosen)]
    for lemma, name in rng.choices(free, k=rng.randint(1, 2)):
        moved = float(lemma["constants"][name]) * (1 + rng.choice((-1, 1)) * 10.0 ** rng.uniform(-5, -0.3))
        lemma["constants"][name] = f"{moved:.12g}"
    return fitted(proof)


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


def values(lemma: Data) -> dict[str, Any]:
    """The constants of a lemma as the checker has them."""
    return {key: form.ball(form.number(text)) for key, text in lemma["constants"].items()}


def fitted(stated: Data) -> Data:
    """The bounds of each lemma that the checker accepts, as far as it proceeds."""
    proof = checker.read(stated)
    kind = checker.KINDS[proof.theorem]
    with ctx.workprec(form.BITS):
        facts: dict[int, dict[str, Any]] = {0: kind.given(proof.about)}
        for lemma, (rule, stage) in zip(stated["lemmas"], kind.chain(proof), strict=False):
            for _ in range(2):  # conditions may be about the bounds
                free = {key: text for key, text in lemma["constants"].items() if key in kind.chosen.get(rule, ())}
                facts.setdefault(stage, {}).update(values(lemma))
                bounds, conditions = PLAIN.run(rule, kind.gathered(facts, stage))
                lemma["constants"] = free | {key: rounded(bound, side) for key, (side, bound) in bounds.items()}
            if not all(conditions.values()):  # no bounds help
                return stated
            facts[stage].update(values(lemma))
    return stated


KINDS: tuple[Callable[[Data, random.Random], Data], ...] = (
    omit, swap, repeat, splice, retitle, about, retype, restate, respell, touch, relaw, refit, remake,
)  # fmt: skip


def mutants(number: int, seed: str, proofs: Sequence[Data]) -> Iterator[tuple[str, Data | None]]:
    """Mutants with the name of their kind, each of one of these proofs; None where there is none of that kind."""
    for i in range(number):
        rng, kind = random.Random(f"{seed}/{i}"), KINDS[i % len(KINDS)]
        original = rng.choice(proofs)
        try:
            mutant = kind(copy.deepcopy(original), rng)
        except (ArithmeticError, LookupError, TypeError, ValueError):
            yield kind.__name__, None
        else:
            yield kind.__name__, None if json.dumps(mutant) == json.dumps(original) else mutant


def counted(
    number: int, seed: str, proofs: Sequence[Data] = tuple(PROOFS.values())
) -> tuple[dict[str, Counter[str]], list[str]]:
    """The number of mutants of each kind that are rejected, accepted and false, and the statements of the last."""
    counts: dict[str, Counter[str]] = {kind.__name__: Counter() for kind in KINDS}
    false, sayings = [], {checker.statement(proof) for proof in proofs}
    for i, (kind, mutant) in enumerate(mutants(number, seed, proofs)):
        if mutant is None:
            counts[kind]["none"] += 1
            continue
        if checker.failures(mutant):
            counts[kind]["rejected"] += 1
            continue
        said = checker.statement(mutant)
        counts[kind]["accepted"] += 1
        assert kind != "respell" or said in sayings, said
        if faults := wrong(said):
            counts[kind]["false"] += 1
            false.append(f"mutant {seed}/{i}, {kind}: {said}: {faults[0]}")
    return counts, false


def table(counts: dict[str, Counter[str]]) -> str:
    """One line for each kind."""
    return "\n".join(
        f"  {kind}: {sum(found.values()) - found['none']} tried, {found['rejected']} rejected, {found['accepted']} "
        f"accepted, {found['false']} false"
        for kind, found in counts.items()
    )


def test_remembered_lemmas_certify_what_lemmas_certify(monkeypatch: pytest.MonkeyPatch) -> None:
    """Twice, so that all are known the second time; with a lemma that reads which facts there are."""
    some = [mutant for _, mutant in mutants(len(KINDS) * 6, "some", tuple(PROOFS.values())) if mutant]
    plain = [not checker.failures(mutant) for mutant in some]
    assert len(set(plain)) == 2
    with monkeypatch.context() as patch:
        patch.setattr(form, "steps", PLAIN.steps)
        assert [not checker.failures(mutant) for mutant in some + some] == plain + plain

    runs = []

    def read(k: form.Known) -> tuple[form.Bounds, form.Conditions]:
        """Reads one fact, that one is missing, and how many there are."""
        runs.append(float(k["x"]))
        return {}, {"read": "y" not in k and len(k) > 0}

    remembered = Remembered()
    third = arb(1) / 3
    for known in ({"x": arb(1)}, {"x": arb(1)}, {"x": third}, {"x": third.mid()}, {"x": third, "z": arb(0)}):
        remembered.run(read, known)
    assert runs == [1, float(third), float(third), float(third)]


def test_accepted_mutants_among_hundreds_are_true() -> None:
    counts, false = counted(MUTANTS, "1")
    assert not false, "\n".join(false)
    assert sum(found["accepted"] for found in counts.values()) > 10, table(counts)
    assert all(found["rejected"] for kind, found in counts.items() if kind != "respell"), table(counts)
    assert not counts["respell"]["rejected"]


@pytest.mark.nightly
def test_accepted_mutants_among_thousands_are_true() -> None:
    seed = int(os.environ.get("LIPVERIFY_SEED", "2"))
    counts, false = counted(30 * int(os.environ.get("LIPVERIFY_ROUNDS", "100")), str(seed))
    print(f"\nseed {seed}: mutants of proofs\n{table(counts)}")
    assert not false, "\n".join(false)


DEAR: dict[str, tuple[int, tuple[str, ...]]] = {
    "blocks": (180, ("lowrank-blocks-3", "lowrank-blocks-3-noise", "lowrank-blocks-5")),
    "subspace": (90, ("lowrank-best-2-1-2",)),
    **{f"every-{law}-{d}": (52, (f"every-{law}-{d}",)) for law in ("affine", "relu") for d in (2, 3, 5)},
}
"""Proofs whose mutants take seconds each, and the number of these; those of many n are spliced with each other."""


@pytest.mark.slow
@pytest.mark.parametrize("name", DEAR)
def test_accepted_mutants_of_dear_proofs_are_true(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Mutants of constants, ranges and structure, as of the other proofs."""
    number, files = DEAR[name]
    if name.startswith("every"):
        monkeypatch.setattr(form, "steps", PLAIN.steps)
        for each in DEAR:
            if each.startswith("every"):
                monkeypatch.setitem(PROOFS, each, committed(each))
    counts, false = counted(number, name, [committed(each) for each in files])
    assert not false, "\n".join(false)
    assert sum(found["accepted"] for found in counts.values()), table(counts)


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
def test_the_evaluator_is_the_reference(d: int, n: int, w: float) -> None:
    """In Arb's arithmetic, by other panels; for n = 2 the reference is compared with the definition itself."""
    with ctx.workprec(110):
        exact = balls.laplace(d, n, w, 12, reach=None)
    for found, value in zip(statements.terms("affine", d, n, w), (exact.noise, exact.affine), strict=False):
        assert found == pytest.approx(float(value), rel=statements.ROUNDING)


SHIPPED = sorted(path.stem for path in (shipped() / "proofs").glob("*.json"))
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
    assert statements.wrong(checker.statement(committed(name))) == []


@pytest.mark.slow
@pytest.mark.parametrize(("name", "bounds"), SHARP.items())
def test_the_evaluator_finds_bounds_one_per_cent_closer_false(name: str, bounds: str) -> None:
    """Theorems with less slack than that; the bounds of w* have more."""
    said = checker.statement(committed(name))
    closer = statements.closer(said, NEAR)
    found = {what.partition(" ")[2] for what, control in closer.items() if any(statements.faults(control))}
    assert set(bounds.split(", ")) <= found
