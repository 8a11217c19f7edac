"""`python -m lipverify` is the command `lipverify`."""

from lipverify.cli import main

if __name__ == "__main__":
    main()
