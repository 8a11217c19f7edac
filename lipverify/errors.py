"""The exceptions that the library raises instead of giving an unreliable answer."""

__all__ = ["DeviceLost", "InvalidInput", "OutOfReach"]


class InvalidInput(ValueError):
    """The input breaks a rule; the message shows the value, the rule and the way out."""


class OutOfReach(ArithmeticError):
    """The input is valid, but this method cannot reach the requested accuracy."""


class DeviceLost(OutOfReach):
    """A GPU failed so that this process can no longer use it; another process can."""
