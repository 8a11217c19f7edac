"""`python lipverify/proofs/checker FILE ...`: nothing of lipverify is imported but this folder."""

import sys
from importlib import import_module
from pathlib import Path

if __name__ == "__main__":
    folder = Path(__file__).resolve().parent
    sys.path[0] = str(folder.parent)
    sys.exit(import_module(folder.name).main(sys.argv[1:]))
