"""Means with errors; the kind of interval depends on what is known about the samples.

betting   samples within known bounds: an interval that is valid at every sample size, from running sums
batches   a few batches of equal weight, and estimates that are not means: t intervals and the jackknife
samples   many independent samples: normal intervals, refused where the standard error cannot be trusted
"""
