"""Exports to Coq: which proofs compile, which are refused, and whether the assumed facts are true."""

from __future__ import annotations

import copy
import json
import math
import re
import shutil
import subprocess
from collections.abc import Callable
from fnmatch import fnmatchcase
from fractions import Fraction
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from flint import arb
from numpy.polynomial import Chebyshev
from scipy.integrate import quad
from scipy.stats import norm

from lipverify import Problem, loss_terms
from lipverify.claims.plan import select_claims
from lipverify.cli import main, prove  # internal: the argument parser of one command, without a process
from lipverify.errors import OutOfReach
from lipverify.foundation.shipped import shipped
from lipverify.laws import Affine, Cosine, Matern, ReLU
from lipverify.linear_transformer import published

# internal: the text that Coq compiles, lemma by lemma
from lipverify.proofs import (
    checker,  # internal: the sentence that the checker prints
    coq,
    prove_transfer,
    prove_window,
)

# internal: the checker's facts about a law are what the hypotheses and proofs of Coq have to state
from lipverify.proofs.checker import laws
from lipverify.proofs.checker.chain import ball  # internal: a rational as a ball, compared with a bound

# internal: the bounds of a smooth law, which an export states again
from lipverify.proofs.checker.harmonics import smooth

# internal: the integrals of the lemma about a kink, which an export has in closed form
from lipverify.proofs.checker.kink import gaussian_integrals

# internal: how many degrees are listed
from lipverify.proofs.checker.optima import LISTED

# internal: constants by their names in Coq, sums of a law, groups of d
from lipverify.proofs.coq import dimensions, ramp, windows
from lipverify.proofs.coq.problems import places  # internal: where the tables of an export are taken
from lipverify.proofs.coq.text import HYPOTHESES  # internal: the facts that are assumed
from tests import ROOT
from tests.reference import statements

Data = dict[str, Any]
DEFINED = re.compile(r"^(?:Definition|Lemma|Theorem|Record|Inductive|Fixpoint|Ltac) ([\w']+)", re.MULTILINE)
"""The names that a file of Coq defines."""
WITH_COQ = pytest.mark.skipif(shutil.which("coqc") is None, reason="no coqc: Coq and its library Interval")
EXPORTED = (
    *("affine-3", "quadratic-2", "cosine-2", "tradeoff-affine-3", "transfer-affine-3-3", "affine-8"),
    *("relu-3", "relu-2", "relu-8", "tradeoff-relu-3", "transfer-relu-3-3"),
    *("clip-3", "beside-2", "step-2", "rough-0.5-3", "matern-2.5-3"),
)
EVERY = ("dimensions-affine", "dimensions-quadratic", "dimensions-relu")
PROBLEMS = ("optimum-cosine-3-2-1000-13", "optimum-cosine-4-2-1000-13", "rising-affine-3-3", "falling-relu-3-1000")
TRANSFORMERS = ("lt-cosine", "lt-ridge-1-1-yx", "lt-ridge-2-2-yy")
MUTATED = {
    "affine-3": (
        *("S1_low", "J2", "g_low", "Z_high", "H_3/2", "M", "c_high", "s"),
        *("low", "high", "loss_low", "limit_high"),
    ),
    "cosine-2": ("S0_high", "S1_low", "S2"),
    "tradeoff-affine-3": ("rise_low", "rise_high", "fall_low", "fall_high"),
    "transfer-affine-3-3": ("worse_low", "worse_high"),
    "relu-3": ("far", "G_low", "b_low", "b_plus", "low", "high", "loss_high", "limit_low"),
    "tradeoff-relu-3": ("H_3/2", "G_high", "G_mean", "b_high", "b_next", "s", "fall_low", "fall_high"),
    "clip-3": ("A_low", "c3_high", "c5_low", "one3_low", "two4_high", "b_low", "b_plus", "b_high", "b_next", "s"),
    "rough-0.5-3": ("one1_high", "two1_low", "low", "high", "loss_high", "limit_low"),
    "step-2": ("c1_low", "c2_high", "c3_low"),
    "dimensions-affine": ("J1", "tau", "tau_3", "low", "high", "loss_low", "loss_high", "over"),
    "dimensions-quadratic": ("low", "high", "loss_low", "loss_high"),
    "dimensions-relu": ("J0", "J2", "tau", "tau_3", "over", "low", "high", "loss_low", "loss_high"),
    "lt-cosine": ("C", "offset", "low"),
    "lt-ridge-1-1-yx": ("Q", "R", "K"),
    "lt-ridge-2-2-yy": ("Q",),
}
FALLS = (
    {"far": 1, "G_low": 1, "b_low": 1, "b_plus": 1, "limit_low": 1}
    | {
        "S1_low": 1,
        "g_low": 1,
        "low": 1,
        "loss_low": 1,
        "rise_low": 1,
        "fall_low": 1,
        "worse_low": 1,
    }
    | {"A_low": 1, "c1_low": 1, "c3_low": 1, "c5_low": 1, "one3_low": 1, "two1_low": 1}
)
"""The direction in which a constant becomes false, if it is not -1 per cent."""


def proof(name: str) -> Data:
    if name.startswith("transfer"):
        law = Affine() if "affine" in name else ReLU()
        return prove_transfer(prove_window(law, d=3), ratio=float(name.rpartition("-")[2])).data
    if name == "matern-2.5-3":
        return prove_window(Matern(nu=2.5), d=3).data
    return json.loads((shipped() / "proofs" / f"{name}.json").read_text(encoding="utf-8"))


@cache
def exported(name: str) -> str:
    """The Coq module of a proof."""
    return coq.modules([proof(name)])


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the compiled libraries."""
    folder = tmp_path_factory.mktemp("coq")
    (folder / "attention.v").write_text(coq.library("attention"), encoding="utf-8")
    for name, needs in {"dimensions": "attention", "ramp": "attention dimensions"}.items():
        text = coq.library(name).replace("\nOpen Scope", f"\nRequire Import {needs}.\nOpen Scope", 1)
        (folder / f"{name}.v").write_text(text, encoding="utf-8")
    (folder / "curves.v").write_text(coq.library("curves"), encoding="utf-8")
    for name in ("attention", "dimensions", "ramp", "curves"):
        subprocess.run(["coqc", "-q", f"{name}.v"], cwd=folder, check=True, capture_output=True)
    return folder


def refusal(text: str, library: Path) -> str | None:
    """The errors of coqc for the part of an export on attention that follows the library."""
    head = coq.library("attention").partition("Definition")[0]
    return coq.refusal(
        f"{head}Import ListNotations.\nRequire Import attention dimensions ramp curves.\n{text}", library
    )


def test_no_library_gives_a_name_of_an_export_another_meaning() -> None:
    """With both libraries in one file the bounds of a law by its variogram were once lemmas on dimensions."""
    names = {name: set(DEFINED.findall(coq.library(name))) for name in ("attention", "dimensions", "ramp")}
    shared = names["attention"] & (names["dimensions"] | names["ramp"])
    used = {word for name in EXPORTED for word in re.findall(r"\w+", coq.module(proof(name))[1])}
    assert not shared & used


@pytest.mark.parametrize("kind", coq.EXPORTS)
def test_the_libraries_of_an_export_define_each_name_once(kind: str) -> None:
    """They are one file. Two lemmas of one name once made Coq reject every file about every dimension."""
    whole = "".join(coq.library(name) for name in coq.EXPORTS[kind].libraries if name not in coq.WHOLE)
    names = DEFINED.findall(whole)
    assert len(names) > 10
    assert not {name for name in names if names.count(name) > 1}


@pytest.mark.parametrize("name", [*EXPORTED, *EVERY])
def test_no_interval_is_enclosed_by_machine_floats(name: str) -> None:
    """Without a precision `interval` uses the machine's floats, whose rules are axioms, and no file is written."""
    kind = coq.EXPORTS[proof(name)["theorem"]]
    text = "".join(map(coq.library, kind.libraries)) + coq.modules([proof(name)])
    text = re.sub(r"\(\*.*?\*\)", "", text, flags=re.DOTALL)
    assert re.search(r"\binterval with \(i_prec", text)
    assert not re.search(r"\binterval\b(?! with \()|\b(?:interval|integral) with \((?![^)]*i_prec)", text)


@WITH_COQ
@pytest.mark.slow
@pytest.mark.parametrize("name", [*EXPORTED, *EVERY, *PROBLEMS])
def test_exports_compile(name: str, library: Path) -> None:
    assert refusal(coq.modules([proof(name)]), library) is None


@WITH_COQ
@pytest.mark.slow
def test_an_optimum_beside_zero_or_before_stop_compiles(library: Path) -> None:
    """On one side no w is left to exclude, so that there is no table of it."""
    data = proof("optimum-cosine-4-2-1000-13")
    data |= {"theorem": "optimum", "lemmas": [lemma for lemma in data["lemmas"] if lemma["name"] != "origin"]}
    assert checker.failures(data) == []
    until = copy.deepcopy(data)
    k = {lemma["name"]: lemma["constants"] for lemma in until["lemmas"]}
    k["beyond"]["stop"] = k["between"]["high"] = "4.5"
    assert checker.failures(until) == []
    for each, tables in ((data, 1), (until, 0)):
        text = coq.modules([each])
        assert text.count("_known : tables") == tables
        assert refusal(text, library) is None


@WITH_COQ
@pytest.mark.slow
def test_several_theorems_compile_in_one_file() -> None:
    """One of them is given twice, from all libraries."""
    names = (EXPORTED[0], *TRANSFORMERS, EXPORTED[0])
    assert coq.refusal(coq.exported([proof(name) for name in names], coq.WHOLE)) is None


@WITH_COQ
@pytest.mark.slow
@pytest.mark.parametrize(("name", "constant"), [(name, each) for name, some in MUTATED.items() for each in some])
def test_an_export_with_another_constant_does_not_compile(name: str, constant: str, library: Path) -> None:
    mutant = copy.deepcopy(proof(name))
    found = [each["constants"] for each in mutant["lemmas"] if constant in each["constants"]]
    constants = found[0 if constant == "far" else -1]  # the bias before the first u alone is used
    value = float(constants[constant])
    if name in EVERY:  # these theorems leave less room than one per cent
        moved = 1e-3 if name == "dimensions-relu" else 1e-4
        constants[constant] = f"{value * (1 + FALLS.get(constant, -1) * moved):.12g}"
    else:
        constants[constant] = f"{value + FALLS.get(constant, -1) * 0.01 * max(abs(value), 0.01):.12g}"
    whole = "attention" not in coq.EXPORTS[mutant["theorem"]].libraries
    against = coq.refusal(coq.exported([mutant])) if whole else refusal(coq.modules([mutant]), library)
    assert against is not None
    lemma, _, why = against.partition(": ")
    assert f"Lemma {lemma} " in coq.modules([mutant])
    assert re.search("No applicable tactic|Numerical evaluation failed|parameters|Tactic failure|find", why), why


STATED = {
    "as it is": ("W_least <= W", "W_least <= W"),
    "fewer tokens": ("K * Rpower W (a + 1) <= INR n", "K * Rpower W a <= INR n"),
    "smaller Lambda": ("W_least <= W ->", ""),
    "another scale": ("(1 / (a + 2)) in", "(1 / (a + 1)) in"),
    "lines exchanged": ("low * W < w < high * W", "high * W < w < low * W"),
    "a line moved": ("low * W < w < high * W", "middle * W < w < high * W"),
    "bounds of the loss exchanged": ("loss_low <= loss N B L sigma n w", "loss_high <= loss N B L sigma n w"),
    "no Jensen": ("Hypothesis jensen : Jensen_noise d N.", ""),
    "no Laplace": ("Hypothesis laplace_b : Laplace_bias d B V S0 S1.", ""),
    "Jensen with another sum": ("Jensen_bias d B S1 S2x", "Jensen_bias d B S1 S1"),
    "another sphere": ("Moment_limit d a c", "Moment_limit (d + 1) a c"),
    "another mean": ("Hypothesis mean : Mean E.", ""),
}
"""Theorems and facts that differ from the exported ones."""


OF_RELU = {
    "as it is": ("W_least <= W", "W_least <= W"),
    "fewer tokens": ("K * Rpower W (a + 1 / 2) <= INR n", "K * Rpower W a <= INR n"),
    "the scale of a smooth law": ("(1 / (a + (3 / 2))) in", "(1 / (a + 2)) in"),
    "no stage before": ("Lemma left_of_next n", "Lemma left_of_other n"),
    "no norm": ("Hypothesis kink_norm : Kink_norm d a c G1 G2.", ""),
    "another norm": ("Kink_norm d a c G1 G2", "Kink_norm d a c G2 G2"),
    "no Jensen given z": ("Jensen_kink d a B V linear kinked G2 C1", "Jensen_kink d a B V linear linear G2 C2"),
    "another token": ("Crossed a V C2", "Crossed a V C1"),
}
"""The same for ReLU."""


OF_A_FIELD = {
    "as it is": ("W_least <= W", "W_least <= W"),
    "fewer tokens": ("K * Rpower W a <= INR n", "K * Rpower W (a / 2) <= INR n"),
    "the scale of a kink": ("(1 / (a + (1 / 2))) in", "(1 / (a + (3 / 2))) in"),
    "another variogram": ("By_variogram B V paired square law", "By_variogram B V paired square nil"),
    "another limit of the bias": ("Jensen_variogram d B two square law", "Jensen_variogram d B two square nil"),
    "no Laplace": ("Hypothesis spread : forall p, 0 < p -> Laplace_spread d V p (raised d p).", ""),
    "no triangle": ("Hypothesis triangle : Triangle V paired.", ""),
    "another sphere": ("Gamma_one d a c.", "Gamma_one (d + 1) a c."),
    "other pairs": ("Gamma_two d a c two.", "Gamma_two d a c (fun _ _ => 0)."),
}
"""The same for a field, of which the variogram is known."""
OF_LAWS = {"affine-3": STATED, "relu-3": OF_RELU, "rough-0.5-3": OF_A_FIELD}


@WITH_COQ
@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "change"),
    [(name, each) for name, some in OF_LAWS.items() for each in some],
)
def test_an_export_of_another_structure_does_not_compile(name: str, change: str, library: Path) -> None:
    """Numerical lemmas are admitted here, so that only the theorem can fail."""
    text = re.sub(
        r"^Proof\. (?:numbers|values|unfold|pose|enclosed).*Qed\.$", "Admitted.", coq.modules([proof(name)]), flags=re.M
    )
    before, after = OF_LAWS[name][change]
    assert before in text
    against = refusal(text.replace(before, after), library)
    assert against is not None
    if change == "as it is":
        assert against.startswith(f"it assumes window_{re.sub('[-.]', '_', name)}.")
    else:
        assert against.startswith(("window_theorem: ", "left_of_u: ", "between: ", "few: ", "its beginning: ")), against


@WITH_COQ
@pytest.mark.slow
@pytest.mark.parametrize("ratio", ["0.3", "1.02", "3"])
def test_a_transfer_compiles_at_every_position_of_the_minimum(ratio: str, library: Path) -> None:
    """At an end of the window, or between both; the integrals, which are those of the window, are admitted."""
    integrals = r"^Proof\. (?=[^\n]*(?:enclose|integral with)).*Qed\.$"
    text = re.sub(integrals, "Admitted.", coq.modules([proof(f"transfer-affine-3-{ratio}")]), flags=re.M)
    against = refusal(text, library)
    assert against is not None
    assert re.fullmatch(r"it assumes (\w+\.(J[012]_integral|head_[01])(, )?)+", against), against


IN_EVERY_DIMENSION = {
    "as it is": ("W_least <= W ->", "W_least <= W ->"),
    "smaller Lambda": ("W_least <= W ->", ""),
    "larger d": ("W_per_d * INR d <= W ->", ""),
    "fewer tokens": ("K * Rpower W (a + 1) <= INR n", "K * Rpower W a <= INR n"),
    "fewer tokens by d": ("M * (Rpower (4 / 3) a * Rpower W a)", "M * Rpower W a"),
    "d = 1 too": ("forall d n L sigma, (2 <= d)%nat", "forall d n L sigma, (1 <= d)%nat"),
    "lines exchanged": ("low * (k * W) < w < high * (k * W)", "high * (k * W) < w < low * (k * W)"),
    "another centre": ("let k := scale_of law d in", "let k := 2 * scale_of law d in"),
    "no Jensen": ("Hypothesis jensen_share :", "Hypothesis jensen_other :"),
    "another limit": ("Moment_limit d (a_of d) (limit_of d)", "Moment_limit d (a_of d) (2 * limit_of d)"),
    "a dimension left out": ("Lemma window_17 p", "Lemma window_17_of p"),
}
"""Other theorems on every dimension, and other facts."""


RELU_IN_EVERY_DIMENSION = {
    "as it is": ("W_least <= W ->", "W_least <= W ->"),
    "smaller Lambda": ("let k := ramp_scale d in\n  W_least <= W ->", "let k := ramp_scale d in\n "),
    "larger d": ("W_per_d * INR d <= W ->", ""),
    "fewer tokens": ("K * Rpower W (a + 1 / 2) <= INR n ->\n  M *", "K * Rpower W a <= INR n ->\n  M *"),
    "fewer tokens by d": (
        "M * (Rpower (4 / 3) a * Rpower W a) <= INR n ->\n  (exists",
        "M * Rpower W a <= INR n ->\n  (exists",
    ),
    "the scale of a smooth law": ("(1 / (a + 3 / 2)) in", "(1 / (a + 2)) in"),
    "lines exchanged": ("low * (k * W) < w < high * (k * W)", "high * (k * W) < w < low * (k * W)"),
    "another centre": ("let k := ramp_scale d in", "let k := 2 * ramp_scale d in"),
    "no Jensen": ("Hypothesis jensen_ramp :", "Hypothesis jensen_other :"),
    "Jensen without the query": ("(B d) (V d) (G2 d) (C1 d)", "(B d) (V d) (G2 d) (C2 d)"),
    "another norm": ("Kink_norm d (a_of d) (limit_of d) (G1 d)", "Kink_norm d (a_of d) (limit_of d) (G2 d)"),
    "another token": ("Crossed (a_of d) (V d) (C2 d)", "Crossed (a_of d) (V d) (C1 d)"),
    "a group left out": ("Lemma ready_5 e", "Lemma ready_5_of e"),
}
"""The same for ReLU."""


@WITH_COQ
@pytest.mark.slow
@pytest.mark.parametrize(
    ("law", "name"),
    [("affine", each) for each in IN_EVERY_DIMENSION] + [("relu", each) for each in RELU_IN_EVERY_DIMENSION],
)
def test_another_theorem_on_every_dimension_does_not_compile(law: str, name: str, library: Path) -> None:
    """Numerical lemmas are admitted here: what fails is the theorem, or what puts the dimensions together."""
    names = {
        "affine": "ratio_|window_(?!every)|few_(?!every)|third_(?!every)|bulk_|cubic_(?!every)|J[0-9]_",
        "relu": "ratio_|peak_|bounded_[0-9]|decided_[0-9]|third_|cubic_(?!every)|J[0-9]_",
    }[law]
    text = re.sub(
        rf"(^Lemma (?:{names})\w* .*?\n)Proof\..*?Qed\.",
        r"\1Admitted.",
        coq.modules([proof(f"dimensions-{law}")]),
        flags=re.M | re.S,
    )
    before, after = (IN_EVERY_DIMENSION if law == "affine" else RELU_IN_EVERY_DIMENSION)[name]
    assert before in text
    against = refusal(text.replace(before, after), library)
    assert against is not None
    if name == "as it is":
        assert against.startswith(f"it assumes every_dimension_{law}.")
    else:
        where = ("every_dimension_theorem: ", "window_every: ", "ready_every: ", "its beginning: ")
        assert against.startswith(where), against


OTHERS = (
    (
        "lt-cosine",
        "(1 <= n)%nat -> INR n * cosine d n <= INR d + offset",
        "(1 <= n)%nat -> INR n * cosine d n <= INR d",
    ),
    ("lt-cosine", "INR d + low - (60 +", "INR d + low - (6 +"),
    ("lt-cosine", "Hypothesis majorised : Majorised q.", ""),
    ("lt-cosine", "Hypothesis independent : Independent q cosine.", ""),
    ("lt-ridge-1-1-yx", "least <= INR n -> apart", "1 <= INR n -> apart"),
    ("lt-ridge-1-1-yx", "Fluctuates d s c v b", "Fluctuates d s c v [1]"),
    ("lt-ridge-1-1-yx", "Hypothesis posterior : Posterior d s whitened.", ""),
    ("lt-ridge-1-1-yx", "Definition v : R := - 1 /", "Definition v : R := - 2 /"),
)
"""Statements and facts on linear transformers, with false ones to replace them."""


@WITH_COQ
@pytest.mark.slow
@pytest.mark.parametrize(("name", "before", "after"), OTHERS)
def test_another_theorem_on_linear_transformers_does_not_compile(name: str, before: str, after: str) -> None:
    text = coq.exported([proof(name)])
    assert before in text
    assert coq.refusal(text.replace(before, after))


FALSE = {
    "momentum": (
        ("~ lemma_holds (fun a => a) true true", "lemma_holds (fun a => a) true true"),
        ("derived : lemma_holds (fun _ => 1) true true", "derived : lemma_holds (fun _ => 1) true false"),
        ("- a * rho * yx * sum d", "+ a * rho * yx * sum d"),
        ("xy * a ^ 2 * rho", "xy * a * rho"),
    ),
    "layers": (
        ("/ ln 2 + 4.", "/ ln 2 + 7 / 2."),
        ("ln kappa / ln (27 / 4) + ln", "ln kappa / ln 9 + ln"),
        ("0 < epsilon <= 1 / 2 ->", "0 < epsilon <= 1 ->"),
    ),
    "majorant": (
        ("bound n <= 5.", "bound n <= 4."),
        ("(6 <= n)%nat ->", "(3 <= n)%nat ->"),
        ("1 <= y * p y.", "11 / 10 <= y * p y."),
    ),
    "table_1": (
        ("above DIAG TunedRR = 12%nat", "above DIAG TunedRR = 11%nat"),
        ("full_tuned : at_most FULL TunedRR 0 5 4", "full_tuned : at_most FULL TunedRR 0 5 3"),
        ("[2; 10; 25; 35; 47; 50; 57; 10; 35]", "[2; 10; 25; 35; 50; 50; 57; 10; 35]"),
    ),
    "gaussian_window": (
        ("one_half : window (1 / 2)", "one_half : window 1"),
        ("forall c, c <> 1 / 2 -> ~", "forall c, c <> 1 -> ~"),
        ("dot d other other = 1 ->", ""),
    ),
    "split": (
        ("+ sigma ^ 2 * E (fun t _ => sum n", "+ sigma * E (fun t _ => sum n"),
        ("if Nat.eqb i j then sigma ^ 2 * E (fun t _ => A t) else 0", "sigma ^ 2 * E (fun t _ => A t)"),
        ("E (fun t e => A t * e i) = 0.", "E (fun t e => A t * e i) = E (fun t e => A t)."),
    ),
    "values": (
        ("E (fun t => g t ^ 2) + E (fun t => s t ^ 2).", "E (fun t => g t ^ 2) - E (fun t => s t ^ 2)."),
        ("(forall t, g (flip t) = - g t)", "(forall t, g (flip t) = g t)"),
    ),
    "whitening": (
        (
            "sum d (fun p => C p k * sum d (fun q => M p q * C q l)).",
            "sum d (fun p => C k p * sum d (fun q => M p q * C q l)).",
        ),
        ("= form d M u v.", "= form d M v u."),
    ),
    "fixed_tokens": (
        ("0 <= w <= v ->\n  total n (fun i => attends n w", "0 <= v <= w ->\n  total n (fun i => attends n w"),
        ("forall p x n w v, 0 <= p ->", "forall p x n w v, p <= 0 ->"),
    ),
    "implicit": (
        ("- H k d * w s l;", "+ H k d * w s l;"),
        (
            "u s k + sum d (fun m => H k m * u s m) + a s * H k d;",
            "u s k + sum d (fun m => H k m * u s m) - a s * H k d;",
        ),
        ("a := (1 + H d d) * a s + sum d (fun m => H d m * u s m);", "a := (1 + H d d) * a s;"),
        ("(1 + H d d) * w s l - sum d", "(1 + H d d) * w s l + sum d"),
        ("u := fun _ => 0; a := 1;", "u := fun _ => 0; a := 0;"),
        ("forall d n layers keys e, e d = 0 ->", "forall d n layers keys e, e d = 1 ->"),
    ),
}
"""Statements of `algebra.v`, with replacements that are false, or that its proof does not reach."""


@WITH_COQ
@pytest.mark.slow
def test_algebra_compiles() -> None:
    assert coq.refusal(coq.exported((), coq.WHOLE)) is None


@WITH_COQ
@pytest.mark.slow
@pytest.mark.parametrize(
    ("module", "before", "after"), [(name, *each) for name, pairs in FALSE.items() for each in pairs]
)
def test_other_algebra_does_not_compile(module: str, before: str, after: str) -> None:
    text = coq.exported((), [module])
    assert text.count(before) >= 1
    assert coq.refusal(text.replace(before, after))


def test_algebra_assumes_nothing() -> None:
    text = coq.exported((), coq.WHOLE)
    own = text[text.index("Module momentum") :]
    assert not re.search(r"\b(Admitted|admit|Axiom|Parameter|Hypothes[ie]s|Conjecture|Abort)\b", own)
    assert coq.MODULE.findall(text)
    assert [name for name, _ in coq.MODULE.findall(text)] == list(coq.WHOLE)


def test_every_claim_with_algebra_is_there() -> None:
    ids = [each.id for each in select_claims(())]
    assert all(any(fnmatchcase(id, claims) for id in ids) for each in coq.WHOLE.values() for claims in each.claims)


def test_the_entries_of_the_table_are_the_published_ones() -> None:
    """In thousandths, for every law of the noise except no noise."""
    text = dict(coq.MODULE.findall(coq.exported((), ["table_1"])))["table_1"]
    noises = [noise.name for noise in published.NOISES[1:]]
    for model in ("DIAG", "FULL", *published.BASELINES):
        (found,) = re.findall(rf"^Definition {model} : .*? := ([^.]*)\.", text, re.MULTILINE)
        layers = published.LAYERS if model in published.MODELS else (0,)
        expected = [round(1000 * published.printed(noise, model, k).value) for k in layers for noise in noises]
        assert [int(each) for each in re.findall(r"\d+", found)] == expected


@pytest.mark.parametrize("name", ["affine-3", "relu-3", "clip-3", "rough-0.5-3"])
def test_the_same_numbers_are_in_the_export_and_in_the_proof(name: str) -> None:
    """Those of each stage in the module of that stage, those of the last and of no stage outside."""
    data = proof(name)
    (text,) = (inside for _, inside in coq.MODULE.findall(coq.modules([data])))
    stages = dict(coq.MODULE.findall(text))
    last = max(lemma.get("stage", 0) for lemma in data["lemmas"])
    assert list(stages) == [f"stage_{i}" for i in range(1, last)]
    for lemma in data["lemmas"]:
        own = stages.get(f"stage_{lemma.get('stage', 0)}", coq.MODULE.sub("", text))
        for constant, value in lemma["constants"].items():
            called = windows.RENAMED.get(constant, constant)
            (found,) = re.findall(rf"^Definition {called} : R := (.*)\.$", own, flags=re.MULTILINE)
            assert statements.value(found.replace(" ", "")) == pytest.approx(float(value), rel=1e-15)


def facts(text: str) -> list[str]:
    """The facts that theorems assume: hypotheses of sections of lemmas are proved where the lemmas are applied."""
    sections = re.findall(r"^Section Statement\.\n(.*?)^End Statement\.", text, re.DOTALL | re.MULTILINE)
    return list(dict.fromkeys(re.findall(r"^Hypothesis (\w+) ", "".join(sections), re.MULTILINE)))


ROW = r"  \[[^\]]*\];\n"
OF_A_PROBLEM = {
    "optimum-cosine-3-2-1000-13": (
        (r"(Definition low : R := )(.*)\.", r"\g<1>101 / 100 * (\g<2>)."),
        (r"(Definition high : R := )(.*)\.", r"\g<1>99 / 100 * (\g<2>)."),
        (r"(Definition level : R := )(.*)\.", r"\g<1>101 / 100 * (\g<2>)."),
        (r"(Definition noise_stop : R := )(.*)\.", r"\g<1>99 / 100 * (\g<2>)."),
        (rf"(left_values : list \(list Z\) := \[\n){ROW}", r"\g<1>"),
        (r"(left_ends : list R := \[)[^;]*; ", r"\g<1>"),
        (r"(left_values : list \(list Z\) := \[\n  \[)\d+", r"\g<1>632548872"),
        (r"(left_values : list \(list Z\) := \[\n  \[)", r"\g<1>- "),
        (r"L sigma at_ <= level", "L sigma at_ >= level"),
        (r"Strip 1 2 \(N n\)", "Strip 2 2 (N n)"),
        (r"noise_stop <= sigma", "noise_stop >= sigma"),
        (r"-> low <= w <= high", "-> low <= w < high"),
        (r"-> low <= w <= high", "-> 1001 / 1000 * low <= w <= high"),
        (r"(?s)(Theorem.*?)sigma n w <=", r"\1sigma 999 w <="),
        (
            r"(?s)(right_ends : list R := \[[^;]*); [^\]]*(.*?right_values : list \(list Z\) := \[\n[^\]]*\]);[^\]]*\]",
            r"\1\2",
        ),
        (r"Hypothesis listed_le .*\n", ""),
    ),
    "optimum-cosine-4-2-1000-13": (
        (r"(Definition high : R := )(.*)\.", r"\g<1>99 / 100 * (\g<2>)."),
        (r"forall w, w <> 0 -> loss", "forall w, loss"),
        (r"2 \* bend <= Derive_n", "2 * bend >= Derive_n"),
        (r"Hypothesis even : .*\n?", ""),
    ),
    "rising-affine-3-3": (
        (r"(Definition slope_low : R := )(.*)\.", r"\g<1>101 / 100 * (\g<2>)."),
        (r"bias_2 <= L", "bias_2 >= L"),
        (r"slope_low (\* \(L \^ 2 \* B n w_1\)\.)", r"slope_high \1"),
    ),
    "falling-relu-3-1000": (
        (r"(Definition fall : R := )(.*)\.", r"\g<1>101 / 100 * (\g<2>)."),
        (r"(Definition stop : R := )(.*)\.", r"\g<1>101 / 100 * (\g<2>)."),
        (rf"(late_values : list \(list Z\) := \[\n){ROW}", r"\g<1>"),
        (r"<= - fall\) /", "< - fall) /"),
        (r"-> w < stop\.", "-> w < 99 / 100 * stop."),
        (r"0 <= w <= stop -> ex", "0 <= w <= 101 / 100 * stop -> ex"),
        (r"V_1 n edge <= edge_mean", "V_1 n edge >= edge_mean"),
        (r"Derive \(fun x => - L \^ 2 \* listed x\)\) late", r"Derive (fun x => L ^ 2 * listed x)) late"),
    ),
}
"""Statements, facts and tables of one problem, with others that are false or not enough."""


@WITH_COQ
@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "before", "after"), [(name, *each) for name, pairs in OF_A_PROBLEM.items() for each in pairs]
)
def test_another_theorem_on_one_problem_does_not_compile(name: str, before: str, after: str, library: Path) -> None:
    text, count = re.subn(before, after, exported(name), count=1)
    assert count == 1
    assert refusal(text, library) is not None


@pytest.mark.parametrize("name", PROBLEMS)
def test_the_export_of_one_problem_is_the_same_each_time(name: str) -> None:
    """It states the checker's sentence, and its hypotheses are facts of the list."""
    data = proof(name)
    text = exported(name)
    assert text == coq.modules([data])
    assert checker.statement(data) in text
    assert set(facts(text)) <= set(HYPOTHESES)
    assert {"level_at", "noise_at"} <= set(facts(text)) or name.startswith("rising")


def number(text: str, name: str) -> float:
    """A constant of an export."""
    (found,) = re.findall(rf"^Definition {name} : R := (.*)\.$", text, re.MULTILINE)
    return float(Fraction(found.replace(" ", "")))


def table(text: str, name: str) -> tuple[np.ndarray, np.ndarray, float]:
    """A table of an export: the places w, the values there, and the largest error of a value, one unit."""
    (ends,) = re.findall(rf"^Definition {name}_ends : list R := \[(.*)\]", text, re.MULTILINE)
    (rows,) = re.findall(
        rf"^Definition {name}_values : list \(list Z\) := \[\n(.*?)\]%Z", text, re.DOTALL | re.MULTILINE
    )
    edges = [number(text, f"{name}_from"), *(float(Fraction(each.replace(" ", ""))) for each in ends.split(";"))]
    assert edges[-1] == number(text, f"{name}_to")
    at = [(a + b) / 2 + (b - a) / 2 * np.array(places()) / 128 for a, b in pairwise(edges)]
    values = [[int(each) for each in row.split(";")] for row in re.findall(r"\[(.*?)\]", rows)]
    units = number(text, f"{name}_units")
    return np.array(at), np.array(values) / units, 1 / units


def curve(values: Callable[[float], float], first: float, last: float) -> Chebyshev:
    """A function on an interval, as a polynomial through its values."""
    return Chebyshev.interpolate(np.vectorize(values), 32, domain=[first, last])


def assert_strip(f: Chebyshev, M: float) -> None:
    """`Strip` of curves.v for its first derivatives, at b = 1.45 and at smaller b."""
    w = np.linspace(f.domain[0], f.domain[1], 41)
    for k in range(9):
        for b in (1.45, 1.2, 0.5):
            assert np.abs(f.deriv(k)(w) if k else f(w)).max() <= math.factorial(k) * M / math.cos(b) ** 2 / b**k


@pytest.mark.parametrize(("name", "L"), [("optimum-cosine-3-2-1000-13", 3.0), ("optimum-cosine-4-2-1000-13", 4.0)])
def test_the_facts_about_an_optimum_are_true_of_the_exact_method(name: str, L: float) -> None:
    """The values that Coq does not check, Cauchy's estimate, and at w = 0 the second derivative and the symmetry."""
    text = exported(name)
    problem = Problem(d=2, n=1000, law=Cosine(L=L), sigma=13.0)

    def noise_and_bias(w: float) -> tuple[float, float]:
        terms = loss_terms(problem, w)
        return float(terms.noise), float(terms.bias)

    def loss(w: float) -> float:
        return sum(noise_and_bias(w))

    assert (number(text, "sigma"), number(text, "L")) == (13, 1)
    assert "Definition n : nat := Z.to_nat 1000." in text
    assert 0 <= number(text, "level") - loss(number(text, "at_")) < 1e-7
    stop = number(text, "stop")
    assert 0 <= noise_and_bias(stop)[0] - number(text, "noise_stop") < 1e-7
    sides = [side for side in ("left", "right") if f"Hypothesis {side}_known" in text]
    assert sides == (["left", "right"] if L == 3 else ["right"])
    for side in sides:
        at, values, unit = table(text, side)
        assert abs(np.vectorize(loss)(at) - values).max() <= 1.01 * unit
    assert_strip(curve(lambda w: noise_and_bias(w)[0] / 169, 0.0, stop), 1)
    assert_strip(curve(lambda w: noise_and_bias(w)[1], 0.0, stop), 4 * number(text, "V"))
    if L == 4:
        wave = quad(lambda x: math.cos(4 * math.cos(x)) * math.cos(2 * x), 0, math.pi)[0]
        k_2, bend = (
            re.findall(rf"^Definition {each} : R := (.*)\.$", text, re.MULTILINE)[0] for each in ("k_2", "bend")
        )
        share = formula(k_2, wave=wave, whole=math.pi)
        bend = formula(bend.replace("INR n", "n"), n=1000, sigma=13, L=1, k_2=share)
        near_0 = Chebyshev.interpolate(np.vectorize(loss), 16, domain=[0, 1])
        assert [near_0.deriv(k)(0.0) for k in (1, 3)] == pytest.approx([0, 0], abs=1e-6)  # the loss is even
        assert 0 < 2 * bend < near_0.deriv(2)(0.0) == pytest.approx(2 * number(text, "curvature"), rel=1e-6)


def test_the_facts_about_a_bias_that_rises_are_true() -> None:
    """The bias at both w, from one integral over t and one over lambda."""
    text = exported("rising-affine-3-3")
    first, second = (statements.terms("affine", 3, 3, number(text, f"w_{i}"))[1] for i in (1, 2))
    assert first == pytest.approx(number(text, "bias_1"), rel=1e-11)
    assert second == pytest.approx(number(text, "bias_2"), rel=1e-11)
    assert second / first > 2 ** number(text, "slope_low")


def test_the_facts_about_a_bias_that_falls_are_true() -> None:
    """Tables of the slope of the listed degrees, what the others add, Cauchy's estimate, and values at one w."""
    text = exported("falling-relu-3-1000")
    d, n, listed = 3, 1000, LISTED["relu"]
    k, rest = statements.spectrum("relu", d, listed)
    assert rest <= number(text, "omitted") <= 1.01 * rest

    @cache
    def biases(w: float) -> tuple[float, float]:
        """Of the listed degrees, and of all."""
        _, alone, pairs, _ = statements.averages(d, n, w, listed)
        return float(k @ (2 * alone + pairs)), statements.terms("relu", d, n, w)[1]

    def distance(w: float) -> float:
        return float(statements.averages(d, n, w, 1)[3][0])

    stop, edge = number(text, "stop"), number(text, "edge")
    part, whole = curve(lambda w: biases(w)[0], 0, stop), curve(lambda w: biases(w)[1], 0, stop)
    for name in ("early", "late"):
        at, values, unit = table(text, name)
        assert abs(-part.deriv()(at) - values).max() <= 1.01 * unit
    for w in np.linspace(0, stop, 12):
        assert part(w) <= whole(w) + 1e-12
        assert abs((whole - part).deriv()(w)) <= 4 * rest * math.sqrt(2 * distance(w))
        assert whole.deriv()(w) <= -number(text, "fall")
    assert distance(edge) <= number(text, "edge_mean") <= distance(edge) + 2e-6
    assert_strip(part, 4 * number(text, "V"))
    noise, bias = statements.terms("relu", d, n, number(text, "at_"))[:2]
    assert 0 <= number(text, "level") - noise - bias < 5 * rest
    assert 0 <= statements.terms("relu", d, n, stop)[0] - number(text, "noise_stop") < 1e-8


def test_a_window_moved_inwards_has_no_table() -> None:
    data = proof("optimum-cosine-3-2-1000-13")
    between = next(lemma for lemma in data["lemmas"] if lemma["name"] == "between")
    between["constants"]["low"] = "2.0496"
    with pytest.raises(OutOfReach, match="no export to Coq, because a table"):
        coq.exported([data])


def test_every_dimension_is_in_the_export_of_relu() -> None:
    """Groups without a gap and without an end, and all constants of the proof."""
    data = proof("dimensions-relu")
    text = coq.modules([data])
    k = {key: Fraction(value) for lemma in data["lemmas"] for key, value in lemma["constants"].items()}
    groups = list(ramp.groups_of(k))
    assert [int(d) for d in re.findall(r"^Lemma bounded_(\d+) ", text, re.MULTILINE)] == [of.first for of in groups]
    assert groups[0].first == 2
    assert all(after.first == (before.last or 0) + 1 for before, after in pairwise(groups))
    assert groups[-1].last is None
    assert "Admitted" not in text
    assert facts(text) == list(ramp.FACTS)
    for key, value in k.items():
        (written,) = re.findall(rf"^Definition {key} : R := (.*)\.$", text, re.MULTILINE)
        assert Fraction(written.replace(" ", "")) == value


@pytest.mark.parametrize("d", [2, 3, 4, 5, 8, 31])
@pytest.mark.parametrize("law", ["affine", "quadratic", "relu"])
def test_the_centre_in_every_dimension_is_the_printed_one(law: str, d: int) -> None:
    """k and m as the libraries define them, compared with the formulas of the printed sentence."""
    known: dict[str, Any] = {
        "half_gamma": lambda m: math.gamma(m / 2),
        "size": float,
        "a_of": lambda d: (d - 1) / 2,
        "Rpower": lambda x: lambda y: x**y,  # as Coq writes it
        "psi_0": (2 - math.sqrt(2)) / (6 * math.sqrt(math.pi)),
    }
    text = coq.library("dimensions") + coq.library("ramp")
    names: tuple[str, ...] = ("S1_of", "centre_of", "scale_of", "loss_of")
    if law == "relu":
        names = ("ramp_peak", "ramp_lead", "ramp_centre", "ramp_scale", "ramp_loss")
    for name in names:
        (body,) = re.findall(rf"^Definition {name} .*?: R := (.*?)\.$", text, re.DOTALL | re.MULTILINE)
        if arms := dict(re.findall(r"(\w+) => (.*?) (?=\||end)", body)):
            body = arms[law]
        body = re.sub(r"\b([a-zA-Z]\w+)(?: law)? d\b", r"\1(d)", body).replace("* /", "/")
        known[name] = lambda d, body=body: formula(body, **known | {"d": d})
    scale, unit = (known[name](d) for name in names[-2:])
    beta = 1.5 if law == "relu" else 2.0
    log_k, least = statements.centre_and_unit(law, d)
    assert math.log(scale) * ((d - 1) / 2 + beta) == pytest.approx(log_k, rel=1e-12)
    assert unit * scale**beta == pytest.approx(least, rel=1e-12)


@pytest.mark.parametrize("name", ["dimensions-affine", "dimensions-quadratic"])
def test_every_dimension_is_in_its_export(name: str) -> None:
    """Those that are certified alone, groups without a gap up to the last, and all constants of the proof."""
    data = proof(name)
    text = coq.modules([data])
    alone = {int(d) for d in re.findall(r"^Lemma window_(\d+) ", text, re.MULTILINE)}
    assert alone == set(range(2, dimensions.ALONE + 1))
    k = {key: Fraction(value) for lemma in data["lemmas"] for key, value in lemma["constants"].items()}
    groups = dimensions.third_groups(data["given"]["law"], k)
    assert groups[0][0] == dimensions.ALONE + 1
    assert all(after[0] == before[1] + 1 for before, after in pairwise(groups))
    assert groups[-1][1] == dimensions.LAST
    assert "Admitted" not in text
    assumed = [each for each in dimensions.EVERY if each != "opposite_d" or data["given"]["law"] == "affine"]
    assert facts(text) == assumed
    for key, value in k.items():
        (written,) = re.findall(rf"^Definition {key} : R := (.*)\.$", text, re.MULTILINE)
        assert Fraction(written.replace(" ", "")) == value


def test_every_hypothesis_is_listed_in_the_documents() -> None:
    """There are no axioms or admitted lemmas; the hypotheses of the theorems are those of the list, in its order."""
    names = (
        "affine-3",
        "tradeoff-relu-3",
        "clip-3",
        "dimensions-affine",
        "dimensions-relu",
        *PROBLEMS,
        "lt-cosine",
        "lt-ridge-1-1-yx",
    )
    text = coq.exported([proof(name) for name in names])
    own = text[text.index("Module window") :]
    assert not re.search(r"\b(Admitted|admit|Axiom|Parameter|Conjecture|Abort)\b", text)
    assert facts(own) == list(HYPOTHESES)
    listed = re.findall(r"^\| `(\w+)` \|", (ROOT / "docs" / "proofs.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert listed == list(HYPOTHESES)


@pytest.mark.parametrize("name", ["rough-0.25-2", "rough-0.75-5", "lt-layers", "every-affine-3"])
def test_a_proof_without_an_export_is_refused(name: str) -> None:
    with pytest.raises(OutOfReach, match="no export to Coq"):
        coq.exported([proof(name)])


def test_without_coqc_nothing_is_exported(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(shutil, "which", lambda _: None)
    with pytest.raises(SystemExit) as ended:
        main(["prove", "softmax.window-derived/affine", "--coq", str(tmp_path / "new" / "a.v")])
    assert ended.value.code == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "coqc is not installed" in line
    assert "apt-get install" in line
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("ids", "under", "says"),
    [
        (("lt.gd-plus-plus/expectation",), "new", "`lipverify prove` lists those that have one"),
        (("lt.momentum/derived", "lt.nothing"), "new", "`lipverify list` shows them all"),
        (("lt.momentum/derived",), "file", "coq = '"),
    ],
)
def test_a_refused_export_leaves_no_folder(
    ids: tuple[str, ...],
    under: str,
    says: str,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """A folder that is missing is created with the file; a refusal is one line, and names the option."""
    monkeypatch.setattr(prove, "require_coqc", lambda: None)
    (tmp_path / "file").touch()
    with pytest.raises(SystemExit) as ended:
        main(["prove", *ids, "--coq", str(tmp_path / under / "a.v")])
    assert ended.value.code == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert says in line
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_a_missing_folder_is_created_with_the_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(prove, "require_coqc", lambda: None)
    monkeypatch.setattr(prove, "refusal", lambda _: None)
    with pytest.raises(SystemExit) as ended:
        main(["prove", "lt.momentum/derived", "--coq", str(tmp_path / "new" / "folder" / "a.v")])
    assert not ended.value.code
    assert "Module momentum" in (tmp_path / "new" / "folder" / "a.v").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ["affine-3.v", "3.v", "affine", "affine.txt", "é.v"])
def test_a_name_that_coq_does_not_take_is_refused(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["prove", "softmax.window-derived/affine", "--coq", str(tmp_path / name)])
    assert ended.value.code == 2
    assert "as in affine_3.v" in capsys.readouterr().err


def test_a_file_without_a_theorem_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["prove", "--coq", "a.v"])
    assert ended.value.code == 2
    assert "name a claim or give --law" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        (("--law", "affine", "--d", "3"), "coqc does not accept it: c_high_ge: Tactic failure"),
        (("--law", "matern(0.5)", "--d", "3"), "coqc does not accept it: c_high_ge: Tactic failure"),
        (("softmax.hoelder/window", "--d", "2"), "law rough-0.25: it has no export to Coq, because Gamma at quarters"),
    ],
)
def test_a_file_that_coq_rejects_is_not_written(
    asked: tuple[str, ...],
    says: str,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    for module in (prove, coq):
        monkeypatch.setattr(module, "require_coqc", lambda: None)
    monkeypatch.setattr(prove, "refusal", lambda _: "c_high_ge: Tactic failure")
    with pytest.raises(SystemExit) as ended:
        main(["prove", *asked, "--coq", str(tmp_path / "new" / "a.v")])
    assert ended.value.code == 1
    assert says in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("false", ["M.false : 1 = 2", "M.false\n  : forall x, x = 2"])
def test_an_axiom_is_not_accepted(false: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file is refused if coqc lists an assumption under Print Assumptions that is not from its libraries."""
    monkeypatch.setattr(coq, "require_coqc", lambda: None)
    listed = f"Axioms:\nUint63.add_spec\n  : forall x, x\n{false}\nClassical_Prop.classic : forall P, P\n"
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: subprocess.CompletedProcess([], 0, listed, ""))
    assert coq.refusal("") == "it assumes M.false"


@pytest.mark.parametrize("d", [2, 3, 7])
@pytest.mark.parametrize("law", ["link:0.5,1,-2,0.25", "powers:0,1,0.5,2", "rbf:0.7,2", "zonal:0,1,0,0.5", "quadratic"])
def test_the_sums_of_a_law_are_those_of_the_checker(law: str, d: int) -> None:
    """Fractions compared with balls, by other formulas for links."""
    bounds, _ = smooth(laws.start(law, d))
    sums = windows.harmonic_sums(law, d)
    for name, value in zip(("S0_high", "S1_high", "S2"), sums, strict=True):
        assert ball(value).overlaps(bounds[name][1])


@pytest.mark.parametrize(("d", "L"), [(2, "1"), (3, "2.5"), (6, "4")])
def test_the_sums_of_the_cosine_law_are_integrals(d: int, L: str) -> None:
    """Sums over harmonics compared with integrals of derivatives."""
    bounds, _ = smooth(laws.start(f"cosine:{L}", d))
    whole, first, second, third = windows.wave_squares(d, arb(L))
    S1 = second / whole / (d - 1) ** 2
    sums = first / whole / (d - 1), S1, (third / whole / (d - 1) ** 3 - S1) * (d - 1) / (d + 1)
    for name, value in zip(("S0_high", "S1_high", "S2"), sums, strict=True):
        assert abs(value - bounds[name][1]) < 1e-12


def test_theorems_of_one_name_are_numbered() -> None:
    """Two ranges of one law are two modules; a theorem that is requested twice is one."""
    other = copy.deepcopy(proof("affine-3"))
    (last,) = (each["constants"] for each in other["lemmas"] if "W_least" in each["constants"])
    last["W_least"] = f"{float(last['W_least']) * 2:g}"
    text = coq.modules([proof("affine-3"), other, proof("affine-3"), other])
    assert re.findall(r"^Module (\w+)\.", text, re.MULTILINE) == ["window_affine_3", "window_affine_3_v2"]


def kernel(power: int, j: int, T: float, m: float) -> float:
    """`kernel` of attention.v by Simpson's rule."""
    b, steps = 1 - j / T, 20000
    step = m / steps
    weights = [1 if i in (0, steps) else 2 + 2 * (i % 2) for i in range(steps + 1)]
    xs = [i * step for i in range(steps + 1)]
    head = step / 3 * sum(k * x**power * math.exp(-b * (x - x * x / (2 * T))) for k, x in zip(weights, xs, strict=True))
    return head + 2 / b * (m + 2 / b if power else 1) * math.exp(-b * m / 2)


@pytest.mark.parametrize(
    ("d", "n", "w"), [(2, 20, 1.0), (2, 3000, 50.0), (3, 400, 5.0), (3, 10**6, 200.0), (5, 10**5, 9.0)]
)
def test_the_facts_that_are_assumed_are_true_of_attention(d: int, n: int, w: float) -> None:
    """Jensen, Laplace and Chebyshev as stated in attention.v, for the affine law (S0 = S1 = 1/3d, S2 = 0)."""
    a = (d - 1) / 2
    _, h, p = statements.tokens(d)

    def mean(k: int, at: float) -> float:
        return float((p * h**k * np.exp(-at * h)).sum())

    def spread(tokens: int, at: float) -> tuple[float, float]:
        first, second = (float(each) for each in statements.averages(d, tokens, at, 2)[3])
        return first, 2 * first - (1 - 1 / d) * second  # h^2 = 2 (1 - P_1) - (1 - 1/d) (1 - P_2)

    mu, double, D = mean(0, w), mean(0, 2 * w), w * mean(1, w) / mean(0, w)
    N, B, *_ = statements.terms("affine", d, n, w)
    T, S, half = n * mu**2 / double, 1 / (3 * d), (n + 1) // 2
    assert T >= 6
    cut, second = math.exp(-(T - 1) / 4), mean(2, w) / mu
    J0, J1, J2 = (kernel(power, j, T, T) for power, j in ((0, 1), (1, 1), (1, 2)))
    assert mu**2 <= double
    assert second == pytest.approx((2 * w * (D - a) + 2 * a * D) / w**2, rel=1e-9)
    assert n * double / (1 + n * mu) ** 2 <= N <= J1 / T + 2 * cut
    (V1, V2), (U1, U2) = spread(n, w), spread(half, w)
    assert J0 * D / w + 2 * cut * U1 >= V1
    assert J0 * second + 2 * cut * U2 >= V2
    later = spread(n, 1.3 * w)
    assert later[0] <= V1 <= 2
    assert later[1] <= V2 <= 4
    assert statements.terms("affine", d, n, 1.3 * w)[0] >= N
    for before in (0.4 * w, w):
        assert statements.terms("affine", d, n, before)[1] >= S * (D / w) ** 2 / (1 + 1 / (n * mu)) ** 2
    twice = 2 * w * mean(1, 2 * w) / double
    assert S * (J2 * (D / w) ** 2 + 5 * cut * U2) + S * (J1 * twice / w / T + 4 * cut * U1) >= B


@pytest.mark.parametrize("law", ["affine", "quadratic"])
@pytest.mark.parametrize(
    ("d", "n", "w"), [(2, 40, 1.0), (2, 3000, 50.0), (3, 400, 5.0), (5, 10**5, 9.0), (9, 10**6, 6.0)]
)
def test_the_facts_about_one_degree_are_true_of_attention(law: str, d: int, n: int, w: float) -> None:
    """`Jensen_pair`, `Jensen_degree`, `Jensen_left` and `Laplace_degree` of dimensions.v."""
    _, h, p = statements.tokens(d)
    S0, S1, k = {
        "affine": (1 / (3 * d), 1 / (3 * d), 1 / (3 * d)),
        "quadratic": (4 / (d * (d + 2)), 8 / ((d - 1) * (d + 2)), 2 * (d - 1) / (d**2 * (d + 2))),
    }[law]

    def mean(at: float, power: int = 0) -> float:
        return float((p * h**power * np.exp(-at * h)).sum())

    def phi(at: float) -> float:
        return (mean(at, 1) - (0.5 * mean(at, 2) if law == "quadratic" else 0)) / mean(at)

    def left(v: float) -> float:
        return S1 * (phi(v) / (1 + 1 / (n * mean(v)))) ** 2

    N, B, *_ = statements.terms(law, d, n, w)
    mu, double, T = mean(w), mean(2 * w), n * mean(w) ** 2 / mean(2 * w)
    pair = n * double / ((n - 1) * mu + mean(3 * w) / double) ** 2
    share = S1 * (n * phi(w) / (n - 1 + double * phi(2 * w) / (mu**2 * phi(w)))) ** 2
    assert 0.5 * N < pair <= N
    assert 0.5 * B < share <= B
    for before in (0.0, 0.4 * w, w):
        assert left(w) <= statements.terms(law, d, n, before)[1]
    assert T >= 6
    J1, J2 = (kernel(1, j, T, min(T, 50)) for j in (1, 2))
    above = S1 * J2 * phi(w) ** 2 + 2 * S0 * J1 * phi(2 * w) / T + 28 * k * math.exp(-(T - 1) / 4)
    assert above >= B


def formula(text: str, **values: Any) -> float:
    """The value of a formula in Coq's syntax."""
    text = (
        re.sub(r"\b(ff|fq|qq) (\d)", r"\1(\2)", re.sub(r"^(\(?)/", r"\g<1>1 /", text))
        .replace("^", "**")
        .replace("sqrt PI", "sqrt(PI)")
    )
    return float(eval(f"({text})", {"sqrt": math.sqrt, "PI": math.pi, **values}))


@pytest.mark.parametrize("d", [2, 3, 4, 5, 8])
def test_the_normal_integrals_of_the_library_are_those_of_the_checker(d: int) -> None:
    """Each arm of ff, fq and qq compared with quadrature, and what is made of them with the checker's balls."""
    text = coq.library("attention")
    f, Q = norm.pdf, norm.sf
    integrands = {"ff": lambda x: f(x) ** 2, "fq": lambda x: f(x) * Q(x), "qq": lambda x: Q(x) ** 2}
    known: dict[str, Any] = {}
    for (name, integrand), powers in zip(integrands.items(), ((0, 2, 4), (1, 3, 5), (2, 4)), strict=True):
        (body,) = re.findall(rf"^Definition {name} .*?match k with(.*?)\.$", text, re.DOTALL | re.MULTILINE)
        arms, _, over = body.partition("end")
        values = [formula(f"({arm.strip()}){over}", **known) for arm in re.findall(r"=>([^|]*)", arms)]
        for k, value in zip(powers, values, strict=True):
            assert value == pytest.approx(quad(lambda x, k=k, g=integrand: x**k * g(x), 0, 30)[0], rel=1e-9)
        known[name] = dict(zip(powers, values, strict=True)).__getitem__
    known |= {"m": d - 1, "r": 0 if d <= 3 else max(2, d - 3) / 4}
    names = {"main": "psi_0", "moment": "psi_2", "above": "psi_above", "plane": "psi_plane", "below": "psi_below"}
    for name, each in gaussian_integrals(d).items():
        (says,) = re.findall(rf"^Definition {names[name]}\b.*: R := ([^.]*)\.$", text, re.MULTILINE)
        assert formula(says, **known) == pytest.approx(float(each), rel=1e-12)


def means_given_z(d: int, w: float) -> tuple[float, float]:
    """G2 and G1 of attention.v, E G(z)^2 and E |z| G(z), by the midpoint rule in the angles of z, x_i and a third."""
    angle = (np.arange(90) + 0.5) * np.pi / 90
    u = (np.arange(500) + 0.5) / 500 * np.arccos(max(-1.0, 1 - (35 + 2 * d) / w))
    g = np.exp(-w * (1 - np.cos(u))) * np.sin(u) ** (d - 2)
    s, s_weight = (np.cos(angle), np.sin(angle) ** (d - 3)) if d > 2 else (np.array([-1.0, 1.0]), np.ones(2))
    z = np.cos(z_angle := (np.arange(300) + 0.5) * np.pi / 600)
    G = np.empty_like(z)
    for i, each in enumerate(z):
        other = each * np.cos(u)[:, None] + math.sqrt(1 - each**2) * np.sin(u)[:, None] * s
        G[i] = (g @ (2 * np.maximum(-other, 0)) @ s_weight) / (g.sum() * s_weight.sum())
    weight = np.sin(z_angle) ** (d - 2)
    return float((weight * G**2).sum() / weight.sum()), float((weight * z * G).sum() / weight.sum())


@pytest.mark.parametrize(
    ("d", "w"), [(2, 8.0), (2, 100.0), (3, 12.0), (3, 100.0), (5, 60.0), (9, 11.0), (9, 300.0), (24, 26.0)]
)
def test_the_norm_of_what_changes_sign_is_between_its_bounds(d: int, w: float) -> None:
    """`Kink_norm` of attention.v."""
    a, (_, _, p) = (d - 1) / 2, statements.tokens(d)
    mean = {name: float(each) for name, each in gaussian_integrals(d).items()}
    c = math.gamma(d / 2) * 2 ** (d / 2 - 1) / math.sqrt(2 * math.pi)
    peak = 2 * c**2 / math.factorial(d - 2)
    Z = w**a * float((p * np.exp(-w * statements.tokens(d)[1])).sum()) / c
    low = (
        math.sqrt(8 * peak * (mean["main"] - (a + 1.5) * mean["moment"] / w)) - math.sqrt(peak * mean["below"] / 2) / w
    )
    rest = (math.sqrt(16 * peak * mean["above"]) + (math.sqrt(4 * peak * mean["plane"] / 9) if d == 2 else 0)) / w
    rest += 2 * w ** (a + 0.75) * math.exp(-w / 2) / c
    G2, G1 = means_given_z(d, w)
    assert w >= 2 * a + 3
    assert low <= Z * w**0.75 * math.sqrt(G2) <= math.sqrt(8 * peak * mean["main"]) + rest
    assert Z * w**1.5 * G1 <= 4 * peak / (3 * math.sqrt(2 * math.pi)) + w**0.75 * rest / math.sqrt(d)


@pytest.mark.parametrize(("d", "n", "w"), [(2, 60, 10.0), (3, 300, 6.0), (5, 250, 4.0)])
def test_the_facts_about_a_kink_are_true_of_attention(d: int, n: int, w: float) -> None:
    """Facts on a kink, `Jensen_ramp` and `Jensen_ramp_left`, from contexts that are drawn, for f(x) = z_+."""
    random = np.random.default_rng(7)

    def drawn(tokens: int, at: float = w) -> dict[str, float]:
        """Means of the quantities over contexts."""
        q, x, t = (random.standard_normal((4000, k, d)) for k in (1, 1, tokens))
        q, x, t = (each / np.linalg.norm(each, axis=2, keepdims=True) for each in (q, x, t))
        h, z, zs = 1 - (t * x).sum(2), (q * x).sum(2), (q * t).sum(2)
        g = np.exp(-at * h)
        A, C = g / g.sum(1, keepdims=True), np.where(zs * z < 0, 2 * abs(zs), 0.0)
        values = {
            "B": ((A * (np.maximum(zs, 0) - np.maximum(z, 0))).sum(1)) ** 2,
            "C1": (abs(z) * A * C).sum(1),
            "C2": (A * C**2).sum(1),
            **{f"V{p}": (A * h**p).sum(1) for p in (1, 1.5, 2)},
        }
        return {name: float(value.mean()) for name, value in values.items()}

    here, half = drawn(n), drawn((n + 1) // 2)
    _, h, p = statements.tokens(d)
    mu, double, D = (float((p * f).sum()) for f in (np.exp(-w * h), np.exp(-2 * w * h), w * h * np.exp(-w * h)))
    D, twice = D / mu, float((p * 2 * w * h * np.exp(-2 * w * h)).sum()) / double
    T, F, kinked, both = n * mu**2 / double, (1 + 1 / (n * mu)) ** 2, 1 / 4, 1 / 2 / d
    G2, G1 = means_given_z(d, w)
    assert T >= 6
    cut = math.exp(-(T - 1) / 4)
    J0, J1, J2 = (kernel(power, j, T, T) for power, j in ((0, 1), (1, 1), (1, 2)))
    assert 0 < here["C2"] <= math.sqrt(8) * math.pi**2 / (3 * d) * here["V1.5"]
    below = kinked * (G2 / F - 2 * here["V1"] * here["C1"]) + both * (D / w) ** 2 / F
    assert 0.3 * here["B"] < below <= 1.02 * here["B"]
    own = max(1 / (T * (1 - math.exp(-w) / (2 * mu))), math.exp(-w) / (n * mu))
    assert math.exp(-w) < 2 * mu
    ramp = kinked * (G2 / (1 + own) ** 2 - 2 * here["V1"] * here["C1"]) + both * (D / w / (1 + 1 / T)) ** 2
    assert below < ramp <= 1.02 * here["B"]
    left = (kinked * (G2 - 2 * D / w * G1) + both * (D / w) ** 2) / F
    assert 0.3 * here["B"] < left <= 1.02 * min(here["B"], drawn(n, w / 2)["B"])
    assert here["C1"] <= 1.02 * (J0 * G1 + 2 * cut * math.sqrt(half["C2"] / d))
    above = kinked * (J2 * G2 + 5 * cut * half["C2"]) + both * (J2 * (D / w) ** 2 + 5 * cut * half["V2"])
    assert here["B"] <= 1.02 * (above + both * (J1 * twice / w / T + 4 * cut * half["V1"]))


def between_pairs(d: int, w: float, p: float) -> float:
    """E g_1 g_2 (1 - t_12)^p over mu^2 by the midpoint rule in the angles of two tokens and the angle between both."""
    u = (np.arange(400) + 0.5) / 400 * np.arccos(max(-1.0, 1 - 40 / w))
    g = np.exp(-w * (1 - np.cos(u))) * np.sin(u) ** (d - 2)
    angle = (np.arange(200) + 0.5) * np.pi / 200
    turn, weight = (np.cos(angle), np.sin(angle) ** (d - 3)) if d > 2 else (np.array([-1.0, 1.0]), np.ones(2))
    along, across = np.outer(np.cos(u), np.cos(u)), np.outer(np.sin(u), np.sin(u))
    h = sum(k * np.maximum(1 - along - across * each, 0) ** p for k, each in zip(weight, turn, strict=True))
    return float(g @ (h / weight.sum()) @ g / g.sum() ** 2)


@pytest.mark.parametrize(("d", "w"), [(2, 8.0), (2, 60.0), (3, 10.0), (5, 30.0)])
@pytest.mark.parametrize("j", [1, 3, 5])
def test_the_means_of_distances_are_between_their_bounds(d: int, w: float, j: int) -> None:
    """`Gamma_one` and `Gamma_two` of attention.v, P between its least and largest value from w on."""
    a, p = (d - 1) / 2, j / 2
    _, h, density = statements.tokens(d)
    c = math.gamma(d / 2) * 2 ** (d / 2 - 1) / math.sqrt(2 * math.pi)
    Z, one = (float((density * np.exp(-w * h) * k).sum()) for k in (1.0, h**p))
    Z, one, size = w**a * Z / c, (2 * w) ** p * one / Z, 2**p * math.gamma(a + p) / math.gamma(a)
    limits = [v**a * float((density * np.exp(-v * h)).sum()) / c for v in np.geomspace(w, 1e4, 60)]
    mean, steep, plane = (a + p) / (2 * w), max(a - 1, 1), float(d == 2)
    beyond = plane * 2 * math.sqrt(2) * (2 * w) ** (a + p) * math.exp(-w) / math.gamma(a + p)
    low, high = size * (1 - steep * mean), size * (1 + plane * 4 / 3 * mean + beyond)
    assert low * (1 - 1e-6) <= Z * one <= high  # equal at d = 5, up to e^-w
    two, slopes = Z**2 * (2 * w) ** p * between_pairs(d, w, p), 1 + steep + max(a + p - 1, 1) / 2
    assert 2**p * size * (1 - slopes * mean) * min(*limits, 1.0) <= 1.001 * two
    rest = 4**p * w ** (2 * a + p) * math.exp(-w) / c**2
    assert 0.999 * two <= 2**p * size * (1 + plane * 4 / 3 * mean) * max(*limits, 1.0) + rest


@pytest.mark.parametrize(("d", "n"), [(1, 2), (2, 6), (3, 20), (4, 40)])
def test_the_facts_about_the_best_readout_are_true(d: int, n: int) -> None:
    """`Majorised`, `Tangent` and `Independent` of transformers.v, from tokens that are drawn and exact moments."""

    def normal(k: int) -> int:
        """E g^k for even k."""
        return math.prod(range(1, k, 2))

    @cache
    def fourth(n: int, j: int) -> int:
        """E (sum g^4)^j for n normal numbers g."""
        if n == 0:
            return int(j == 0)
        return sum(math.comb(j, i) * normal(4 * i) * fourth(n - 1, j - i) for i in range(j + 1))

    def share(j: int) -> float:
        """E n^{j+2} sum u^6 (sum u^4)^j for u uniform on the sphere."""
        mixed = n * sum(math.comb(j, i) * normal(4 * i + 6) * fourth(n - 1, j - i) for i in range(j + 1))
        return n ** (j + 2) * mixed / math.prod(n + 2 * i for i in range(2 * j + 3))

    (body,) = re.findall(r"^Definition p .*? := (.*)\.$", coq.library("algebra"), re.MULTILINE)
    majorant = [formula(each) for each in re.findall(r"\((- \(\d+ / \d+\)|\d+(?: / \d+)?)\) \* y", body)]
    assert len(majorant) == 5
    x = np.random.default_rng(3).standard_normal((20000, n, d))
    g = x[:, :, 0]
    q = float(((g**3).sum(1) ** 2 / ((g**2).sum(1) * (g**4).sum(1))).mean())
    basis = np.linalg.qr(x)[0]
    cosine = float((np.einsum("cnd,cn->cd", basis, g**2) ** 2).sum(1) @ (1 / (g**4).sum(1))) / len(g)
    error = 0.02 * n * q
    assert 2 / 3 * share(0) - 1 / 9 * share(1) <= n * q + error
    if n >= 6:
        assert n * q - error <= sum(c * share(j) for j, c in enumerate(majorant))
    assert cosine == pytest.approx(q + (1 - q) * (d - 1) / (n - 1), rel=0.02)


@pytest.mark.parametrize(("name", "n", "w"), [("clip-3", 60, 6.0), ("beside-2", 60, 10.0), ("step-2", 60, 10.0)])
def test_the_facts_about_a_variogram_are_true_of_attention(name: str, n: int, w: float) -> None:
    """`By_variogram`, its limit, and Jensen and Laplace for one token and for pairs, from contexts that are drawn."""
    random, data = np.random.default_rng(5), proof(name)
    links: dict[str, Any] = {
        "clip-3": lambda z: np.clip(z, -0.5, 0.5),
        "beside-2": lambda z: abs(z - 0.5),
        "step-2": lambda z: (z > 0.5) * 1.0,
    }
    d, f = data["d"], links[name]
    k = {key: float(value) for lemma in data["lemmas"] for key, value in lemma["constants"].items()}
    powers = [j for j in (1, 2, 3, 4, 5) if f"c{j}_low" in k]

    def drawn(tokens: int) -> dict[str, float]:
        """Means of the quantities over contexts."""
        q, x, t = (random.standard_normal((2000, m, d)) for m in (1, 1, tokens))
        q, x, t = (each / np.linalg.norm(each, axis=2, keepdims=True) for each in (q, x, t))
        h, apart = 1 - (t * x).sum(2), np.maximum(1 - t @ t.transpose(0, 2, 1), 0)
        A = np.exp(-w * h)
        A /= A.sum(1, keepdims=True)
        values = {"B": (A * (f((q * t).sum(2)) - f((q * x).sum(2)))).sum(1) ** 2}
        for j in {2, *powers}:
            values[f"V{j}"] = (A * h ** (j / 2)).sum(1)
            values[f"P{j}"] = np.einsum("ci,cij,cj->c", A, apart ** (j / 2), A)
        return {key: float(value.mean()) for key, value in values.items()}

    here, half = drawn(n), drawn((n + 1) // 2)
    _, h, p = statements.tokens(d)
    g = p * np.exp(-w * h)
    mu, double = float(g.sum()), float((p * np.exp(-2 * w * h)).sum())
    one = {j: float((g * h ** (j / 2)).sum()) / mu for j in powers}
    two = {j: between_pairs(d, w, j / 2) for j in powers}
    D, T, y = w * float((g * h).sum()) / mu, n * mu**2 / double, n * mu
    assert T >= 6
    cut = math.exp(-(T - 1) / 4)
    J0, J2 = kernel(0, 1, T, T), kernel(1, 2, T, T)
    below = k["A_low"] * (D / w) ** 2
    above = max(k["A_high"], 0) * (2 * here["V2"] - here["P2"])
    for j in powers:
        below += 2 ** (j / 2) * (k[f"c{j}_low"] * one[j] - k[f"c{j}_high"] * two[j] / 2)
        above += 2 ** (j / 2) * (k[f"c{j}_high"] * here[f"V{j}"] - k[f"c{j}_low"] * here[f"P{j}"] / 2)
        assert one[j] / (1 + 1 / y) <= 1.02 * here[f"V{j}"]
        assert here[f"V{j}"] <= 1.02 * (J0 * one[j] + 2 * cut * half[f"V{j}"])
        assert two[j] * (1 - 1 / n) / (1 + 2 / y) ** 2 <= 1.02 * here[f"P{j}"]
        assert here[f"P{j}"] <= 1.02 * (J2 * two[j] + 5 * cut * half[f"P{j}"])
        assert here[f"P{j}"] <= 2 * max(2 ** (j - 1), 1) * here[f"V{j}"]
    assert below / (1 + 1 / y) ** 2 <= 1.1 * here["B"]
    assert here["B"] <= 1.1 * above
