"""Commands about one problem: its loss, its optimal w, its optimal matrix, and the page to explore it."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

from cyclopts import Parameter

from lipverify.cli.app import (
    USUAL_COST,
    CostOptions,
    Json,
    Names,
    Natural,
    Numbers,
    Positive,
    ProblemOptions,
    Windows,
    app,
)


@app.command
def loss(
    *,
    problem: ProblemOptions,
    w: Windows,
    method: str = "exact",
    route: str | None = None,
    cost: CostOptions = USUAL_COST,
    contexts: Positive | None = None,
    rtol: float | None = None,
    interval: str | None = None,
    sampling: str | None = None,
    backend: str | None = None,
    jobs: Positive | None = None,
    seed: Natural = 0,
    json: Json = False,
) -> int:
    """Bias and noise of the loss at one or more values of w.

    Parameters
    ----------
    w
        Values of w, >= 0, the inverse squared width of the window: as w grows, the window narrows.
    method
        exact, montecarlo, asymptotic or certified.
    route
        For exact: ridge or zonal, two independent quadratures.
    contexts
        For montecarlo: number of contexts.
    rtol
        For montecarlo: relative accuracy, which determines the number of contexts.
    interval
        For montecarlo: checked (default: normal, as wide as what the contexts may have missed; betting where they
        contradict it), betting (valid at every number of contexts; takes 2 to 100 times as many) or normal.
    sampling
        For montecarlo: reduced (two numbers a token) or full (whole contexts in R^d).
    backend
        For montecarlo: numpy, native (needs a C compiler) or cupy (needs a GPU); all use the same points.
    jobs
        For montecarlo: number of threads; one for each processor by default. It changes only the time.
    seed
        For montecarlo: seed of the contexts.
    json
        Print an object.
    """
    from lipverify.cli.numbers import print_loss

    given = {
        "contexts": contexts,
        "rtol": rtol,
        "interval": interval,
        "sampling": sampling,
        "backend": backend,
        "workers": jobs,
    }
    sampled = {name: value for name, value in given.items() if value is not None} | {"seed": seed}
    return print_loss(problem, w, method, {"route": route, **asdict(cost)}, sampled, json)


@app.command
def window(
    *,
    problem: ProblemOptions,
    cost: CostOptions = USUAL_COST,
    json: Json = False,
) -> int:
    """The w* that minimises the loss, whose window is about w*^{-1/2} wide, and the loss there.

    Parameters
    ----------
    json
        Print an object.
    """
    from lipverify.cli.numbers import print_window

    return print_window(problem, asdict(cost), json)


@app.command
def matrix(
    *,
    problem: ProblemOptions,
    covariance: Numbers = None,
    ball: float | None = None,
    attention: str = "softmax",
    contexts: Positive = 640,
    seed: Natural = 0,
    json: Json = False,
) -> int:
    """The matrix M that minimises the loss, by sampling; errors are half-widths of 95 % intervals.

    Parameters
    ----------
    covariance
        Diagonal of Sigma, for covariates Sigma^{1/2} U; the sphere by default.
    ball
        Bound on the spectral norm of M, which is then symmetric; none by default.
    attention
        softmax or linear.
    contexts
        Number of contexts, >= 640. 640 take a second; 64000 have a tenth of their error.
    seed
        Seed of the contexts.
    json
        Print an object.
    """
    from lipverify.cli.numbers import print_matrix

    search = {"attention": attention, "contexts": contexts, "seed": seed}
    return print_matrix(problem, covariance, ball, search, json)


@app.command
def explore(*, law: Names = None, port: Natural = 0, open_: Annotated[bool, Parameter(name="--open")] = True) -> int:
    """Open a page on this machine with sliders for d, n, L and sigma: the loss, its optimal w, what attention sees.

    Parameters
    ----------
    law
        Laws to begin with and to offer, written as for `lipverify window --law`; the page also takes typed names and
        formulas. A law in a file of yours, my.py:NAME, must be given here.
    port
        Port of the page on 127.0.0.1; a free one by default.
    open_
        Open it in a browser.
    """
    from lipverify.cli.reports import explore as serve_page

    return serve_page(law or ["relu"], port, open_)
