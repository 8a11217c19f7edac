"""Commands about one problem: its loss, its optimal w, and the page to explore it."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter

from lipverify.cli.app import (
    Json,
    Names,
    Natural,
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
    contexts: Positive | None = None,
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
    contexts
        For montecarlo: number of contexts.
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

    given = {"contexts": contexts, "backend": backend, "workers": jobs}
    sampled = {name: value for name, value in given.items() if value is not None} | {"seed": seed}
    return print_loss(problem, w, method, sampled, json)


@app.command
def window(*, problem: ProblemOptions, json: Json = False) -> int:
    """The w* that minimises the loss, whose window is about w*^{-1/2} wide, and the loss there.

    Parameters
    ----------
    json
        Print an object.
    """
    from lipverify.cli.numbers import print_window

    return print_window(problem, json)


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
