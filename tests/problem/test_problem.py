import math

import msgspec
import numpy as np
import pytest

from lipverify import Problem
from lipverify.errors import InvalidInput
from lipverify.laws import LAWS, Affine, Cosine, Quadratic, ReLU, Ridge, RidgeLaw, Zonal, law_named

GOOD = {"d": 5, "n": 100, "law": ReLU(L=1.0), "sigma": 1.0}


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("d", 1), ("d", 2.5), ("d", "5"), ("d", True), ("d", None),
        ("n", 0), ("n", -3), ("n", 2.5), ("n", 1e31), ("n", math.inf), ("n", math.nan), ("n", "10"), ("n", None),
        ("sigma", -1.0), ("sigma", math.nan), ("sigma", math.inf), ("sigma", "1"),
        ("law", "relu"), ("law", None),
    ],
)  # fmt: skip
def test_a_value_that_breaks_its_rule_is_named(field: str, value: object) -> None:
    with pytest.raises(InvalidInput) as refused:
        Problem(**{**GOOD, field: value})  # type: ignore[arg-type]
    message = str(refused.value)
    assert message.startswith(f"{field} = {value!r}")
    assert "\n" not in message


@pytest.mark.parametrize("n", [1, np.int64(7), 1e30, 10**30, 2**53 + 2, 1e6])
def test_any_integral_length_up_to_1e30_is_a_length(n: object) -> None:
    problem = Problem(**{**GOOD, "n": n})  # type: ignore[arg-type]
    assert float(problem.n) == float(n)  # type: ignore[arg-type]


def test_replace_validates_again() -> None:
    problem = Problem(**GOOD)  # type: ignore[arg-type]
    assert problem.replace(n=7).n == 7
    with pytest.raises(InvalidInput, match="n = 0"):
        problem.replace(n=0)
    with pytest.raises(InvalidInput, match="width is not a field"):
        problem.replace(width=3)  # type: ignore[call-arg]


def test_laws_survive_json() -> None:
    for law in (Affine(L=2.0), ReLU(L=0.5), Cosine(L=3.0), Quadratic(L=0.1), Zonal(spectrum=(0.0, 1.0))):
        assert msgspec.json.decode(msgspec.json.encode(law), type=Affine | ReLU | Cosine | Quadratic | Zonal) == law


def test_rounding_never_evaluates_a_link_beyond_1() -> None:
    """<q, x> of unit vectors rounds to at most 1 + 4e-16; larger z mean a point beyond the sphere."""
    link = Ridge(np.arcsin).links(np.array([1 + 4e-16, -1 - 4e-16]), np)[0]
    assert link.tolist() == [math.pi / 2, -math.pi / 2]
    assert Ridge(np.abs).links(np.array([3.0, -1.5]), np)[0].tolist() == [3.0, 1.5]


def test_every_law_has_a_name_and_a_bound_for_each_link() -> None:
    z = np.linspace(-1, 1, 201)
    for name, kind in LAWS.items():
        law = law_named(name)
        assert type(law) is kind
        assert isinstance(law, RidgeLaw)
        links = law.links(z, np)
        for link, bound in zip(links, law.bounds(), strict=True):
            assert np.ptp(link) == pytest.approx(bound.extent, rel=1e-15)


@pytest.mark.parametrize(
    ("link", "kinks", "says"),
    [
        (3.0, (), "not a function"),
        (lambda z: z[:3], (), "same shape"),
        (lambda z: np.log(np.maximum(z, 0)), (), "finite"),
        (lambda z: z.missing, (), "raised AttributeError"),
        (lambda z: z + 1j, (), "an array of complex128"),
        (lambda z: z > 0, (), "truth values"),
        (lambda z: z.tolist(), (), "returned a list"),
        (abs, (1.5,), "kinks = "),
        (abs, (math.nan,), "kinks = "),
        (abs, ("0",), None),
        (abs, 0.0, "kinks = "),
    ],
)
@pytest.mark.filterwarnings("ignore:divide by zero")
def test_a_link_of_ones_own_is_probed(link: object, kinks: object, says: str | None) -> None:
    if says is None:
        assert Ridge(link, kinks=kinks).kinks == (0.0,)  # type: ignore[arg-type]
        return
    with pytest.raises(InvalidInput, match=says):
        Ridge(link, kinks=kinks)  # type: ignore[arg-type]


def test_a_constant_law_says_so() -> None:
    for law in (Affine(L=0.0), Cosine(L=0.0), Ridge(np.ones_like), Zonal(spectrum=(2.0,)), Zonal(np.ones_like)):
        assert law.constant
    for law in (Affine(), Cosine(), Ridge(abs), Zonal(spectrum=(2.0, 1.0)), Zonal(lambda t: t)):
        assert not law.constant
