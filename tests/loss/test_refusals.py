"""What breaks a rule is refused with the rule in one line, and work beyond reach with its reason: two tables."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np
import pytest

from lipverify import Problem, leading, loss_terms, optimal_window
from lipverify.attention import Box, NormalisedLinear, Rational
from lipverify.covariates import Ellipsoid, ProductOfSpheres, axes
from lipverify.errors import InvalidInput, OutOfReach
from lipverify.foundation.means.betting import betting_interval  # internal: the interval on samples of the test's own
from lipverify.laws import (
    RBF,
    Affine,
    Cosine,
    Law,
    Linear,
    LowRank,
    Matern,
    ReLU,
    Ridge,
    Sampled,
    Transformed,
    WithOffset,
    Zonal,
)
from lipverify.loss import worst_bias
from lipverify.loss.attention import attention_named  # internal: attention by its name, before a loss
from lipverify.loss.block import block_terms
from lipverify.loss.certified import certified_terms  # internal: the balls themselves
from lipverify.loss.exact.quadrature import Grading  # internal: a mesh that cannot be made
from lipverify.loss.linear import linear_attention  # internal: the closed form, before it is minimised
from lipverify.loss.montecarlo.compiled import launch, native  # internal: kernels, refused before they are launched
from lipverify.loss.scaled import scaled_loss  # internal: the loss at a scale that is not the best one
from lipverify.optimum import optimal_scale

HERE = Problem(d=3, n=10, law=Affine())
LINE = Problem(d=3, n=5, law=Linear())
SPACE = Problem(d=3, n=5, law=LowRank(axes(3, 1)), sigma=0.5)
BUMP = Ridge(lambda z: z + 1000.0 * np.exp(-(((z - 0.2345678) / 1e-5) ** 2)))
NAN, INF = math.nan, math.inf


class Cubic(Law, frozen=True):
    """A law without exact averages."""


class Changed(Affine, frozen=True, tag="changed"):
    """A law of which the leading terms are not known."""

    name: ClassVar[str] = "changed"


def loss(w: Any = 1.0, method: Any = "exact", of: Any = HERE, **options: Any) -> Any:
    """A question for a loss, of which one part breaks a rule."""
    changes = {name: options.pop(name) for name in ("law", "d", "n", "sigma", "covariates") if name in options}
    return lambda: loss_terms(of.replace(**changes) if isinstance(of, Problem) else of, w, method, **options)


def sampled(**options: Any) -> Any:
    return loss(2.0, "montecarlo", **options)


def few(**options: Any) -> Any:
    return sampled(contexts=10, **options)


def block(c: Any = 1.0, c_perp: Any = 0.0, **changes: Any) -> Any:
    return lambda: block_terms(SPACE.replace(**changes), c, c_perp)


def kernel(samples: Any, **changed: Any) -> Any:
    asked = {"law": "relu", "L": 1.0, "d": 3, "n": 5, "ladders": [(1.0, 1)], "key": 0, "first": 0, "bundles": 1}
    return lambda: samples(**{**asked, **changed})


def scaled(**changed: Any) -> Any:
    options = {"w": [1.0]} | {name: changed.pop(name) for name in ("w", "offset_variance") if name in changed}
    return lambda: scaled_loss(HERE.replace(**changed), **options)


def comb(t: Any) -> Any:
    """On the circle: its coefficients are those of multiples of 20001, and were once called negative."""
    return t + 0.75 / (1.25 - np.cos(20001 * np.arccos(t)))


def short(z: Any) -> Any:
    return z if z.size < 1000 else z[:10]


def undefined(z: Any) -> Any:
    return z if z.size < 1000 else np.full_like(z, np.nan)


def raising(z: Any) -> Any:
    if z.size > 1000:
        raise ValueError("too many")
    return z


def greedy(z: Any) -> Any:
    return z + (np.empty((10**6, 10**7)).sum() if z.size > 1000 else 0.0)


def wavy(rng: np.random.Generator, contexts: int, d: int) -> Any:
    q = rng.standard_normal((contexts, 1, d))
    return lambda x: np.cos(3 * (q / np.linalg.norm(q, axis=-1, keepdims=True) * x).sum(axis=-1))


INVALID: list[tuple[Any, str]] = [
    # losses
    *((loss(w), "^w = ") for w in (-1.0, NAN, INF, [1.0, -2.0], "wide", None)),
    (loss(method="guess"), "exact, montecarlo"),
    (loss(contexts=10), "contexts"),
    (loss(of={"d": 3}), "not a Problem"),
    (loss(law=Cubic()), "isotropic law"),
    (loss(law=Zonal(spectrum=(0.0, 1.0)), route="ridge"), "route='zonal'"),
    (loss(route="other"), "route = 'other'"),
    (lambda: WithOffset(Ridge(np.tanh)), "the offset is uniform"),  # type: ignore[arg-type]
    *((lambda digits=digits: certified_terms(HERE, 1.0, digits=digits), "digits") for digits in (0, -3, 101)),
    *((lambda digits=digits: certified_terms(HERE, 1.0, digits=digits), "digits") for digits in (20.0, True, "20")),
    *(
        (lambda ask=ask, options=options: ask(**options), words)
        for ask in (lambda **o: loss_terms(HERE, 1.0, **o), lambda **o: optimal_window(HERE, **o))
        for options, words in (
            ({"budget": 0}, "budget = 0"),
            ({"budget": "long"}, "budget = 'long'"),
            ({"budget": NAN}, "budget = nan"),
            ({"memory": -1}, "memory = -1"),
            ({"progress": 3}, "progress = 3"),
        )
    ),
    # functions that fail on large arrays alone
    (loss(law=Zonal(K=short)), "K returned the shape"),
    (lambda: optimal_window(HERE.replace(law=Ridge(short))), "link returned the shape"),
    *(
        (loss(method=method, law=Ridge(link)), "^link r")
        for link in (short, undefined, raising)
        for method in ("exact", "montecarlo")
    ),
    # covariances
    (lambda: Zonal(np.minimum), "not isotropic"),  # type: ignore[arg-type]
    (lambda: Zonal(variogram=lambda r: 1 + r), "0 at r = 0"),
    (lambda: Zonal(variogram=lambda r: r * (0.5 - r)), "never negative"),
    (lambda: Zonal(variogram=lambda r: np.where(r > 0, 1 + r, 0.0)), "label noise"),
    (lambda: Zonal(lambda t: np.where(t == 1, 2.0, t)), "label noise"),
    (lambda: Zonal(lambda t: t, variogram=lambda r: r), "one of them"),
    (lambda: Matern(nu=1.0), "nu = 1.0"),
    (lambda: RBF(length=0.0), "length = 0.0"),
    (lambda: Matern(variance=-1.0), "variance = -1"),
    (lambda: loss(law=Zonal(variogram=lambda r: r**3))(), "positive definite"),
    (lambda: Zonal(lambda t: -t), "not the covariance of any law"),
    # the distance |x - x'| is conditionally negative definite
    (lambda: Zonal(lambda t: np.sqrt(np.maximum(1 - t, 0))), "not the covariance of any law"),
    # leading terms
    *((lambda d=d: leading(Affine(), d), "ambient dimension") for d in (1, 2.0, True)),
    (lambda: leading(Affine(L=0.0)), "constant"),
    (lambda: leading(Changed()), "only"),
    # sampling
    (sampled(contexts=1), "contexts"),
    (sampled(contexts=2.5), "contexts"),
    (sampled(rtol=0.0), "rtol"),
    (sampled(rtol=2.0), "rtol"),
    (sampled(contexts=10, rtol=0.1), "contexts|rtol"),
    (few(workers=0), "workers"),
    (few(M=np.eye(2)), "3 x 3"),
    (few(M=[[NAN] * 3] * 3), "finite"),
    (few(M=1j * np.eye(3)), "M"),
    (few(attention="hard"), "softmax, linear"),
    (few(sampling="half"), "reduced, full"),
    (few(sampling="reduced", attention="linear"), "sampling='full'"),
    (sampled(context=10), "context"),
    (sampled(seed="x"), "seed"),
    (sampled(seed=-1), "seed"),
    (sampled(n=1, law=Sampled(wavy, extent=0.5), contexts=2000), "extents"),
    *(
        (kernel(samples, **changed), words)
        for samples in (launch.samples, native.samples)
        for changed, words in (
            ({"law": "cubic"}, "law = 'cubic' has no compiled code; choose one of: affine, .*, cosine, quadratic"),
            ({"d": 1}, "d = 1"),
            ({"n": 0}, "n = 0"),
            ({"bundles": -1}, "bundles = -1"),
            ({"ladders": []}, "at least one w"),
            ({"ladders": [(-1.0, 1)]}, r"w_0 = -1\.0"),
            ({"ladders": [(INF, 1)]}, "w_0 = inf"),
            ({"ladders": [(1.0, 0)]}, "at least one w"),
        )
    ),
    *((lambda x=x: betting_interval(np.array([[0.5], [x]])), "samples") for x in (NAN, INF, -0.1, 1.1)),
    *((lambda level=level: betting_interval(np.array([[0.5], [0.6]]), level), "level") for level in (0.0, 1.0, NAN)),
    (lambda: betting_interval(np.empty((0, 2))), "at least one"),
    # attention
    *((lambda name=name: attention_named(name), "one of: softmax, linear") for name in ("hardmax", "", None, ["all"])),
    (loss(of=LINE, attention=NormalisedLinear(0.0)), "the loss is infinite"),
    (loss(1.0, "montecarlo", LINE, attention=NormalisedLinear()), "infinite"),
    (loss(of=LINE, attention=Box(), M=np.eye(3)), "on the sphere and M = w I"),
    (loss(1.0, "montecarlo", LINE, attention=Box(), M=np.eye(3)), "M = w I"),
    (loss(of=LINE, attention=Box(), route="zonal"), "leave it out"),
    (loss(of=LINE, attention="box"), "one of lipverify.attention"),
    (loss(of=LINE, attention="linear"), "one of lipverify.attention"),
    (loss(of=LINE, covariates=Ellipsoid([2, 1, 1]), attention=Box()), "on the sphere"),
    (lambda: Rational(0.0), "power = 0.0"),
    (lambda: Rational(NAN), "power = nan"),
    (lambda: NormalisedLinear(-1.0), "shift = -1.0"),
    (lambda: linear_attention(Transformed(np.eye(3), Affine())), "Transformed"),
    (scaled(n=1), "n = 1"),
    (scaled(law=LowRank([[1.0], [0.0], [0.0]])), "law = "),
    (scaled(w=[0.0]), "w = "),
    (scaled(offset_variance=-1.0), "offset_variance = -1.0"),
    (lambda: optimal_scale(HERE.replace(law=Affine(L=0.0))), "needs w > 0"),  # the best c is 0, and any w as good
    # squares that underflow: once no singular values
    (loss(5.0, n=100, law=Ridge(lambda z: 1e-160 * np.abs(z), kinks=(0.0,))), "use a smaller unit of y"),
    # subspaces
    (lambda: Ellipsoid([1j, 1, 1]), "finite real numbers"),  # type: ignore[arg-type]
    (lambda: Ellipsoid([[1, 2], [2]]), "finite real numbers"),
    (block(law=Affine()), "LowRank"),
    (block(law=LowRank(axes(3, 1), Affine())), "LowRank"),
    (block(d=2, law=LowRank(axes(2, 1)), covariates=Ellipsoid([2.0, 1.0])), "montecarlo"),
    (block(covariates=ProductOfSpheres([[0.0], [1.0], [0.0]])), "different spaces"),
    (block(covariates=ProductOfSpheres(axes(3, 2))), "different spaces"),
    (block(NAN), "c = nan"),
    (block(1.0, INF), "c_perp = inf"),
    (block("one"), "c = 'one'"),
    # the worst function
    (lambda: worst_bias(3, 10, w=-1.0), "w = "),
]


@pytest.mark.parametrize(("ask", "words"), INVALID)
def test_what_breaks_a_rule_is_refused_in_one_line(ask: Any, words: str) -> None:
    with pytest.raises(InvalidInput, match=words) as refusal:
        ask()
    assert "\n" not in str(refusal.value)
    assert len(str(refusal.value)) < 300


BEYOND: list[tuple[Any, str]] = [
    # SymPy knows no derivative at the ends; method='exact' is no way out of a function without methods
    (scaled(law=Ridge(lambda z: np.maximum(1 - z * z, 0) ** 0.8)), "optimal_window has the optimum at the factor 1"),
    (loss([1.0, 1.7e308], d=2), r"w = 1\.7e\+308: at most 1e\+300"),
    (loss(5.0, d=2, law=Zonal(K=comb)), "faster than they can tell"),
    (loss(1e6, n=2, law=Zonal(spectrum=(0.0, 1.0))), "w = 1e"),
    (loss(1e6, n=1e30, law=ReLU(), route="zonal"), "harmonics"),
    (loss(1000.0, law=ReLU(), route="zonal"), "few tokens"),
    # the other route does not reach windows with few tokens
    (loss(5.0, n=100, law=BUMP, route="ridge"), r"feature of width .* near z = 0.2345"),
    (loss(5e6, n=100, law=BUMP), r"feature of width .* near z = 0.2345"),
    (lambda: Grading(30, np.array(1e-13)).panels(0.0, 1.0, 1e-6), "panels, at most"),
    # numbers that are no doubles: once Python errors, warnings, and 15 GiB
    *(
        (loss(0.1, n=100, law=law, sigma=sigma), r"at most 1(e\+140|00000)[,;]")
        for law, sigma in (
            (Affine(L=1e160), 1.0),
            (Cosine(L=1e9), 1.0),
            (Ridge(lambda z: 1e160 * z), 1.0),
            (Ridge(lambda z: np.exp(700 * z)), 1.0),
            (Affine(), 1e170),
        )
    ),
    # the nodes of Gauss's rule are NaN there
    (loss(d=3000, n=100, law=Cosine(L=14_000.0), route="ridge"), "d = 3000: the rule of 256 nodes"),
    (lambda: certified_terms(HERE.replace(d=2, n=3), 1e4), "frequencies"),
    (lambda: certified_terms(HERE.replace(d=2, n=3), 1e300), r"w = 1e\+300"),
    (lambda: certified_terms(HERE.replace(n=2, law=ReLU()), 50.0), "harmonics"),
    (lambda: certified_terms(HERE.replace(n=1000, law=Cosine(L=1e4)), 1.0), "harmonics"),
    (lambda: certified_terms(HERE.replace(n=1000, law=Affine(L=1e200)), 0.0), "largest double"),
    *(
        (loss(w, "asymptotic", d=d, n=10**6), r"leading terms .*use method='exact'")
        for w in (0.0, 1e-3, 1e9, 1e308)
        for d in (2, 5, 40, 1000)
    ),
    (lambda: leading(Zonal(lambda t: np.sqrt(2 + t) + 0 * np.digitize(t, [0.0]))), "cannot be read"),
    (lambda: leading(Zonal(variogram=lambda r: r / 2 + 0 * np.digitize(r, [1.0]))), "cannot be read"),
    (lambda: leading(Ridge(np.sign, jumps=(0.0,))).bias_next, "jumps or roots"),
    (sampled(n=1e12), "exact"),
    (loss(1.0, "montecarlo", n=10**6, law=RBF()), "method='exact'"),
    (block(101.0), "spread"),
    (lambda: worst_bias(3, 10, 1e301), r"w = 1e\+301: at most"),
    (loss(method="montecarlo", sigma=1e200), "larger unit"),
    (loss(method="montecarlo", law=Affine(L=1e200)), "larger unit"),
    (loss(1e3, "certified", d=100_000), "no finite ball"),
    (loss(law=Ridge(greedy)), r"Unable to allocate .*; make d, n or the number of contexts smaller"),
]


TWO_REASONS = (r"feature of width .* near z = 0.2345", "cannot be read")
"""Messages that give the reasons of both routes, or quote a function and what is read."""


@pytest.mark.parametrize(("ask", "words"), BEYOND)
def test_what_is_beyond_reach_is_refused_with_the_reason(ask: Any, words: str) -> None:
    with pytest.raises(OutOfReach, match=words) as refusal:
        ask()
    assert "\n" not in str(refusal.value)
    longest = 500 if words in TWO_REASONS else 300
    assert len(str(refusal.value)) < longest
