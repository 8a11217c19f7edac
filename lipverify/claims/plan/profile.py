"""The amount of evidence that a run gathers, and values that depend on it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Generic, Literal, TypeVar, cast

from lipverify.errors import InvalidInput

T = TypeVar("T")


@dataclass(frozen=True)
class Profile:
    """The amount of evidence: points on a ray, sampled contexts, and a name on which claims may depend.

    `limit` is the longest time in seconds for one measurement by default, many times the slowest of lipverify's own.
    """

    name: Literal["quick", "full"]
    points: int
    contexts: int
    limit: float
    seed: int = 0
    backend: str = "numpy"


def profile_named(name: str, seed: int = 0, backend: str = "numpy") -> Profile:
    """The profile of this name."""
    if name == "quick":
        return Profile("quick", 12, 20_000, 1800.0, seed, backend)
    if name == "full":
        return Profile("full", 27, 400_000, 21600.0, seed, backend)
    raise InvalidInput(f"profile = {name!r} is not known; choose one of: quick, full.")


@dataclass(frozen=True)
class PerProfile(Generic[T]):
    """A value for each profile, for example of dimensions or numbers of contexts.

    >>> PerProfile((2, 3), (2, 3, 5, 8)).of(profile_named("quick"))
    (2, 3)
    """

    quick: T
    full: T

    def of(self, profile: Profile) -> T:
        """The value for a profile."""
        return self.quick if profile.name == "quick" else self.full


def per_profile(quick: T, full: T) -> T:
    """Give one value for the quick profile and one for the full profile.

    Parameters
    ----------
    quick, full
        The value under `--profile quick`, and under `--profile full`.

    Returns
    -------
    PerProfile
        A placeholder that is replaced by one of the two when a claim is planned; for type checkers one of the two.

    Examples
    --------
    >>> per_profile(8, 24).full
    24
    """
    return cast(T, PerProfile(quick, full))


def settled(value: Any, profile: Profile) -> Any:
    """The value itself, or its value for the profile if it depends on that."""
    return value.of(profile) if isinstance(value, PerProfile) else value
