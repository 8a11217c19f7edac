r"""Whether models with five or more layers match or exceed TunedRR."""

from __future__ import annotations

from functools import partial
from typing import Any

from checks._running import run_file
from checks.linear_transformers._models import ASSUMED, column, depth, laws, name_of
from checks.linear_transformers._table import printed_at
from lipverify.claims.claim import CellPlan, Claim, Reading
from lipverify.claims.ledger import Source
from lipverify.claims.linear_transformers.comparison import BASELINES, Comparison
from lipverify.claims.registry import Profile
from lipverify.claims.verdict import Allowed, Interval, Verdict
from lipverify.linear_transformer.regression.noise import NoiseLaw

SOURCE = Source(
    paper="V", place="section 6", printed="models with 5 or more layers match or exceed the performance of TunedRR"
)
FEWEST = 5
Cases = list[tuple[NoiseLaw, str, int]]
"""(noise, family, layers)."""
TUNED = BASELINES.index("TunedRR")
HALF_WIDTH = 3.0
"""Standard errors of the paired difference to either side."""


def claims(profile: Profile) -> tuple[Claim, ...]:
    """For one diagonal head; and for more: four free weights a layer and, in `full`, free matrices."""
    return (_matched(profile, "diag", ("DIAG",), "refuted"), _matched(profile, "wider", ("OMEGA", "FULL"), "supported"))


def _matched(profile: Profile, reading: str, families: tuple[str, ...], expected: Verdict) -> Claim:
    cases = [
        (noise, family, layers)
        for noise in laws(profile)
        for family in families
        for layers in range(FEWEST, depth(profile, noise, family) + 1)
        if noise.second_moment > 0
    ]
    return Claim(
        id=f"lt.match-tuned/{reading}",
        title=f"{' and '.join(families)} with {FEWEST} layers or more against TunedRR",
        statement=rf"\mathcal{{L}}_{{\mathrm{{trained}}, L}} \leq \mathcal{{L}}_{{\mathrm{{TunedRR}}}} \quad \text{{for }} L \geq {FEWEST}",
        source=SOURCE,
        assumptions=(*ASSUMED, "TunedRR: its cap and factor fitted to as many other contexts"),
        claimed="loss less that of TunedRR ≤ 0",
        control="it is as far above TunedRR as half of what the wrong sign adds",
        expected=expected,
        cells=tuple(
            CellPlan(
                where={"noise": noise.label, "model": family, "layers": layers},
                task=column(profile, noise),
                quantity="loss less that of TunedRR on the same contexts, in units of what layers with the wrong sign add",
                read=partial(_read, family, layers),
                claimed="≤ 0",
                allowed=Allowed(high=0.0),
                control=Allowed(low=0.5),
                method="montecarlo",
            )
            for noise, family, layers in cases
        ),
        finding=partial(_finding, profile, cases),
        corrected=partial(_corrected, profile, cases) if expected == "refuted" else "",
    )


def _read(family: str, layers: int, found: Comparison, _: Allowed) -> Reading:
    here = found.of(family, layers)
    less, tuned = here.less[TUNED], found.baselines[TUNED].value
    unit = here.wrong_sign - tuned
    note = f"loss {here.loss.value:.4g}, TunedRR {tuned:.4g}, difference {less.value:+.2g} ± {less.standard_error:.1g} (standard error)"
    return Reading(Interval.around(less.value / unit, HALF_WIDTH * less.standard_error / unit), note)


def _finding(profile: Profile, cases: Cases, results: dict[str, Any]) -> str:
    """The losses, ours and printed, case by case."""
    said = []
    for noise, family, layers in cases:
        found: Comparison = results[column(profile, noise).address]
        model = "FULL" if family == "OMEGA" else family
        printed, tuned = printed_at(layers, model, noise).value, printed_at(0, "TunedRR", noise).value
        said.append(
            f"{name_of(noise)}, {family} with {layers} layers: {found.of(family, layers).loss.value:.3g} against {found.baselines[TUNED].value:.3g} (printed {model} {printed:g} against {tuned:g})"
        )
    return "; ".join(said) + "."


def _corrected(profile: Profile, cases: Cases, results: dict[str, Any]) -> str:
    """Where it fails, and what does match."""
    fails = []
    for noise, family, layers in cases:
        less = results[column(profile, noise).address].of(family, layers).less[TUNED]
        if less.value > HALF_WIDTH * less.standard_error:
            fails.append(f"{family} with {layers} layers, {name_of(noise)}")
    return f"above TunedRR: {'; '.join(fails)}; four free weights a layer do better" if fails else ""


if __name__ == "__main__":
    run_file(__file__)
