"""Commands about one problem: its loss, its best window, its best matrix."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter

from lipverify.cli.commands.root import Json, Length, Lipschitz, Natural, Positive, Windows, app


@app.command
def loss(
    *,
    d: Positive,
    n: Length,
    w: Windows,
    law: str = "relu",
    L: Lipschitz = 1.0,
    sigma: float = 1.0,
    method: str = "exact",
    route: str | None = None,
    budget: float | None = None,
    memory: float | None = None,
    contexts: Positive | None = None,
    rtol: float | None = None,
    sampling: str | None = None,
    backend: str | None = None,
    jobs: Positive | None = None,
    seed: Natural = 0,
    json: Json = False,
) -> int:
    """Bias and noise of the loss at one or more values of w.

    Parameters
    ----------
    d
        Ambient dimension, >= 2.
    n
        Context length, 1 to 1e30.
    w
        Values of w, >= 0, the inverse squared width of the window: w grows, the window narrows.
    law
        affine, relu, cosine or quadratic; one that is written out, "relu + 2*cosine(3)"; or my.py:NAME, a law of a file
        of yours (which is code, and is run).
    L
        Lipschitz constant; what is written out is multiplied by it.
    sigma
        Standard deviation of the label noise.
    method
        exact, montecarlo, asymptotic or certified.
    route
        For exact: ridge or zonal, two quadratures that share nothing.
    budget
        For exact: seconds of a nominal processor that it may take; what would take more is refused before it begins.
        300 by default.
    memory
        For exact: GiB that it may take; 4 by default.
    contexts
        For montecarlo: how many contexts to draw.
    rtol
        For montecarlo: relative accuracy wanted; as many contexts are drawn as it takes.
    sampling
        For montecarlo: reduced (two numbers a token) or full (whole contexts in R^d).
    backend
        For montecarlo: numpy, native (needs a C compiler) or cupy (needs a GPU); the same points on all.
    jobs
        For montecarlo: threads; one a processor by default. They change nothing but the time.
    seed
        For montecarlo: seed of the draws.
    json
        Print an object.
    """
    from lipverify.cli.numbers import print_loss

    given = {"contexts": contexts, "rtol": rtol, "sampling": sampling, "backend": backend, "workers": jobs}
    sampled = {name: value for name, value in given.items() if value is not None} | {"seed": seed}
    exact = {"route": route, "budget": budget, "memory": memory}
    return print_loss(d, n, w, law, L, sigma, method, exact, sampled, json)


@app.command
def window(
    *,
    d: Positive,
    n: Length,
    law: str = "relu",
    L: Lipschitz = 1.0,
    sigma: float = 1.0,
    budget: float | None = None,
    memory: float | None = None,
    json: Json = False,
) -> int:
    """The w* that minimises the loss, whose window is about w*^{-1/2} wide, and the loss there.

    Parameters
    ----------
    d
        Ambient dimension, >= 2.
    n
        Context length, 1 to 1e30.
    law
        affine, relu, cosine or quadratic; one that is written out, "relu + 2*cosine(3)"; or my.py:NAME, a law of a file
        of yours (which is code, and is run).
    L
        Lipschitz constant; what is written out is multiplied by it.
    sigma
        Standard deviation of the label noise.
    budget
        Seconds of a nominal processor that all losses of the search together may take; 300 by default.
    memory
        GiB that they may take; 4 by default.
    json
        Print an object.
    """
    from lipverify.cli.numbers import print_window

    return print_window(d, n, law, L, sigma, {"budget": budget, "memory": memory}, json)


@app.command
def matrix(
    *,
    d: Positive,
    n: Length,
    law: str = "relu",
    L: Lipschitz = 1.0,
    sigma: float = 1.0,
    covariance: Annotated[list[float] | None, Parameter(consume_multiple=True, negative="")] = None,
    ball: float | None = None,
    attention: str = "softmax",
    contexts: Positive = 640,
    seed: Natural = 0,
    json: Json = False,
) -> int:
    """The matrix M that minimises the loss, by sampling; errors are half-widths of 95 % intervals.

    Parameters
    ----------
    d
        Ambient dimension, >= 2.
    n
        Context length.
    law
        affine, relu, cosine or quadratic; one that is written out, "relu + 2*cosine(3)"; or my.py:NAME, a law of a file
        of yours (which is code, and is run).
    L
        Lipschitz constant; what is written out is multiplied by it.
    sigma
        Standard deviation of the label noise.
    covariance
        Diagonal of Sigma, for covariates Sigma^{1/2} U; the sphere by default.
    ball
        Bound on the spectral norm of M, which is then symmetric; none by default.
    attention
        softmax or linear.
    contexts
        How many contexts to draw, >= 640, which take a second; 64000 have a tenth of their error.
    seed
        Seed of the draws.
    json
        Print an object.
    """
    from lipverify.cli.matrices import print_matrix

    search = {"attention": attention, "contexts": contexts, "seed": seed}
    return print_matrix(d, n, law, L, sigma, covariance, ball, search, json)


@app.command
def explore(*, port: Natural = 0, open_: Annotated[bool, Parameter(name="--open")] = True) -> int:
    """Open a page on this machine with sliders for d, n, L, sigma and the law: the loss, its optimal w, its attention.

    Parameters
    ----------
    port
        Port of the page on 127.0.0.1; a free one by default.
    open_
        Open it in a browser.
    """
    from lipverify.cli.explore import explore as serve_page

    return serve_page(port, open_)
