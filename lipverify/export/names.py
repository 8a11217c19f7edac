"""File names from ids: an id is arbitrary text, and is used as a path only if it has the usual form."""

from __future__ import annotations

import re
from hashlib import blake2b

_ORDINARY = re.compile(r"[a-z][a-z0-9-]*\.[a-z0-9-]+(/[a-z0-9-]+)*")
_LONGEST = 120
"""Letters of an id in a file name; file systems take 255 bytes, and an ending and a number follow."""


def file_name(id: str) -> str:
    """The file name of an id: the id with "_" for "/"; of any other text its letters, and a digest.

    Different ids have different names. No name leaves the folder or is hidden.

    >>> file_name("softmax.window-printed/affine/lower")
    'softmax.window-printed_affine_lower'
    >>> file_name("../../etc/passwd")
    'etc-passwd-3fe5b8a45dc8'
    """
    if _ORDINARY.fullmatch(id) and len(id) <= _LONGEST:
        return id.replace("/", "_")
    letters = "-".join(re.findall(r"[A-Za-z0-9]+", id))[: _LONGEST // 2].strip("-")
    digest = blake2b(id.encode("utf-8", "surrogatepass"), digest_size=6).hexdigest()
    return f"{letters}-{digest}" if letters else f"claim-{digest}"
