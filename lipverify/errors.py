"""What the library raises when it is asked for something it must not answer."""

__all__ = ["DeviceLost", "InvalidInput", "OutOfReach"]


class InvalidInput(ValueError):
    """The question is malformed: the message names the value, the rule and the way out."""


class OutOfReach(ArithmeticError):
    """The question is sound, but this method cannot answer it to the accuracy asked for."""


class DeviceLost(OutOfReach):
    """A GPU failed in a way after which this process can use it no more: another process can."""
