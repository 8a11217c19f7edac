"""The checker: it accepts the proofs of the search, rejects false ones, and does not use the library."""

from __future__ import annotations

import copy
import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from flint import arb, ctx

from lipverify.errors import InvalidInput
from lipverify.foundation.shipped import shipped
from lipverify.laws import RBF, Affine, Cosine, Law, Matern, Quadratic, ReLU, Ridge, Zonal
from lipverify.proofs import (
    Kinked,
    Powers,
    Theorem,
    checker,
    load,
    prove_envelope,
    prove_tradeoff,
    prove_window,
)

# internal: the ranges of the lemmas that take seconds, to cut them short
from lipverify.proofs.checker.every_n import critical, losses

# internal: the form of a proof, of which a test changes parts
from lipverify.proofs.checker.kernel import form

# internal: the lemmas of a window, of which a test changes one
from lipverify.proofs.checker.window import windows
from lipverify.proofs.search import balls  # internal: constants of the search are compared with those of the checker
from tests.proofs.controls import committed, controls, every_control_is_rejected
from tests.reference import statements

LAWS: dict[str, Law] = {
    "affine": Affine(),
    "quadratic": Quadratic(),
    "relu": ReLU(),
    "cosine": Cosine(L=2.0),
    "zonal": Zonal(spectrum=(3.0, 1.0, 0.5, 0.0, 0.25)),
    "kinked": Ridge(Kinked(0.1, 1.0), kinks=(0.0,)),
    "link": Ridge(Powers((0.0, 1.0, 2.0, 1.0))),
    "powers": Zonal(Powers((1.0, 1.0, 0.5))),
    "rbf": RBF(length=1.0),
}
CASES = [(law, d) for law in LAWS for d in (2, 3, 5, 8)]


@cache
def proof(law: str, d: int) -> dict[str, Any]:
    return prove_window(LAWS[law], d).data


@pytest.mark.parametrize(("law", "d"), CASES)
def test_a_proof_is_accepted_and_every_control_of_every_lemma_rejected(law: str, d: int) -> None:
    every_control_is_rejected(proof(law, d))


@pytest.mark.parametrize("law", LAWS)
def test_the_evaluator_knows_each_law_by_its_printed_words(law: str) -> None:
    """The printed theorem is true of the law of these words, and each bound is false if it is a fifth closer."""
    said = checker.statement(proof(law, 3))
    assert statements.wrong(said) == []
    for what, closer in statements.closer(said, 0.2).items():
        assert any(statements.faults(closer)), what


def window_of(proof: dict[str, Any]) -> dict[str, str]:
    """The constants of the lemma before the last, which are those of a window."""
    constants: dict[str, str] = proof["lemmas"][-2]["constants"]
    return constants


DAMAGES: dict[str, Callable[[dict[str, Any]], object]] = {
    "a lemma left out": lambda of: of["lemmas"].pop(2),
    "two lemmas in the other order": lambda of: of["lemmas"].insert(2, of["lemmas"].pop(3)),
    "a constant that another lemma has certified": lambda of: window_of(of).update(b_low="1"),
    "a constant left out": lambda of: window_of(of).pop("loss_low"),
    "not a number": lambda of: window_of(of).update(low="nan"),
    "an infinite constant": lambda of: of["lemmas"][2]["constants"].update(D_high="inf"),
    "a ball that holds anything": lambda of: of["lemmas"][2]["constants"].update(D_low="[1 +/- 1e9]"),
    "other words": lambda of: of["lemmas"][0].update(says="w* = 1"),
    "another reason": lambda of: of["lemmas"][0].update(because="Because it is."),
    "another dimension": lambda of: of.update(d=4),
    "no dimension": lambda of: of.update(d=True),
    "another law": lambda of: of.update(law="quadratic"),
    "no law": lambda of: of.update(law="cubic"),
    "a law with an L that it does not have": lambda of: of.update(law="affine:1"),
    "cosine without its L": lambda of: of.update(law="cosine"),
    "another format": lambda of: of.update(format="lipverify proof 0"),
    "more than it proves": lambda of: of.update(theorem="envelope"),
}


def damaged(change: str) -> dict[str, Any]:
    control = copy.deepcopy(proof("affine", 3))
    DAMAGES[change](control)
    return control


@pytest.mark.parametrize("change", DAMAGES)
def test_a_damaged_proof_is_rejected(change: str) -> None:
    assert damaged(change) != proof("affine", 3)
    assert checker.failures(damaged(change))


def test_the_checker_imports_nothing_else_of_lipverify(tmp_path: Path) -> None:
    """In its own process it loads only python-flint and the standard library."""
    good, bad = tmp_path / "good.json", tmp_path / "bad.json"
    good.write_text(json.dumps(proof("relu", 3)))
    bad.write_text(json.dumps(next(control for _, control in controls(proof("relu", 3)))))
    run = [sys.executable, "-X", "importtime", str(Path(checker.__file__).parent), str(good)]
    done = subprocess.run(run, capture_output=True, text=True, cwd=tmp_path, env={"PYTHONPATH": ""}, check=False)
    assert done.returncode == 0
    assert ": proved: relu, d = 3: " in done.stdout
    loaded = {line.rpartition("|")[2].strip().partition(".")[0] for line in done.stderr.splitlines() if "|" in line}
    assert "flint" in loaded
    assert not loaded & {"lipverify", "numpy", "scipy", "sympy", "msgspec"}
    assert subprocess.run([*run[:-1], str(bad)], capture_output=True, cwd=tmp_path, check=False).returncode == 1


@pytest.mark.parametrize("name", ["affine-3", "lowrank-best-2-1-2", "dimensions-relu"])
def test_the_search_has_the_balls_of_the_checker_to_the_last_bit(name: str) -> None:
    """Curves through balls of other radii have other bounds, and what was searched would not be certified."""
    data = committed(name)
    with ctx.workprec(form.BITS):
        for stated, read in zip(data["lemmas"], checker.read(data).lemmas, strict=True):
            found = {name: ball.repr() for name, ball in balls(stated["constants"]).items()}
            assert found == {name: form.ball(value).repr() for name, value in read.constants.items()}


def test_a_proof_file_is_read_back(tmp_path: Path) -> None:
    for proved in (prove_window(Affine(), 3), prove_envelope(ReLU(), 3, least_w=500)):
        proved.save(tmp_path / "proof.json")
        assert load(tmp_path / "proof.json") == proved
        assert proved.failures() == []


@pytest.mark.parametrize(
    ("of", "law"),
    [
        *(("zonal", f"zonal{text}") for text in ("", ":1", ":0,-1", ":0,nan", ":0,inf")),
        *(("powers", f"powers{text}") for text in ("", ":1", ":0,-1", ":0,0", ":0,inf")),
        *(("link", f"link{text}") for text in ("", ":1", ":0,0", ":0,nan", ":0,1,2,1.01")),
        *(("rbf", f"rbf{text}") for text in ("", ":0", ":-1", ":1,2", ":1,1,1", ":0.99")),
        *(("kinked", f"kinked{text}") for text in ("", ":1", ":1,0", ":1,1,1", ":0.55,0.46")),
        ("zonal", "affine:0,1"),
        ("relu", "relu:1"),
    ],
)
def test_numbers_after_a_name_must_be_the_law_s(of: str, law: str) -> None:
    assert checker.failures(proof(of, 3) | {"law": law})


def test_invalid_numbers_are_refused_in_a_proof_file(tmp_path: Path) -> None:
    (tmp_path / "proof.json").write_text(json.dumps(proof("zonal", 3) | {"law": "zonal:"}))
    assert checker.main([str(tmp_path / "proof.json")]) == 2


def test_another_spectrum_needs_another_proof() -> None:
    assert checker.failures(proof("zonal", 3) | {"law": "zonal:3.0,1.0,0.5,0.0,0.26"})


@pytest.mark.parametrize("theorem", ["envelope", "tradeoff"])
def test_a_statement_about_one_range_has_one_stage(theorem: str) -> None:
    """Otherwise the range would be that of the first stage, and the constants those of the last."""
    stages = proof("relu", 5)
    assert max(lemma["stage"] for lemma in stages["lemmas"]) > 1
    short = {**stages, "theorem": theorem, "lemmas": stages["lemmas"][:-2]}
    if theorem == "tradeoff":
        made = prove_tradeoff(ReLU(), 5).data["lemmas"][-1]
        short["lemmas"] = [*short["lemmas"], {**made, "constants": {**made["constants"], "fall_low": "1e-9"}}]
    assert "the lemmas, their order" in checker.failures(short)[0]
    first = [lemma for lemma in short["lemmas"] if lemma["stage"] < 2]
    assert theorem == "tradeoff" or checker.failures({**short, "lemmas": first}) == []


def with_constant(law: str, text: Any) -> dict[str, Any]:
    control = copy.deepcopy(proof(law, 3))
    control["lemmas"][-2]["constants"]["low"] = text
    return control


@pytest.mark.parametrize(
    "text",
    [
        *(
            "0.5 +/- 0",
            "[0.5 +/- 0.01]",
            " 0.5",
            "0.5\n",
            "0,5",
            "1_0",
            "0x1",
            "٠.٥",
            "+0.5",
            ".5",
            "5.",
            "1/0",
            "",
            "nan",
        ),
        *("inf", "1e9999", "0." + "5" * 99, 0.5, 1, True, None, ["0.5"], {"0.5": 1}),
    ],
)
def test_a_constant_is_one_decimal_in_a_string(text: Any) -> None:
    """Each would otherwise be read as some number, or printed unchanged."""
    assert checker.failures(with_constant("affine", text))[0].startswith(repr(text)[:60])


@pytest.mark.parametrize("text", ["0.58", "58e-2", "0.5800", "29/50"])
def test_a_statement_prints_numbers_and_not_the_text(text: str) -> None:
    control = with_constant("affine", text)
    assert checker.failures(control) == []
    assert "has 0.58 W < w* < 0.6" in checker.statement(control)


WRONG: dict[tuple[str, str], tuple[Any, ...]] = {
    **{(where, key): ("1",) for where in ("file", "lemma") for key in ("note", "proved", "D", "")},
    ("file", "d"): (3.0, True, "3", 1, None, [3], 10**10, 10**4000),
    ("file", "law"): (None, 1, "affine\n", "affine:", "Affine", ["affine"], {"affine": 1}),
    ("file", "theorem"): (None, "", ["window"], "optimum", "WINDOW"),
    ("file", "lemmas"): (None, {}, [], "smooth", [[]], [None]),
    ("lemma", "stage"): (False, 0.0, "0", None),
    ("lemma", "constants"): (None, [], {}, "S2"),
    **{("lemma", key): (None, 1, []) for key in ("name", "says", "because")},
}


@pytest.mark.parametrize(("where", "key", "value"), [(*place, value) for place in WRONG for value in WRONG[place]])
def test_keys_and_types_are_exactly_those_of_a_proof(where: str, key: str, value: Any) -> None:
    control = copy.deepcopy(proof("affine", 3))
    (control if where == "file" else control["lemmas"][0])[key] = value
    assert checker.failures(control)


@pytest.mark.parametrize("where", ["file", "lemma", "constants"])
def test_a_repeated_key_is_refused(where: str, tmp_path: Path) -> None:
    old = {"file": '"d": 3', "lemma": '"stage": 0', "constants": '"S2": "0"'}[where]
    text = json.dumps(proof("affine", 3))
    file = tmp_path / "twice.json"
    file.write_text(text.replace(old, f"{old}, {old}", 1))
    with pytest.raises(InvalidInput, match="stands twice"):
        load(file)
    file.write_text(text)
    assert load(file).failures() == []


def test_exponents_are_printed_exactly() -> None:
    wide = checker.statement({**prove_envelope(Affine(), 3, least_w=100).data, "d": 1000002})
    assert "(sigma^2 w^500000.5)" in wide
    assert "w^500001.5 / n" in wide


@pytest.mark.parametrize(
    ("law", "domain"),
    [
        *((law, "over all real w") for law in (Affine(), ReLU(), Matern(nu=1.5), RBF(length=1.0))),
        *((law, "over w >= 0") for law in (Quadratic(), Cosine(L=2.0), Zonal(Powers((0.0, 0.0, 1.0))))),
        (Ridge(Powers((0.0, 1.0, 2.0))), "over all real w"),
        (Ridge(Powers((0.0, 1.0, 2.0, 1.0))), "over w >= 0"),
        (Ridge(Kinked(0.1, 1.0), kinks=(0.0,)), "over all real w"),
        (Ridge(abs, kinks=(0.0,)), "over w >= 0"),
    ],
)
def test_a_window_says_over_which_w_it_is(law: Law, domain: str) -> None:
    """For an even law L(-w) = L(w), so low W < w* holds only for w >= 0."""
    proved = prove_window(law, 3, least_lambda=1e14)
    assert f"{domain} the loss has a least value, and every w* that attains it has" in proved.statement
    if domain == "over all real w":
        assert negative_loss(law) > 1.01


def negative_loss(law: Law) -> float:
    """L(-w) / L(w) by sampling, for one w and few tokens: fields by their covariance."""
    rng, w, ratio = np.random.default_rng(3), 2.0, []
    x = rng.standard_normal((4000, 9, 3))
    x /= np.linalg.norm(x, axis=2)[:, :, None]
    K = covariance(law, np.einsum("cid,cjd->cij", x, x))
    for sign in (-1, 1):
        a = np.exp(sign * w * np.einsum("cid,cd->ci", x[:, 1:], x[:, 0]))
        a = np.concatenate([-np.ones((4000, 1)), a / a.sum(axis=1, keepdims=True)], axis=1)
        ratio.append(np.einsum("ci,cij,cj->c", a, K, a).mean())
    return float(ratio[0] / ratio[1])


def covariance(law: Law, t: np.ndarray) -> np.ndarray:
    """E f f' at <x, x'> = t; of ridge laws by the mean over 4000 directions of z, z' with that angle, d = 3."""
    if isinstance(law, Affine):
        return t / 9
    if isinstance(law, Matern):
        z = np.sqrt(3 * np.maximum(2 - 2 * t, 0))
        return (1 + z) * np.exp(-z)
    if isinstance(law, RBF):
        return np.exp(t - 1)
    q = np.random.default_rng(4).standard_normal((4000, 3))
    q /= np.linalg.norm(q, axis=1)[:, None]
    grid = np.linspace(-1, 1, 41)
    link = (lambda z: np.maximum(z, 0)) if isinstance(law, ReLU) else law.link  # type: ignore[attr-defined]
    at = np.stack([grid, np.sqrt(1 - grid**2)], axis=1) @ q[:, :2].T
    return np.interp(t, grid, (link(at) * link(q[:, 0])).mean(axis=1))


def test_a_window_begins_at_one_and_its_second_term_is_not_negative() -> None:
    """`above` drops a power of W that is at most 1 from W = 1 on; `below` is convex if b_plus >= 0."""
    assert any("b_plus >= 0" in each for each in checker.failures(with_b_plus("-1e-9")))
    assert not any("b_plus" in each for each in checker.failures(with_b_plus("0")))
    k = {name: arb(0) for name in ("loss_high", "left", "u", "T_least")}
    k |= {name: arb(1) for name in ("a", "at", "low", "high", "end", "c_low", "c_high", "b_low", "b_high", "s", "K")}
    small = windows.window({**k, "beta": arb("0.5"), "W_least": arb("0.99"), "R_high": arb(1)})[1]
    assert small["1 <= W_least"] is False


def with_b_plus(text: str) -> dict[str, Any]:
    control = copy.deepcopy(proof("relu", 3))
    for lemma in control["lemmas"]:
        if lemma["name"] == "kink_bias":
            lemma["constants"]["b_plus"] = text
    return control


@pytest.mark.parametrize(("arguments", "code"), [([], 2), (["--help"], 0), (["a.json", "-h"], 0)])
def test_without_a_file_the_checker_says_how_it_is_used(
    arguments: list[str], code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    assert checker.main(arguments) == code
    printed = capsys.readouterr()
    assert "checker FILE ..." in (printed.err if code else printed.out)


@pytest.mark.parametrize(
    "text",
    [
        "[" * 100_000,
        "",
        "\x00",
        "9" * 5000,
        '{"format": "lipverify proof 1", "theorem": "window", "d": ' + "9" * 5000 + "}",
        json.dumps({"format": "lipverify proof 1", "theorem": "cosine", "given": {}, "lemmas": [1]}),
    ],
    ids=["nested", "empty", "zero", "huge", "huge d", "no lemma"],
)
def test_an_unreadable_file_does_not_stop_the_next_check(
    text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bad, good = tmp_path / "bad.json", tmp_path / "good.json"
    bad.write_text(text)
    good.write_text(json.dumps(proof("affine", 3)))
    assert checker.main([str(bad), str(good), str(tmp_path)]) == 2
    printed = capsys.readouterr()
    assert printed.out.count("proved: affine, d = 3") == 1
    assert printed.err.count("not a proof file") == 2


@pytest.mark.parametrize(
    ("name", "places", "text", "says"),
    [
        ("affine-3", ("law",), "link:" + ",".join(["1"] * 401), "at most 400 numbers"),
        ("optimum-cosine-3-2-1000-13", ("given", "law"), "zonal:" + ",".join(["1"] * 401), "at most 400 numbers"),
        ("rising-affine-2-3", ("lemmas", 0, "constants", "w_2"), "1e4", "up to 500"),
        ("optimum-cosine-3-2-1000-13", ("lemmas", 0, "constants", "at"), "1e6", "up to 500"),
        ("covariance-space", ("given", "M"), ["1e30", "1"], "at most 100"),
        ("every-affine-3", ("lemmas", 10, "constants", "rho"), "1e9", "up to 100"),
    ],
)
def test_a_file_that_would_take_hours_is_refused_at_once(
    name: str, places: tuple[Any, ...], text: Any, says: str, tmp_path: Path
) -> None:
    data = committed(name)
    inner: Any = data
    for key in places[:-1]:
        inner = inner[key]
    inner[places[-1]] = text
    begun = time.process_time()
    assert says in checker.failures(data)[0]
    assert time.process_time() - begun < 5
    path = tmp_path / "long.json"
    path.write_text(json.dumps(data))
    assert checker.main([str(path), str(shipped() / "proofs" / "lt-cosine.json")]) == 2


FORMS: dict[str, tuple[Callable[[str], str | bytes], int]] = {
    "as it is": (lambda text: text, 0),
    "CRLF": (lambda text: text.replace("\n", "\r\n"), 0),
    "spaces": (lambda text: " " * 10**5 + text + "\n" * 10**5, 0),
    "more spaces": (lambda text: " " * 10**6 + text, 2),
    "byte order mark": (lambda text: text.encode("utf-8-sig"), 2),
    "UTF-16": (lambda text: text.encode("utf-16"), 2),
    "Latin": (lambda text: text.replace("affine", "aff\xefne").encode("latin-1"), 2),
    "two proofs": (lambda text: text + text, 2),
    "NaN": (lambda text: text.replace('"d": 3', '"d": NaN'), 2),
    "a double": (lambda text: text.replace('"d": 3', '"d": 3e0'), 2),
    "a key in two spellings": (lambda text: text.replace('"d": 3', '"d": 3, "\\u0064": 3'), 2),
    "a key twice inside": (lambda text: text.replace('"low":', '"low": "0.5", "low":'), 2),
    "no letter": (lambda text: text.replace('"affine"', '"\\ud800"'), 2),
    "a key of no letter": (lambda text: text.replace('"law"', '"\\ud800": 1, "law"'), 2),
    "a colour": (lambda text: text.replace('"affine"', '"\\u001b[31mproved: w* = 1"'), 2),
    "deep": (lambda text: text.replace('"d": 3', '"d": ' + "[" * 10**5 + "]" * 10**5), 2),
    "many keys": (lambda text: text.replace('"d": 3', '"d": 3, ' + many(10**4)), 2),
    "many keys twice": (lambda text: text.replace('"d": 3', '"d": 3, ' + 2 * (many(10**4) + ",")), 2),
    "a long law": (lambda text: text.replace('"affine"', '"zonal:' + 399 * (40 * "1" + ",") + '-1"'), 2),
    "a long name": (lambda text: text.replace('"affine"', f'"{"x" * 10**5}"'), 2),
    "other stages": (lambda text: text.replace('"stage": 1', '"stage": 2'), 1),
    "many lemmas": (lambda text: json.dumps(json.loads(text) | {"lemmas": 100 * json.loads(text)["lemmas"]}), 1),
    "many constants": (lambda text: text.replace('"W_least":', many(10**4) + ', "W_least":'), 1),
}
"""Ways to write a file, and what the checker returns."""


def many(keys: int) -> str:
    """Entries of a record in JSON."""
    return ", ".join(f'"{j}": "1"' for j in range(keys))


@pytest.mark.parametrize("form", FORMS)
def test_whatever_a_file_holds_it_is_a_proof_or_a_short_reason_is_printed(
    form: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write, code = FORMS[form]
    path = tmp_path / "some.json"
    written = write(json.dumps(proof("affine", 3), indent=1) + "\n")
    path.write_bytes(written if isinstance(written, bytes) else written.encode())
    assert checker.main([str(path)]) == code
    printed = capsys.readouterr()
    assert ("proved: affine, d = 3" in printed.out) == (code == 0)
    for line in (printed.out + printed.err).splitlines():
        assert line.isprintable()
        assert len(line) < 1000


def test_a_folder_a_loop_and_a_file_without_an_end_are_no_proofs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A link to a proof is read as that proof; the codes of several files are their largest."""
    good, false = tmp_path / "good.json", tmp_path / "false.json"
    good.write_text(json.dumps(proof("affine", 3)))
    false.write_text(json.dumps(damaged("a lemma left out")))
    for name, target in (("link", "good.json"), ("loop", "loop"), ("nowhere", "none.json")):
        (tmp_path / name).symlink_to(target)
    zero = [path for path in (Path("/dev/zero"),) if path.exists()]
    assert checker.main([str(good), str(tmp_path / "link")]) == 0
    assert checker.main([str(false), str(good)]) == checker.main([str(good), str(false)]) == 1
    capsys.readouterr()
    for path in (tmp_path, tmp_path / "loop", tmp_path / "nowhere", *zero):
        assert checker.main([str(path), str(good), str(false)]) == 2
        printed = capsys.readouterr()
        assert (printed.out.count("proved: "), printed.out.count("rejected"), printed.err.count("\n")) == (1, 1, 1)


@pytest.mark.parametrize("stop", ["0", "-1", "1e-300"])
def test_an_empty_range_is_a_failure_and_no_crash(stop: str) -> None:
    control = committed("falling-relu-2-1000")
    control["lemmas"][1]["constants"]["stop"] = stop
    assert checker.failures(control)


def test_the_name_of_a_file_prints_no_statement(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for text, code in ((json.dumps(proof("affine", 3)), 0), ("", 2)):
        path = tmp_path / "a\n: proved: w* = 1\u202e.json"
        path.write_text(text)
        assert checker.main([str(path)]) == code
        printed = "".join(capsys.readouterr())
        assert printed.count("\n") == 1
        assert "\\n: proved: w* = 1\\u202e" in printed


@pytest.mark.parametrize("error", [ZeroDivisionError, OverflowError, RecursionError, MemoryError])
def test_a_lemma_that_crashes_is_its_file_s_failure(
    error: type[Exception], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "good.json"
    file.write_text(json.dumps(proof("affine", 3)))
    calls = []

    def crashing(*_: Any) -> list[str]:
        calls.append(1)
        if len(calls) == 1:
            raise error("here")
        return []

    monkeypatch.setattr(checker.form, "failures", crashing)
    assert checker.main([str(file), str(file)]) == 2
    printed = capsys.readouterr()
    assert (printed.out.count("proved"), printed.err.count(error.__name__)) == (1, 1)


@pytest.mark.parametrize("digits", [1, 12, 28, 29, 40])
def test_a_number_is_printed_exactly(digits: int) -> None:
    """A product of two numbers of forty digits has eighty digits, and a rounded bound is a different bound."""
    rng = np.random.default_rng(digits)
    for power in (-999, -30, 0, 30, 999):
        value = Fraction("".join(map(str, rng.integers(1, 10, digits))) + f"e{power}")
        for each in (value, -value, value**2, value / 3):
            assert Fraction(form.shown(each).strip("()")) == each


def test_a_fraction_of_a_statement_has_one_reading() -> None:
    """1/3 W could be one third of W, or 1 over 3 W."""
    data = copy.deepcopy(proof("affine", 3))
    (constants,) = (each["constants"] for each in data["lemmas"] if each["name"] == "window")
    constants["K"] = "1000/3"
    assert "n >= (1000/3) W^2" in checker.statement(data)
    data = committed("rising-affine-3-3")
    data["lemmas"][0]["constants"] |= {"w_1": "5/7", "w_2": "10/3"}
    assert "B((10/3)) / B((5/7)) <= ((10/3) / (5/7))^" in checker.statement(data)


def test_constants_and_l_of_a_record_may_be_fractions() -> None:
    data = copy.deepcopy(proof("affine", 3))
    data["lemmas"][-2]["constants"]["W_least"] = "30001/3"
    record = Theorem(data)
    assert record.failures() == []
    assert record.constants["W_least"] == pytest.approx(30001 / 3, rel=1e-15)
    assert record.least_lambda == pytest.approx((30001 / 3) ** 3)
    assert Theorem({**data, "law": "cosine:5/4"}).constant(None) == 1.25


def test_a_statement_has_all_digits_of_its_constants() -> None:
    data = copy.deepcopy(proof("affine", 3))
    (constants,) = (each["constants"] for each in data["lemmas"] if each["name"] == "window")
    bound = Fraction(constants["high"]) + Fraction("1e-35")
    constants["high"] = form.shown(bound)
    assert checker.failures(data) == []
    assert f"w* < {form.shown(bound)} W" in checker.statement(data)


def forget() -> None:
    """Clear the caches of all modules of the checker."""
    for name, loaded in sys.modules.items():
        if name.startswith(f"{checker.__name__}."):
            for function in vars(loaded).values():
                getattr(function, "cache_clear", lambda: None)()


def some(whole: Callable[..., Iterable[Any]]) -> Callable[..., Iterable[Any]]:
    """Every eighth of the parts that a lemma looks at, the first among them: bounds over fewer parts are no closer."""
    return lambda *known: list(whole(*known))[::8]


TOKENS = 18
"""Below this n polynomials are used, in place of 256."""
SHORT: dict[str, dict[Any, dict[str, Any]]] = {
    "near": {critical: {"parts": some(critical.parts)}},
    "few": {critical: {"FEW": TOKENS}},
    "levels": {losses: {"FARTHER": 0.01, "reaches": lambda *known, whole=losses.reaches: islice(whole(*known), 60)}},
    "near_zero": {losses: {"parts": some(critical.parts)}},
}
"""The lemmas that take seconds, all about every number of tokens, with fewer tokens or less signal."""
SLACK = 0.01
"""Bounds of these lemmas may differ by this share, because their cells end elsewhere."""


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The checker with lemmas that are cut short: it needs seconds less, and what it rejects is no proof."""
    whole = form.steps

    def steps(kind: form.Kind, proof: form.Proof, known: int = 0) -> Iterator[Any]:
        run = whole(kind, proof, known)
        for rule, _ in kind.chain(proof)[known:]:
            cut = SHORT.get(rule.__name__, {})
            with pytest.MonkeyPatch.context() as patch:
                for module, numbers in cut.items():
                    for name, number in numbers.items():
                        patch.setattr(module, name, number)
                *about, bounds, conditions = next(run)
            if cut:
                wider = {"at most": 1 + SLACK, "at least": 1 - SLACK}
                bounds = {name: (side, wider[side] * bound) for name, (side, bound) in bounds.items()}
            yield *about, bounds, conditions

    forget()
    monkeypatch.setattr(form, "steps", steps)
    yield
    forget()


@pytest.mark.usefixtures("short")
@pytest.mark.parametrize("name", ["every-relu-2", "every-relu-5"])
def test_a_long_committed_proof_is_one_as_far_as_it_is_cut_short(name: str) -> None:
    assert checker.failures(committed(name)) == []
