"""The version of lipverify."""

__version__ = "0.2.0"
