"""`matrix`: the optimal matrix, entry by entry with its errors."""

from __future__ import annotations

import json as json_module
import sys
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from lipverify.cli.laws import law_at
from lipverify.cli.numbers import described, with_error
from lipverify.cli.progress import progress_of
from lipverify.problem import Problem
from lipverify.problem.covariates import Covariates, Ellipsoid, Sphere


def print_matrix(
    d: int,
    n: float,
    law: str,
    L: float,
    sigma: float,
    covariance: list[float] | None,
    ball: float | None,
    search: dict[str, Any],
    json: bool,
) -> int:
    """M* as a table, or as one JSON object."""
    covariates: Covariates = Sphere() if covariance is None else Ellipsoid(covariance)
    problem = Problem(d=d, n=n, law=law_at(law, L), sigma=sigma, covariates=covariates)
    from lipverify.optimum import optimal_matrix
    from lipverify.optimum.matrix.constraints import SpectralBall, Unconstrained

    constraint = Unconstrained() if ball is None else SpectralBall(C=ball)
    with progress_of("descended") as progress:
        found = optimal_matrix(
            problem,
            constraint=constraint,
            **search,
            progress=lambda done, total: progress(done, total, "starts and batches"),
        )
    M, error = np.asarray(found.M), np.asarray(found.M_error)
    if json:
        values = {"M": M.tolist(), "M_error": error.tolist(), "M_raw": np.asarray(found.M_raw).tolist()}
        numbers = {name: getattr(found, name) for name in ("loss", "loss_error", "asymmetry", "asymmetry_chance")}
        counts = {name: getattr(found, name) for name in ("contexts", "starts", "agreeing", "rivals", "seed")}
        asked = described(problem) | {"covariance": covariance, "ball": ball, "attention": search["attention"]}
        json_module.dump({"problem": asked, **values, **numbers, **counts}, sys.stdout, allow_nan=False)
        sys.stdout.write("\n")
        return 0
    title = f"M*, {law} law, d = {d}, n = {n:g}, L = {L:g}, σ = {sigma:g}"
    table = Table(title=title, title_justify="left", show_header=False)
    for row, errors in zip(M, error, strict=True):
        table.add_row(*(with_error(value, half_width) for value, half_width in zip(row, errors, strict=True)))
    console = Console(highlight=False)
    console.print(table)
    console.print(
        f"loss {with_error(found.loss, found.loss_error)}; {found.agreeing} of {found.starts} starts agree; "
        + (f"averaged over the symmetry (asymmetry {found.asymmetry:.1f} standard errors)" if found.averaged else "")
    )
    return 0
