"""An interactive page: bias, noise and the optimal w of one problem, with sliders for its parameters.

`lipverify explore` serves the page to this machine only and opens a browser. Every number on the page is computed on
request by the exact method.
"""

from lipverify.explore.server import serve
from lipverify.explore.view import Setting, picture, ray
from lipverify.foundation.lazy import directory

__all__ = ["Setting", "picture", "ray", "serve"]
__dir__ = directory(__name__)
