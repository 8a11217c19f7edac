"""The exceptions that the library raises instead of giving an unreliable answer."""

__all__ = ["DeviceLost", "InvalidInput", "OutOfReach"]


class InvalidInput(ValueError):
    """The input breaks a rule; the message shows the value, the rule and the way out.

    Examples
    --------
    >>> from lipverify import Problem
    >>> from lipverify.laws import ReLU
    >>> try:
    ...     Problem(d=0, n=100, law=ReLU())
    ... except InvalidInput as error:
    ...     print(str(error)[:5])
    d = 0
    """


class OutOfReach(ArithmeticError):
    """The input is valid, but this method cannot reach the requested accuracy.

    Examples
    --------
    >>> issubclass(OutOfReach, ArithmeticError)
    True
    """


class DeviceLost(OutOfReach):
    """A GPU failed so that this process can no longer use it; another process can.

    Examples
    --------
    >>> issubclass(DeviceLost, OutOfReach)
    True
    """
