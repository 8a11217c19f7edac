"""`falsify`: a search for counterexamples to the claims of a file."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from pathlib import Path
from textwrap import shorten
from typing import Any

from lipverify.claims.language.file import ClaimsFile, read_file
from lipverify.claims.plan.profile import Profile, profile_named
from lipverify.claims.plan.registry import claims_of, sought_in
from lipverify.claims.run.runner import run
from lipverify.cli.reports import require_writable
from lipverify.errors import InvalidInput
from lipverify.falsify.search import Search, search, whole
from lipverify.falsify.trial import Again, again
from lipverify.falsify.written import claim_at, id_of
from lipverify.foundation.files import require_targets, write_whole
from lipverify.foundation.output import write_json
from lipverify.foundation.quoting import counted
from lipverify.report.terminal.progress import progress_of
from lipverify.report.visible import visible


def falsify_claims(path: str, id: str | None, seconds: float, seed: int, out: Path, json: bool) -> int:
    """Search each claim for `seconds`, print the results, and return the exit code.

    0 without a counterexample, 1 with one, 3 if two methods disagree about one or no point could be measured.
    """
    if not 0 < seconds < math.inf:
        raise InvalidInput(f"seconds = {seconds:g}: the time for one claim must be positive and finite.")
    profile = profile_named("quick", seed)
    file, claims = read_file(path), sought_in(path, id, profile)
    out = out.absolute()
    require_writable(out)
    require_targets("out", [_counterexample(out, sought.id) for sought in claims])
    told, code = [], 0
    with progress_of("search, second") as progress:
        for i, sought in enumerate(claims):
            show = _showing(progress, i * seconds, len(claims) * seconds, visible(sought.id))
            outcome = search(sought, profile, seconds, progress=show)
            rechecks = again(outcome.counterexample, sought, profile) if outcome.counterexample is not None else []
            written: tuple[str, str] = ("", "")
            if outcome.counterexample is not None:
                written = _write(outcome, file, profile, out)
                code = max(code, 3 if any(recheck.verdict == "supported" for recheck in rechecks) else 1)
            elif outcome.nearest is None:
                code = max(code, 3)
            told.append(_data(outcome, rechecks, written))
            if not json:
                print("\n".join(_lines(outcome, rechecks, written)), flush=True)
    if json:
        write_json(told)
    return code


def _showing(
    progress: Callable[[int, int, str], None], before: float, total: float, id: str
) -> Callable[[float, int], None]:
    """A function that reports the progress of one search within the time for all of them."""
    return lambda spent, trials: progress(round(before + spent), round(total), f"{id}: {counted(trials, 'trial')}")


def _counterexample(out: Path, id: str) -> Path:
    return out / f"{id.replace('/', '-').replace('.', '-')}.py"


def _write(outcome: Search, file: ClaimsFile, profile: Profile, out: Path) -> tuple[str, str]:
    """Write the counterexample as a claims file and verify it; return the path, and the reason if it is not refuted."""
    assert outcome.counterexample is not None
    path = _counterexample(out, outcome.sought.id)
    try:
        write_whole(path, claim_at(outcome.counterexample, outcome.sought, file).encode())
        claims = [claim for claim in claims_of(str(path), profile) if claim.id == id_of(outcome.sought)]
        records = run(claims, jobs=0, seed=profile.seed).claims
    except InvalidInput as error:
        return "", str(error)
    verdicts = [record.verdict for record in records]
    if verdicts != ["refuted"] or not records[0].control.caught:
        problem = "; ".join(record.problem for record in records if record.problem)
        return str(path), f"as a claim by itself it is {', '.join(verdicts) or 'not there'}, not refuted: {problem}"
    return str(path), ""


def _lines(outcome: Search, rechecks: Sequence[Again], written: tuple[str, str]) -> list[str]:
    id = visible(outcome.sought.id)
    searched = [f"    searched {visible(ranges)}" for ranges in outcome.searched if ranges]
    if outcome.counterexample is None:
        return [*_none(outcome, id), *_not_reached(outcome), *searched]
    trial = outcome.counterexample
    first = f"first after {counted(outcome.first, 'trial')}, {outcome.first_seconds:.1f} s"
    lines = [
        f"✗ {id}: counterexample ({first}; {counted(outcome.trials, 'trial')}, {outcome.seconds:.1f} s)",
        f"    at {_where(outcome, trial)}",
    ]
    lines.append(f"    measured {visible(trial.quantity)} = {trial.measured}, claimed {visible(trial.claimed)}")
    for recheck in rechecks:
        lines.append(f"    by {recheck.by}: {_second_verdict(recheck)}")
    if not rechecks:
        lines.append("    by another method: none, because the value does not come from a loss of lipverify")
    path, trouble = written
    lines += [f"    {visible(trouble)}"] * bool(trouble)
    if path:
        lines.append(f"    ready claim: lipverify verify {path}")
        lines += [f"        {visible(line)}" for line in _declaration(Path(path))]
    return lines + searched


def _second_verdict(recheck: Again) -> str:
    if recheck.verdict is None:
        return f"not reached ({_short(recheck.measured)})"
    words = {"refuted": "refuted too", "inconclusive": "open", "supported": "it HOLDS: the methods disagree"}
    return f"{words[recheck.verdict]}: {recheck.measured}"


def _declaration(path: Path) -> list[str]:
    lines = path.read_text(encoding="utf-8").splitlines()
    start = max(i for i, line in enumerate(lines) if line == "claim(")
    return lines[start:]


def _none(outcome: Search, id: str) -> list[str]:
    if outcome.nearest is None:
        return [f"! {id}: nothing could be measured at {counted(outcome.trials, 'point')} ({outcome.seconds:.1f} s)"]
    near, where = outcome.nearest, _where(outcome, outcome.nearest)
    return [
        f"· {id}: no counterexample in {counted(outcome.trials, 'trial')} ({outcome.seconds:.1f} s)",
        f"    nearest: {visible(near.quantity)} = {near.measured}, claimed {visible(near.claimed)}, at {where}",
    ]


def _not_reached(outcome: Search) -> list[str]:
    """Count the points without a value, and give the most common reason."""
    count = sum(outcome.not_reached.values())
    if not count:
        return []
    commonest = max(outcome.not_reached, key=lambda reason: outcome.not_reached[reason])
    return [f"    {counted(count, 'point')} gave no answer, such as: {_short(commonest)}"]


def _short(reason: str) -> str:
    """A reason, cut after a whole word."""
    return shorten(visible(reason), 160, placeholder=" …")  # characters


def _where(outcome: Search, trial: Any) -> str:
    coordinates = whole(trial, outcome.sought).items()
    return ", ".join(f"{name} = {visible(str(value))}" for name, value in coordinates) or "its point"


def _data(outcome: Search, rechecks: Sequence[Again], written: tuple[str, str]) -> dict[str, Any]:
    trial = outcome.counterexample or outcome.nearest
    return {
        "id": outcome.sought.id,
        "found": outcome.counterexample is not None,
        "searched": list(outcome.searched),
        "trials": outcome.trials,
        "seconds": round(outcome.seconds, 2),
        "first": outcome.first,
        "first_seconds": round(outcome.first_seconds, 2),
        "where": whole(trial, outcome.sought) if trial else None,
        "measured": trial.measured if trial else None,
        "claimed": trial.claimed if trial else None,
        "again": [{"by": recheck.by, "verdict": recheck.verdict, "measured": recheck.measured} for recheck in rechecks],
        "file": written[0] or None,
        "not_reached": sum(outcome.not_reached.values()),
    }
