"""A page to play with: bias, noise and the optimal w of one problem as its parameters move.

`lipverify explore` serves it on this machine alone and opens a browser. Every number on it is computed by the exact
method when it is asked for.
"""

from lipverify.explore.server import serve
from lipverify.explore.view import Setting, picture, ray
from lipverify.foundation.lazy import directory

__all__ = ["Setting", "picture", "ray", "serve"]
__dir__ = directory(__name__)
