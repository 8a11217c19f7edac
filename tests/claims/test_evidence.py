"""A grade is made from what a function returned and from what ran, and its reasons say so."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import msgspec
import pytest

from lipverify.claims.ledger import Ledger, Record
from lipverify.claims.run import run
from lipverify.claims.run.audit import audit, sealed
from lipverify.errors import InvalidInput
from lipverify.export import export_ledger
from tests.toys import claims_in

FALSE = {
    "a prime at eight points": """
        def misses(m, add=41):
            p = m * m - m + add
            return (0.0 if all(p % q for q in range(2, p)) else 1.0), 0.0

        claim("mine.false", identity(misses, "\\\\text{a factor of } m^2 - m + 41", control={"add": 40}),
              over={"m": (1, 2, 3, 4, 5, 6, 7, 8)}, title="m^2 - m + 41 is prime for every m", SOURCE)
    """,
    "a cubic at its roots": """
        def product(m, more=0):
            return m * (m - 1) * (m - 2) + more, 0

        claim("mine.false", identity(product, "m (m - 1) (m - 2)", control={"more": 1}), over={"m": (0, 1, 2)}, SOURCE)
    """,
    "a cubic at its roots, exactly": """
        from fractions import Fraction

        def product(m, more=0):
            return Fraction(m * (m - 1) * (m - 2) + more)

        claim("mine.false", identity(product, "m (m - 1) (m - 2)", control={"more": 1}), over={"m": (0, 1, 2)},
              statement="m (m - 1) (m - 2) = 0 \\\\quad \\\\forall m", SOURCE)
    """,
    "push-through on four random matrices": """
        import numpy as np

        def apart(seed_of, wrong=0.0):
            X = np.random.default_rng(seed_of).normal(size=(5, 3))
            left = np.linalg.solve(X.T @ X + np.eye(3), X.T)
            right = X.T @ np.linalg.inv(X @ X.T + (1 + wrong) * np.eye(5))
            return float(np.abs(left - right).max()), 1e-12

        claim("mine.false", identity(apart, "push-through", control={"wrong": 0.1}), over={"seed_of": (1, 2, 3, 4)},
              title="the push-through identity holds for every matrix", SOURCE)
    """,
}
EXACT = {
    "an expression of SymPy": ("symbolic", ("x", "y"), """
        import sympy

        def difference(wrong=0):
            x, y = sympy.symbols("x y")
            return (x + y) ** 2 - x**2 - 2 * x * y - y**2 - wrong * x
    """),
    "an expression of symbols with assumptions": ("symbolic", ("integer k", "x > 0"), """
        import sympy

        def difference(wrong=0):
            x, k = sympy.Symbol("x", positive=True), sympy.Symbol("k", integer=True)
            return (x + k) ** 2 - x**2 - 2 * x * k - (1 + wrong) * k**2
    """),
    "an expression that SymPy must simplify": ("symbolic", ("d > 0",), """
        import sympy

        def difference(wrong=0):
            d = sympy.Symbol("d", positive=True)
            return sympy.gamma(d / 2 + 1) - (d + wrong) / 2 * sympy.gamma(d / 2) + sympy.erf(d) + sympy.erf(-d)
    """),
    "a matrix of SymPy": ("symbolic", ("a", "b"), """
        import sympy

        def difference(wrong=0):
            a, b = sympy.symbols("a b")
            M = sympy.Matrix([[a + b, 1], [1, a - b]])
            return sympy.Matrix([M.det() - a**2 + b**2 + 1, (a + b) * (a - b) - a**2 + b**2 + wrong]), 0
    """),
    "a fraction": ("fraction", (), """
        from fractions import Fraction

        def difference(wrong=0):
            return Fraction(1, 3) + Fraction(2, 3) - 1 - wrong
    """),
    "a rational of python-flint": ("fraction", (), """
        from flint import fmpq

        def difference(wrong=0):
            return fmpq(1, 3) + fmpq(2, 3) - 1 - wrong
    """),
    "a number computed from a theorem": ("computed", (), """
        from lipverify.claims import proved_window

        def difference(wrong=0):
            window = proved_window("affine", 2).fact("window exponent")
            return window - window - wrong
    """),
    "a fraction of a text": ("fraction", (), """
        from fractions import Fraction

        def difference(wrong=0):
            return Fraction(str(0.5)) - Fraction(1, 2) - wrong
    """),
    "a ball without a radius": ("ball", (), """
        from flint import arb

        def difference(wrong=0):
            return arb(0.0) + wrong
    """),
}  # fmt: skip
NOT_EXACT = {
    "a float that is 0": "return 0.0, 0.0",
    "a whole number": "return 0, 0",
    "NumPy's whole number": "import numpy as np; return np.int64(0), 0",
    "a truth value in a list": "return [False + 0, 0]",
    "SymPy's float": "import sympy; return sympy.Float(0.0)",
    "a quotient of zeros": "import sympy; x = sympy.Symbol('x'); e = (x + 1)**2 - x**2 - 2*x - 1; "
    "return sympy.Mul(e, 1 / e, evaluate=False) - 1",
    "a quotient of what is 0 for x >= 0": "import sympy; x = sympy.Symbol('x'); e = sympy.sqrt(x**2) - x; "
    "return sympy.Mul(e, 1 / e, evaluate=False) - 1",
    "a matrix of nothing": "import sympy; return sympy.Matrix(0, 0, [])",
    "what SymPy cannot decide": "import sympy; x = sympy.Symbol('x'); return sympy.sqrt(x**2) - sympy.Abs(x)",
    "a ball of infinite radius": "from flint import arb; return arb('0 +/- inf')",
}
SOURCE = 'source=("Notes", "1", "p"), kind="derived"'


def ledger_of(tmp_path: Path, text: str) -> Ledger:
    head = "import lipverify as lv\nfrom lipverify.claims import agree, bound, claim, exponent, identity\n"
    return run(claims_in(tmp_path, head + dedent(text).replace("SOURCE", SOURCE)), jobs=0)


def record_of(tmp_path: Path, text: str) -> Record:
    [record] = ledger_of(tmp_path, text).claims
    assert record.verdict != "error", record.problem
    return record


@pytest.mark.parametrize("what", FALSE)
def test_a_claim_false_elsewhere_is_not_proved(what: str, tmp_path: Path) -> None:
    ledger = ledger_of(tmp_path, FALSE[what])
    [record] = ledger.claims
    assert (record.verdict, record.grade) == ("supported", "exact" if "exactly" in what else "estimated")
    assert "every" not in record.range
    export_ledger(ledger, tmp_path, ["tex"])
    assert "proved" not in (tmp_path / "theorems.tex").read_text()


@pytest.mark.parametrize("what", EXACT)
def test_an_exact_result_is_exact_and_not_proved(what: str, tmp_path: Path) -> None:
    form, symbols, function = EXACT[what]
    record = record_of(
        tmp_path, f'{dedent(function)}\nclaim("mine.exact", identity(difference, "D", control={{"wrong": 1}}), SOURCE)'
    )
    [cell] = record.cells
    assert (record.verdict, record.grade, cell.grade) == ("supported", "exact", "exact")
    assert (cell.basis.returned.form, cell.basis.returned.symbols) == (form, symbols)
    assert "rests on its author" in cell.reasons[0]
    assert record.range == (f"for every {', '.join(symbols)}" if symbols else "in the one case measured")


SIMPLIFIED = """
    import sympy

    def difference(power=2):
        d, n = sympy.symbols("d n", positive=True)
        return sympy.simplify((d + n) ** power - d**2 - 2 * d * n - n**2){}

    claim("mine.square", identity(difference, "D", control={{"power": 3}}), SOURCE, forall={})
"""


def test_a_range_that_simplification_lost_is_said_with_the_way_out(tmp_path: Path) -> None:
    record = record_of(tmp_path, SIMPLIFIED.format("", "()"))
    assert (record.verdict, record.range) == ("supported", "in the one case measured")
    assert "without symbols and so for no range" in record.cells[0].reasons[0]
    assert "before it is simplified" in record.cells[0].reasons[0]
    for end, forall, way_out in (("", '("d", "n")', "before it is simplified"), (" == 0", "()", "lhs - rhs")):
        [broken] = ledger_of(tmp_path, SIMPLIFIED.format(end, forall)).claims
        assert broken.verdict == "error"
        assert way_out in broken.problem


def test_an_expression_is_not_refuted_where_an_assumption_on_a_symbol_fails(tmp_path: Path) -> None:
    text = """
        import sympy

        def difference(wrong=0):
            x = sympy.Symbol("x", negative=True)
            return sympy.sqrt(x**2 - 2 * x + 1) + x - 1 + wrong  # 0, and 4 at x = 3

        claim("mine.root", identity(difference, "D", control={"wrong": 1}), SOURCE)
    """
    assert record_of(tmp_path, text).verdict == "inconclusive"


def test_a_ball_inside_the_allowed_range_is_exact(tmp_path: Path) -> None:
    function = "from flint import arb\ndef root():\n    return arb(2).sqrt()\n"
    record = record_of(tmp_path, f'{function}claim("mine.root", bound(root, "r", low=1.4, truth="2**(1/2)"), SOURCE)')
    [cell] = record.cells
    assert (cell.grade, cell.method, cell.basis.returned.form) == ("exact", "certified", "ball")
    assert 0 < (cell.error or 0) < 1e-14


THEOREM = """
    from fractions import Fraction
    from lipverify.claims import proved_window
    from lipverify.proofs import Fact

    def window(d, law="affine"):
        proof = proved_window("affine", 3)
        return {what}

    claim("mine.window", bound(window, r"{quantity}", {bounds}), over={{{over}}}, {more} SOURCE)
"""
IN, OUT = "low=0.5, high=0.7, control=dict(low=0.65, high=0.7)", "equals=7, within=0.1"


@pytest.mark.parametrize(
    ("what", "quantity", "over", "grade"),
    [
        ('proof.fact("window")', "w^* / W", '"d": 3', "proved"),
        ('{"": proof.fact("window")}', "w^*/W", '"d": (3,), "law": "affine"', "proved"),
        ('proof.fact("window")', "w^*", '"d": 3', "exact"),
        ('proof.fact("window")', "w^* / W", '"d": (3, 5)', "exact"),
        ('proof.fact("window")', "w^* / W", '"d": 3, "law": "relu"', "exact"),
        ('proof.fact("window") * 1', "w^* / W", '"d": 3', "exact"),
        ('proof.fact("loss") * 0 + Fraction(6, 10)', "w^* / W", '"d": 3', "exact"),
        ('Fact((proof,), Fraction(6, 10), Fraction(6, 10), "window", "w^* / W")', "w^* / W", '"d": 3', "exact"),
        ("0.6, 0.02", "w^* / W", '"d": 3', "estimated"),
    ],
)
def test_only_the_number_that_a_theorem_states_is_proved(
    what: str, quantity: str, over: str, grade: str, tmp_path: Path
) -> None:
    text = THEOREM.format(what=what, quantity=quantity, over=over, bounds=IN, more="")
    record = record_of(tmp_path, text)
    assert (record.verdict, record.grade) == ("supported", grade)
    if grade == "proved":
        [theorem] = record.cells[0].basis.returned.theorems
        assert theorem.sentence.startswith("affine, d = 3: over all real w")
        assert (theorem.fact, theorem.quantity) == ("window", "w^* / W")


def test_a_number_typed_over_a_proof_is_no_number_of_it(tmp_path: Path) -> None:
    text = THEOREM.format(what='Fact((proof,), Fraction(7), Fraction(7), "window", "w^* / W")', quantity="w^* / W",
                          over='"d": 3', bounds=OUT, more="")  # fmt: skip
    record = record_of(tmp_path, text)
    assert (record.verdict, record.grade) == ("supported", "exact")
    assert record.cells[0].basis.returned.theorems[0].fact == ""


@pytest.mark.parametrize(
    ("forall", "left_out"),
    [
        ('("large n", "L", "sigma > 0")', ""),
        ('"large n"', ""),
        ('("n", "L")', "what breaks W >= 10000"),
        ('"sigma"', "sigma = 0"),
        ('("large n", "sigma")', "sigma = 0"),
        ('("large n", "d")', "all d but the listed ones"),
        ('("large n", "kappa")', "all kappa but the listed ones"),
        ('("large n", "n >= 2")', "n"),
        ('("large n", "n")', "n"),
        ('"every n"', "in no condition of the evidence"),
        ('"n >= 1/0"', "in no condition of the evidence"),
        ('" n"', "in no condition of the evidence"),
        ('"L <= sigma"', "in no condition of the evidence"),
        ('("n >= 100 W^2", "W > 9999.9999999999", "L", "sigma > 0")', "W = "),
    ],
)
def test_a_declared_range_is_refused_unless_the_evidence_covers_it(forall: str, left_out: str, tmp_path: Path) -> None:
    text = THEOREM.format(
        what='proof.fact("window")', quantity="w^* / W", over='"d": 3', bounds=IN, more=f"forall={forall},"
    )
    [record] = ledger_of(tmp_path, text).claims
    assert record.verdict == ("error" if left_out else "supported")
    assert left_out in record.problem
    if not left_out:
        assert record.range.startswith("for every large n")


@pytest.mark.parametrize(
    ("forall", "problem"),
    [
        ('"x"', ""),
        ('"x >= 2"', ""),
        ('("x > 0", "y")', ""),
        ('"z"', "all z but the listed ones"),
        ('"k"', "k = 1"),
        ('"m"', "m that are no integers"),
        ('"integer m"', ""),
        ('"w >= -5"', "w = "),
    ],
)
def test_the_symbols_of_an_expression_cover_what_they_may_be(forall: str, problem: str, tmp_path: Path) -> None:
    text = f"""
        import sympy

        def difference(wrong=0):
            x, y, k = sympy.Symbol("x"), sympy.Symbol("y", real=True), sympy.Symbol("k", negative=True)
            m, w = sympy.Symbol("m", integer=True), sympy.Symbol("w", nonnegative=True)
            return (x + y) * k + (m + 1) * w - m * w - w - x * k - (1 + wrong) * y * k

        claim("mine.exact", identity(difference, "D", control={{"wrong": 1}}), forall={forall}, SOURCE)
    """
    [record] = ledger_of(tmp_path, text).claims
    assert (record.verdict == "error") == bool(problem)
    assert problem in record.problem


def test_an_argument_by_hand_is_named_and_never_proved(tmp_path: Path) -> None:
    text = """
        from fractions import Fraction

        def value(n):
            return Fraction(1, n)

        def measured(n):
            return 1 / n, 1e-9

        for name, function in (("steps", value), ("points", measured)):
            claim(f"mine.{name}", bound(function, "v", high=1, truth="1/n"), over={"n": (2, 3)},
                  forall="n >= 2", by_hand="notes.md#one", SOURCE)
    """
    steps, points = ledger_of(tmp_path, text).claims
    assert (steps.grade, points.grade) == ("by hand", "estimated")
    assert points.range == "at n = 2, 3; by hand for every n ≥ 2"
    assert points.by_hand == "notes.md#one"


@pytest.mark.parametrize("what", NOT_EXACT)
def test_an_inexact_result_is_not_proved(what: str, tmp_path: Path) -> None:
    function = f"def difference(wrong=0):\n    if wrong: return 1.0, 0.0\n    {NOT_EXACT[what]}\n"
    [record] = ledger_of(
        tmp_path, f'{function}claim("mine.exact", identity(difference, "D", control={{"wrong": 1}}), SOURCE)'
    ).claims
    assert record.grade in ("estimated", None), record
    assert all(cell.grade == "estimated" for cell in record.cells)


WINDOW = """
    def window(d):
        best = lv.optimal_window(lv.Problem(d=d, n=1000, law=lv.laws.Affine(), sigma=1.0))
        {body}

    claim("mine.window", bound(window, "w^*", high=100.0, control=1.0, {how}), over={{"d": 3}}, SOURCE)
"""


@pytest.mark.parametrize(
    ("body", "how", "grade"),
    [
        ("return best.w, best.w_error", "", "bounded"),
        ("return best", 'of="w"', "bounded"),
        ("return {'w': best.w, 'w_error': best.w_error}", 'of="w"', "bounded"),
        ("return best.w, 2 * best.w_error", "", "bounded"),
        ("return best.w, 1e-3 * best.w", "", "bounded"),
        ("return best.w, best.w_error / 2", "", "estimated"),
        ("return best.w * (1 + 1e-15), best.w_error", "", "estimated"),
        ("return best.w, 1e-17 * best.w", "", "estimated"),
        ("return best.w, best.w_error / 2", 'method="exact"', "estimated"),
        ("return float(f'{best.w!r}'), best.w_error", "", "estimated"),
        ("return 3.5, best.w_error", "", "estimated"),
        ("from fractions import Fraction; return Fraction(str(best.w))", "", "exact"),
        ("from fractions import Fraction; return Fraction(int(best.w * 1e4), 10**4)", "", "exact"),
        ("import sympy; return sympy.Rational(f'{best.w:.5}')", "", "exact"),
        ("from flint import arb; return arb(best.w, best.w_error)", "", "exact"),
        ("import sympy; return sympy.Rational(str(best.w))", "", "exact"),
        ("return 2 * best.w, 2 * best.w_error", "", "estimated"),
        ("return 2 * best.w, 2 * best.w_error", 'method="exact"', "bounded"),
        ("return best.w, best.w_error", 'method=(None, "observed")', "observed"),
    ],
)
def test_a_number_of_the_library_is_bounded_and_one_that_was_altered_is_not(
    body: str, how: str, grade: str, tmp_path: Path
) -> None:
    record = record_of(tmp_path, WINDOW.format(body=body, how=how))
    assert record.grade == grade
    assert ("inexact methods of lipverify ran" in record.cells[0].reasons[0]) == (grade == "exact")


@pytest.mark.parametrize(("link", "grade"), [("np.tanh(z)", "bounded"), ("np.sort(np.tanh(z))", "estimated")])
@pytest.mark.parametrize("how", ["", 'method="exact"'])
def test_a_law_without_error_bounds_gives_estimates(link: str, grade: str, how: str, tmp_path: Path) -> None:
    text = f"""
        import numpy as np

        def link(z):
            return {link}

        def loss(d):
            terms = lv.loss_terms(lv.Problem(d=d, n=100, law=lv.laws.Ridge(link), sigma=1.0), 2.0)
            return terms

        claim("mine.loss", bound(loss, "L", of="total", high=5, control=1e-4, {how}), over={{"d": 3}}, SOURCE)
    """
    assert record_of(tmp_path, text).grade == grade


@pytest.mark.parametrize(
    ("expression", "allowed", "verdict"),
    [
        ("x", "high=5, control=1", "inconclusive"),  # 3 is allowed, and 7 is not
        ("1 / (x - 2)", "low=-5, control=100", "inconclusive"),
        ("x", "equals=3, within=0.1, control=50", "inconclusive"),
        ("x - x + 3", "high=5, control=1", "supported"),
        ("x", "high=-1, control=-2", "refuted"),
    ],
)
def test_one_value_of_an_expression_supports_nothing_for_all_of_them(
    expression: str, allowed: str, verdict: str, tmp_path: Path
) -> None:
    text = f"""
        import sympy

        def value(m):
            x = sympy.Symbol("x")
            return {expression}

        claim("mine.x", bound(value, "q", {allowed}), over={{"m": (1, 2)}}, SOURCE)
    """
    record = record_of(tmp_path, text)
    assert record.verdict == verdict
    assert ("for every x" in record.range) is False


def test_a_sampled_number_is_not_graded_bounded_by_declaration(tmp_path: Path) -> None:
    drawn = """
        def loss(d):
            problem = lv.Problem(d=d, n=10, law=lv.laws.Affine(), sigma=1.0)
            exact, drawn = lv.loss_terms(problem, 2.0), lv.loss_terms(problem, 2.0, "montecarlo", contexts=2000)
            return float(drawn.total / exact.total), 0.2

        claim("mine.drawn", bound(loss, "r", high=2, control=0.5, method="exact"), over={"d": 3}, SOURCE)
    """
    assert record_of(tmp_path, drawn).grade == "sampled"


def test_a_claim_without_library_code_is_graded_estimated(tmp_path: Path) -> None:
    """Or as sampled, if it takes contexts: such functions were once graded as if their errors were bounds."""
    text = 'def one({}):\n    return 1.0, 1e-9\nclaim("mine.one", bound(one, "x", high=2, control=0.5, {}), SOURCE)'
    for how in ("", 'method="exact"', 'method=(None, "bounded")', 'method="certified"', 'method="symbolic"'):
        [cell] = record_of(tmp_path, text.format("", how)).cells
        assert (cell.grade, cell.method) == ("estimated", "own function")
    for how, grade in (
        ("", "sampled"),
        ('method="exact"', "sampled"),
        ('method=("montecarlo", "observed")', "observed"),
    ):
        assert record_of(tmp_path, text.format("contexts", how)).grade == grade


def test_a_value_that_is_kept_says_where_it_is_from_each_time(tmp_path: Path) -> None:
    """The second cell takes the first one's value from a cache, and no method runs again."""
    text = """
        from functools import cache

        @cache
        def terms():
            return lv.optimal_window(lv.Problem(d=3, n=1000, law=lv.laws.Affine(), sigma=1.0))

        def window(k):
            return k * terms().w, k * terms().w_error

        claim("mine.kept", bound(window, "k w", high=1e3, control=0.1, method="exact"), over={"k": (1, 2, 3)}, SOURCE)
    """
    assert [cell.grade for cell in record_of(tmp_path, text).cells] == ["bounded"] * 3


def test_the_grade_of_a_limit_is_at_most_that_of_its_values(tmp_path: Path) -> None:
    form = """exponent(power, "p", equals="1/2", along={'n': (1e4, 1e8, 8)})"""
    own = f'def power(n):\n    return n**0.5, 1e-12\nclaim("mine.power", {form}, SOURCE)'
    assert record_of(tmp_path, own).grade == "estimated"
    ours = WINDOW.replace("n=1000", "n=n").replace("window(d)", "window(d, n)")
    ours = ours.replace("high=100.0, control=1.0,", 'low="0", truth="1/3", along={{"n": (1e4, 1e8, 8)}},').replace(
        "bound(", "exponent("
    )
    assert record_of(tmp_path, ours.format(body="return best.w, best.w_error", how="")).grade == "extrapolated"


@pytest.mark.parametrize(
    ("second", "of", "methods"),
    [
        ('lv.loss_terms(p, w, "montecarlo", contexts=contexts)', "bias", ("exact", "montecarlo")),
        ('lv.loss_terms(p, w, "asymptotic")', "bias", ("exact", "asymptotic")),
        ("lv.loss_terms(p, w)", "bias", ("first", "second")),
        ("{'bias': (w, 1.0)}", "bias", ("exact", "second")),
    ],
)
def test_a_cross_check_is_named_after_the_methods_that_ran(
    second: str, of: str, methods: tuple[str, str], tmp_path: Path
) -> None:
    text = f"""
        import lipverify as lv

        p = lv.Problem(d=3, n=1000, law=lv.laws.Affine())

        def first(w):
            return lv.loss_terms(p, w)

        def second(w{", contexts" if "contexts" in second else ""}):
            return {second}

        claim("mine.bias", bound(first, "B", of="{of}", high=1.0, control=1e-9), agree(first, second, "B", of="{of}",
              over={{"w": 3.0}}), over={{"w": 3.0}}, SOURCE)
    """
    assert record_of(tmp_path, text).cross_checks[0].methods == methods


def test_proved_is_not_declared(tmp_path: Path) -> None:
    form = 'bound(one, "x", high=2, control=0.5, method=(None, "proved"))'
    text = f'def one():\n    return 1.0, 0.0\nclaim("mine.one", {form}, SOURCE)'
    with pytest.raises(InvalidInput, match="nothing is proved by saying so; leave the grade out and return"):
        ledger_of(tmp_path, text)


@pytest.mark.parametrize("grade", ["proved", "exact", "bounded", "sampled"])
def test_a_promoted_grade_is_found(grade: str, tmp_path: Path) -> None:
    ledger = ledger_of(tmp_path, FALSE["a cubic at its roots"])
    cells = tuple(msgspec.structs.replace(cell, grade=grade) for cell in ledger.claims[0].cells)
    record = msgspec.structs.replace(ledger.claims[0], cells=cells, grade=grade)
    found = audit(sealed(msgspec.structs.replace(ledger, claims=(record,))))
    assert {(difference.what, difference.follows) for difference in found} == {("grade", "estimated")}
