"""The ridge route: the bias and its error from the averages of a law over its tasks."""
