"""`python -m checks ...` is `lipverify verify ...`."""

import sys

from lipverify.cli import main

if __name__ == "__main__":
    main(["verify", *sys.argv[1:]])
