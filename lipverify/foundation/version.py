"""The version of lipverify."""

__version__ = "0.3.0"
