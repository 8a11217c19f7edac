"""Files of claims as collectors, and claims as items."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from lipverify.claims.ledger.record import Record
from lipverify.claims.plan.claim import Claim
from lipverify.claims.plan.profile import profile_named
from lipverify.claims.plan.registry import claims_of
from lipverify.claims.run.judgment import record
from lipverify.errors import InvalidInput
from lipverify.pytest_plugin.measured import Measured
from lipverify.pytest_plugin.text import differs, reason, told

MEASURED = pytest.StashKey[Measured]()


class ClaimFile(pytest.File):
    """A file of claims."""

    def collect(self) -> Iterator[pytest.Item | pytest.Collector]:
        """One item for each claim."""
        return _items(self)


class ClaimModule(pytest.Module):
    """A test module that also has claims."""

    def collect(self) -> Iterator[pytest.Item | pytest.Collector]:
        """The claims, and then the tests."""
        yield from _items(self)
        yield from super().collect()


def _items(file: pytest.File) -> Iterator[ClaimItem]:
    """The claims of a file as items; a fault in the file is a collection error of one line."""
    option = file.config.option
    profile = profile_named(option.lipverify_profile, option.lipverify_seed)
    try:
        path = os.path.relpath(file.path, file.config.invocation_params.dir)
        claims = claims_of(path, profile)
    except InvalidInput as error:
        raise file.CollectError(str(error)) from None
    for claim in claims:
        yield ClaimItem.from_parent(file, name=claim.id, claim=claim)


class ClaimItem(pytest.Item):
    """One claim. It is measured in the set-up, so that a check that raises is an error, and judged in the call."""

    def __init__(self, *, claim: Claim, **place: Any) -> None:
        super().__init__(**place)
        self.claim = claim
        self.record: Record | None = None
        self.add_marker(pytest.mark.claim)

    def setup(self) -> None:
        """Make the missing measurements of the claim."""
        self.record = made = record(self.claim, measured(self.config).of(self.claim))
        for name in ("verdict", "expected", "measured", "claimed", "margin"):
            self.user_properties.append((name, str(getattr(made, name))))
        if made.verdict == "error":
            pytest.fail(f"a check broke: {made.problem}", pytrace=False)

    def runtest(self) -> None:
        """Compare the verdict with the recorded one."""
        made, option = self.record, self.config.option
        assert made is not None
        strict = option.lipverify_strict or bool(getattr(option, "strict", False))
        if differs(made, strict):
            pytest.fail(told(made), pytrace=False)
        if made.verdict == "inconclusive":
            pytest.skip(reason(made))

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """The place where the claim is declared."""
        return self.path, None, self.name


def measured(config: pytest.Config) -> Measured:
    """The measurements of this process."""
    if MEASURED not in config.stash:
        option = config.option
        shared = getattr(config, "workerinput", {}).get("lipverify_folder")
        settings = f"{option.lipverify_profile}, {option.lipverify_seed}, numpy"
        config.stash[MEASURED] = Measured(Path(shared) if shared else None, settings)
    return config.stash[MEASURED]
