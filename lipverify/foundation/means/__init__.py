"""Means with errors; the kind of interval depends on what is known about the samples.

betting   samples within known bounds: an interval that is valid at every sample size, from running sums
batches   a few batches of equal weight, and estimates that are not means: t intervals and the jackknife
checked   samples within known bounds: a normal interval where the samples bear it out, else a betting interval
samples   many independent samples: standard errors, and a rule for when they cannot be trusted
"""
