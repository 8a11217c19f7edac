"""The contents of the report: sections in the order of the slides, and the claims that each holds.

A claim is known here by its stem, the part of its id before the first "/"; all readings of one statement share it.
The order is that of the tables of claims: for softmax attention what the loss is, its two terms, Theorem 2, Theorem 3,
training, linear attention, Theorem 4, and what was conjectured beyond the paper; then linear transformers.
"""

from __future__ import annotations

CONTENTS: dict[str, dict[str, str]] = {
    "The loss and the attention kernel": {
        "softmax.split": "The loss is bias plus noise",
        "softmax.gaussian-window": "Softmax attention is a Gaussian window",
        "softmax.values-ignore-covariates": "The values ignore the covariates (Lemma B.1)",
        "softmax.covariance-inversion": "Attention inverts the covariance (Lemma 1)",
    },
    "The two terms of the loss": {
        "softmax.noise-rate": "The noise grows with the window parameter",
        "softmax.bias-lower": "The bias falls no faster than printed",
        "softmax.bias-upper": "The bias falls at least as fast as printed",
    },
    "The optimal window (Theorem 2)": {
        "softmax.window-printed": "The optimal window, as printed",
        "softmax.window-derived": "The optimal window that the displayed bounds imply",
        "softmax.window-directions": "What widens the window and what narrows it",
        "softmax.tradeoff": "The tradeoff between bias and noise",
    },
    "Generalisation to new tasks (Theorem 3)": {
        "softmax.generalization-same": "Tested on tasks of the same Lipschitz constant",
        "softmax.generalization-larger": "Tested on rougher tasks",
        "softmax.generalization-smaller": "Tested on smoother tasks",
        "softmax.lipschitz-sufficient": "The same Lipschitz constant is enough",
        "softmax.lipschitz-necessary": "The same Lipschitz constant is needed",
        "softmax.context-length": "The error against the length of the context",
    },
    "Training": {
        "softmax.norm-growth": "The norm of M grows faster for rougher tasks",
        "softmax.trained-form": "Full key and query matrices end in block form",
        "softmax.width": "A wider inner dimension changes nothing",
    },
    "Linear attention": {
        "linear-attention.floor": "Linear attention does not adapt",
    },
    "Tasks that depend on a few directions (Theorem 4)": {
        "lowrank.recovery": "Attention finds the directions that matter",
        "lowrank.boundary": "Where the conclusion of Theorem 4 ends",
        "lowrank.directions": "Attention is positive on the relevant directions and zero on the others",
        "lowrank.nonlinear": "Nonlinear tasks of low rank",
    },
    "Beyond regression": {
        "extension.classification": "Classification (a conjecture of the rebuttal)",
    },
    "Linear transformers: what a layer does": {
        "lt.implicit-model": "Every layer keeps a linear model (Theorem 4.1)",
        "lt.diagonal": "Diagonal weights: four numbers a layer",
        "lt.momentum": "Gradient descent with momentum (Lemma 4.4)",
        "lt.adaptive-step": "A step that shrinks with the noise",
        "lt.two-step": "What one weight changes, and when",
    },
    "Linear transformers: what they can and cannot do": {
        "lt.expressive-limit": "No depth reaches a quadratic target (Theorem 4.2)",
        "lt.second-order": "GD++ is a second-order method (Theorem 5.1)",
        "lt.noise-adaptive": "Two layers adapt to two noise levels (Theorem 5.2)",
    },
    "Linear transformers: trained models": {
        "lt.constant-ridge-bound": "GD++ cannot beat the best constant ridge",
        "lt.table-1": "The table of losses (Table 1)",
        "lt.match-tuned": "Five layers match tuned ridge",
        "lt.near-diagonal": "Full matrices end near the diagonal",
        "lt.extrapolation": "Noise levels outside the training range",
    },
}
"""{section: {stem: title of all its readings}}, in the order in which they are printed."""

NOT_WRITTEN: frozenset[str] = frozenset()
"""Places that are kept for claims which are still to come."""
