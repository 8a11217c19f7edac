"""Laws and contexts put together: the bias by the averages of a law over its tasks, and its error."""
