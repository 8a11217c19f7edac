"""Kinds of attention besides softmax under their short address: `from lipverify.attention import Epanechnikov`."""

from lipverify.loss.kernels import Box, Epanechnikov, Kernel, NormalisedLinear, Rational

__all__ = ["Box", "Epanechnikov", "Kernel", "NormalisedLinear", "Rational"]
