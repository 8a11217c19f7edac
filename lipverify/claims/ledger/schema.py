"""The schema of the ledger as JSON Schema: `python -m lipverify.claims.ledger.schema > docs/ledger.schema.json`."""

from __future__ import annotations

import json
import sys
from typing import Any

import msgspec

from lipverify.claims.ledger.record import FORMAT, Ledger


def schema() -> dict[str, Any]:
    """The schema, named by the format that it describes.

    >>> schema()["$id"]
    'lipverify-ledger-3'
    """
    return {"$id": FORMAT, **msgspec.json.schema(Ledger)}


if __name__ == "__main__":
    sys.stdout.write(json.dumps(schema(), indent=1, ensure_ascii=False) + "\n")
