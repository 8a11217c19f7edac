"""A user's class of laws is computed from its own declarations, not from its parent's or its default arguments."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np
import pytest
import sympy

from lipverify import Problem, leading, loss_terms, optimal_window, sensitivity
from lipverify.errors import InvalidInput
from lipverify.laws import Affine, Bound, Linear, LowRank, ReLU, Ridge, RidgeLaw, WithOffset
from lipverify.loss import asymptotic
from lipverify.problem.law import proportional  # internal: the registrations of a user's law
from lipverify.problem.laws import Scaled  # internal: a user's law with an L
from lipverify.problem.own import jumps_of  # internal: the jumps that the exact method receives


class Power(Scaled, frozen=True, tag="power-of-z"):
    """f(x) = L <q, x>^j."""

    j: int = 2
    name: ClassVar[str] = "power-of-z"

    @property
    def amplitude_variance(self) -> float:
        return self.L**2

    def bounds(self, radius: float = 1.0) -> tuple[Bound, ...]:
        return (Bound(2 * radius**self.j),)

    def links(self, z: Any, xp: Any) -> list[Any]:
        return [z**self.j]

    def amplitudes(self, uniforms: Any) -> Any:
        return self.L + 0 * uniforms


@asymptotic.task.register(Power)
def _of_power(law: Power) -> asymptotic.Ridges:
    return asymptotic.Ridges(asymptotic.L**2, (asymptotic.link(asymptotic.c**law.j),))


class Cubed(ReLU, frozen=True, tag="cubed"):
    """f(x) = l <q, x>^3: the methods' special rules for the ReLU law would be wrong for it."""

    name: ClassVar[str] = "cubed"
    kink_points: ClassVar[tuple[float, ...]] = ()

    def bounds(self, radius: float = 1.0) -> tuple[Bound, ...]:
        return (Bound(2 * radius**3),)

    def links(self, z: Any, xp: Any) -> list[Any]:
        return [z**3]


class Stated(RidgeLaw, frozen=True, tag="stated"):
    link: Any
    kinks: tuple[float, ...] = ()
    name: ClassVar[str] = "stated"

    @property
    def amplitude_variance(self) -> float:
        return 1.0

    @property
    def kink_points(self) -> tuple[float, ...]:
        return self.kinks

    def bounds(self, radius: float = 1.0) -> tuple[Bound, ...]:
        return (Bound(3.0),)

    def links(self, z: Any, xp: Any) -> list[Any]:
        return [self.link(z)]

    def amplitudes(self, uniforms: Any) -> Any:
        return 1 + 0 * uniforms


@pytest.mark.parametrize("j", [2, 3, 4])
def test_leading_terms_are_those_of_the_laws_own_parameters(j: int) -> None:
    """They were once derived for the default j, at every j."""
    law = Power(L=2.0, j=j)
    n, w = 1e12, 500.0
    derived = float(leading(law, 3).bias.subs({asymptotic.w: w, asymptotic.L: 2}))
    assert derived == pytest.approx(float(loss_terms(Problem(d=3, n=n, law=law), w).bias), rel=0.05)
    assert sympy.simplify(leading(law).bias - leading(Power(j=j)).bias) == 0


def test_a_subclass_with_another_link_is_sampled_by_it() -> None:
    """Its link was once taken for that of its base class."""
    problem = Problem(d=3, n=10, law=Cubed())
    reduced, full = (
        loss_terms(problem, 2.0, "montecarlo", sampling=sampling, contexts=20_000) for sampling in ("reduced", "full")
    )
    assert abs(reduced.bias - full.bias) <= reduced.bias_error + full.bias_error < 0.3 * full.bias


def test_an_offset_hides_no_kink() -> None:
    """The kink once did not reach the quadrature: errors of a tenth, where it now has twelve digits."""
    for route in ("ridge", "zonal"):
        bare, offset = (
            loss_terms(Problem(d=3, n=100, law=law), 2.0, route=route) for law in (ReLU(), WithOffset(ReLU()))
        )
        assert bare.bias == offset.bias
        assert bare.bias_error == offset.bias_error < 1e-6 * bare.bias


class Lifted(Stated, frozen=True, tag="lifted"):
    """A link with its kinks, and a constant one."""

    name: ClassVar[str] = "lifted"

    def bounds(self, radius: float = 1.0) -> tuple[Bound, ...]:
        return Bound(2.0), Bound(0.0)

    def links(self, z: Any, xp: Any) -> list[Any]:
        return [self.link(z), 1 + 0 * z]


def test_a_constant_link_adds_nothing_to_one_with_kinks() -> None:
    """Its variogram is 0, and a table of it was once divided by it."""
    bare, lifted = (loss_terms(Problem(d=3, n=100, law=kind(np.abs, (0.0,))), 5.0) for kind in (Stated, Lifted))
    assert abs(bare.bias - lifted.bias) <= bare.bias_error + lifted.bias_error < 1e-6 * bare.bias


@pytest.mark.parametrize("link", [lambda z: np.exp(-(((z - 0.3) / 0.02) ** 2)), lambda z: np.cos(300 * z)])
def test_links_too_fine_for_a_table_have_the_second_route(link: Any) -> None:
    """The route table once took a user's class for a law whose averages are coded: errors of three times the value."""
    for d, n, w in ((2, 30, 20.0), (3, 1000, 50.0)):
        own, same = (loss_terms(Problem(d=d, n=n, law=law), w) for law in (Stated(link), Ridge(link)))
        assert abs(own.bias - same.bias) <= own.bias_error + same.bias_error < 1e-3 * same.bias


def test_jumps_follow_from_the_links() -> None:
    law = Stated(lambda z: np.sign(z - 0.25) + abs(z), kinks=(0.0, 0.25))
    assert jumps_of(law) == (0.25,)
    assert (
        jumps_of(Ridge(law.link, kinks=(0.0, 0.25)))
        == jumps_of(Ridge(law.link, kinks=(0.0,), jumps=(0.25,)))
        == (0.25,)
    )
    assert jumps_of(ReLU()) == ()
    own, same = (loss_terms(Problem(d=3, n=100, law=each), 5.0) for each in (law, Ridge(law.link, kinks=(0.0, 0.25))))
    assert abs(own.bias - same.bias) <= own.bias_error + same.bias_error < 1e-6 * same.bias


def test_an_optimum_is_as_certain_as_its_losses() -> None:
    """The method of a user's class was once called bounded, for any links."""
    opaque = np.vectorize(math.tanh, otypes=[float])
    problems = {
        kind: Problem(d=3, n=100, law=Stated(link)) for kind, link in (("bounded", np.tanh), ("estimated", opaque))
    }
    for kind, problem in problems.items():
        optimum = optimal_window(problem)
        assert optimum.error_kind == loss_terms(problem, optimum.w).error_kind == kind


def test_laws_proportional_to_L_are_known_as_such() -> None:
    assert [proportional(law) for law in (Affine(), Linear(), ReLU(), Power(), Cubed())] == [True] * 3 + [
        False,
        True,
    ]
    assert 2 * Linear(L=3.0) == Linear(L=6.0)
    assert sensitivity(optimal_window(Problem(d=3, n=1000, law=Linear()))).window_L is not None


def test_a_law_in_a_subspace_has_finite_bounds_only_for_its_range() -> None:
    bound = LowRank([[1.0], [0.0]], ReLU()).bounds()[0]
    assert bound == Bound(1.0, 1.0, math.inf)


class Sound(Scaled, frozen=True, tag="sound"):
    """a |z|, a uniform on [-L, L]: the classes below change one member each."""

    name: ClassVar[str] = "sound"

    @property
    def amplitude_variance(self) -> float:
        return self.L**2 / 3

    def bounds(self, radius: float = 1.0) -> tuple[Bound, ...]:
        return (Bound(extent=radius, magnitude=radius, slope=1.0),)

    def links(self, z: Any, xp: Any) -> list[Any]:
        return [abs(z)]

    def amplitudes(self, uniforms: Any) -> Any:
        return self.L * (2 * uniforms - 1)


WRONG: dict[str, tuple[str, Any, str]] = {
    "no links": ("links", RidgeLaw.links, r"class Wrong does not define links\(z, xp\)"),
    "no bounds": ("bounds", RidgeLaw.bounds, r"does not define bounds\(radius\)"),
    "an array for a list": ("links", lambda law, z, xp: abs(z), "a list of as many arrays as there are bounds, 1"),
    "two links, one bound": ("links", lambda law, z, xp: [z, abs(z)], "as many arrays as there are bounds, 1"),
    "a link that sums": ("links", lambda law, z, xp: [z.sum()], r"returned the shape \(\) for \(33,\)"),
    "a link without a value": ("links", lambda law, z, xp: [0 / z], "returned nan at 0"),
    "a complex link": ("links", lambda law, z, xp: [1j * z], "an array of complex128"),
    "a link that raises": ("links", lambda law, z, xp: [1 / 0], "raised ZeroDivisionError"),
    "a negative variance": ("amplitude_variance", property(lambda law: -1.0), "-1.0: E l.2 must be .* >= 0"),
    "no variance": ("amplitude_variance", property(lambda law: math.nan), "nan: E l.2 must be a finite number"),
    "another variance": ("amplitude_variance", property(lambda law: 1.0), "mean square 0.333333; .* = 1"),
    "amplitudes without a value": ("amplitudes", lambda law, u: math.nan * u, "mean square nan"),
    "one amplitude for all": ("amplitudes", lambda law, u: 1.0, r"shape \(\) for \(4096, 1\)"),
    "a number for bounds": ("bounds", lambda law, radius=1.0: 3.0, "3.0: it must be a tuple of a Bound"),
    "a bound without a value": ("bounds", lambda law, radius=1.0: (Bound(math.nan),), "numbers >= 0"),
    "a kink that is no number": ("kink_points", property(lambda law: ("a",)), "numbers from -1 to 1"),
}


@pytest.mark.parametrize("wrong", WRONG)
@np.errstate(invalid="ignore")
def test_a_law_whose_members_are_wrong_is_refused(wrong: str) -> None:
    """Sampling once gave a bias of -0.009 for a negative variance, and NumPy's exceptions for most of the others."""
    member, value, rule = WRONG[wrong]
    kind: Any = type(Sound)
    law = kind("Wrong", (Sound,), {"__module__": __name__, member: value, "name": "wrong"}, frozen=True)()
    for stated in (law, 2 * law, Affine() + law, LowRank(np.eye(3)[:, :2], law)):
        with pytest.raises(InvalidInput, match=rule):
            Problem(d=3, n=10, law=stated)
    assert loss_terms(Problem(d=3, n=10, law=Sound()), 2.0).bias > 0
