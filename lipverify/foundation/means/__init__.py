"""A mean and how far it may be off, by what is known of the samples.

betting   samples within known bounds: valid at every number of them, from running sums
batches   a few batches of equal weight, and estimates that are no means: t intervals and the jackknife
samples   many independent samples: the normal law, and whether its standard error is to be believed
"""
