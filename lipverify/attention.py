"""Short module path for attention other than softmax: `from lipverify.attention import Epanechnikov`."""

from lipverify.loss.kernels import Box, Epanechnikov, Kernel, NormalisedLinear, Rational

__all__ = ["Box", "Epanechnikov", "Kernel", "NormalisedLinear", "Rational"]
