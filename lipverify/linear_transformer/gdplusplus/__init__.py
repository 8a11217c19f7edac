"""GD++, two weights a layer: it acts on eigenvalues, so that its loss is one integral and its optimum exact."""
