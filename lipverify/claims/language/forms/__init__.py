"""The three forms of a claim: an exponent along a ray, bounds on a value, an identity."""

from lipverify.claims.language.forms.along import Along, Exponent, Limit
from lipverify.claims.language.forms.form import Form, sides_of
from lipverify.claims.language.forms.values import Bound, Identity
from lipverify.claims.language.forms.written import bound, exponent, identity

__all__ = [
    "Along",
    "Bound",
    "Exponent",
    "Form",
    "Identity",
    "Limit",
    "bound",
    "exponent",
    "identity",
    "letter",
    "sides_of",
]
