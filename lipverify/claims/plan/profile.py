"""How much evidence a run gathers, and values that depend on it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Generic, Literal, TypeVar

from lipverify.errors import InvalidInput

PROFILES = ("quick", "full")
T = TypeVar("T")


@dataclass(frozen=True)
class Profile:
    """How much evidence to gather: points on a ladder, sampled contexts, and what claims make depend on its name."""

    name: Literal["quick", "full"]
    points: int
    contexts: int
    seed: int = 0
    backend: str = "numpy"


def profile_named(name: str, seed: int = 0, backend: str = "numpy") -> Profile:
    """The profile called `name`.

    Raises
    ------
    InvalidInput
        If there is none.
    """
    if name == "quick":
        return Profile("quick", 12, 20_000, seed, backend)
    if name == "full":
        return Profile("full", 27, 400_000, seed, backend)
    raise InvalidInput(f"profile = {name!r} is not known; choose one of: {', '.join(PROFILES)}.")


@dataclass(frozen=True)
class PerProfile(Generic[T]):
    """A value for each profile: dimensions, numbers of contexts, ...

    >>> DIMENSIONS.of(profile_named("quick"))
    (2, 3, 4, 5, 6, 7, 8)
    """

    quick: T
    full: T

    def of(self, profile: Profile) -> T:
        """The value for a profile."""
        return self.quick if profile.name == "quick" else self.full


DIMENSIONS = PerProfile((2, 3, 4, 5, 6, 7, 8), (2, 3, 4, 5, 6, 7, 8, 9, 10, 12))
"""The dimensions that an asymptotic claim is measured in."""


def per_profile(quick: T, full: T) -> PerProfile[T]:
    """A value for the quick profile, and one for the full one.

    Parameters
    ----------
    quick, full
        The value under `--profile quick`, and under `--profile full`.

    Returns
    -------
    PerProfile
        Stands for the one or the other where a claim is planned.

    >>> per_profile(8, 24).full
    24
    """
    return PerProfile(quick, full)


def settled(value: Any, profile: Profile) -> Any:
    """The value itself, or that of the profile."""
    return value.of(profile) if isinstance(value, PerProfile) else value
