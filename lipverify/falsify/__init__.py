"""Search for counterexamples to claims: Hypothesis draws, steers and shrinks points, and a second method checks them.

It needs the extra `testing`: `pip install 'lipverify[testing]'`.
"""

try:
    import hypothesis  # noqa: F401
except ModuleNotFoundError:
    from lipverify.errors import InvalidInput

    raise InvalidInput(
        "lipverify falsify needs Hypothesis, which is not installed: pip install 'lipverify[testing]'."
    ) from None

from lipverify.falsify.search import Search, search
from lipverify.foundation.lazy import directory

__all__ = ["Search", "search"]
__dir__ = directory(__name__)
