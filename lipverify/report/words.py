"""What the report says in its own words: the same sentences whatever the ledger holds."""

from __future__ import annotations

VERDICTS = {
    "supported": "consistent",
    "refuted": "refuted",
    "inconclusive": "not decided",
    "error": "error",
}
"""The word for a verdict, short enough for a table."""

LEGEND = (
    "A number with its signed distance to the edge of what a reading allows: ✓ inside, ✗ outside, ? across the edge; "
    "‡ marks a control that was not caught there. Readings of one statement that rest on the same measurement share "
    "a table, with a column for each; a reading is called by the end of its id."
)
"""How to read the tables of evidence."""

METHODS = {
    "exact": "deterministic quadrature of a Laplace representation of the loss; the cost does not "
    "depend on $n$, and the error is a bound that includes rounding",
    "montecarlo": "sampling of contexts with counter-based random numbers; the error is the "
    "half-width of the 95 % interval",
    "asymptotic": "leading terms derived by computer algebra; never the only ground of a verdict",
    "symbolic": "computer algebra: the result is an identity or an exact number",
    "identity": "both sides of an identity evaluated on sampled points; the error is a bound on rounding",
    "certified": "ball arithmetic; the interval provably contains the value",
    "training": "a property of trained weights; which basin a training ends in carries no error",
    "conditional expectation": "sampling of contexts, the query and the task averaged in closed form",
    "protocol": "sampling of contexts with one sampled query each, as the paper does",
    "tokens": "a layer applied to every token, as it is defined",
    "recursion": "the linear model that every layer keeps, from one layer to the next",
    "matrices": "the layers on whole second moments, not on their eigenvalues",
    "rational": "exact arithmetic with fractions",
    "formula": "the stated formula itself, on the same numbers",
    "derived": "the value that the stated derivation gives",
    "limit n → ∞": "the limit in closed form",
    "derived limit": "the limit in closed form",
    "closed form": "an integral done on paper",
    "minimised": "the least value found by minimising",
    "linear programming": "the least largest deviation by linear programming",
    "alternation": "the least largest deviation by Chebyshev's alternation",
    "averaged over signs": "an average over the signs of tokens, done exactly",
    "symmetry": "a value that symmetry forces",
    "stochastic gradients": "training on fresh contexts at every step",
    "descent on the exact loss": "gradient descent on the loss of the exact method",
    "moments": "the layers on the second moments of the context, whose cost does not grow with $n$",
}

HOW_VERDICTS_ARE_MADE = (
    "A measurement is an interval, the measured value ± its error; a claim allows a set of values. "
    "If the interval lies inside the set, the evidence is “consistent with” the claim; if it lies "
    "outside, the claim is “refuted at” that point; if it crosses the edge, the point is “not "
    "decided”. A narrower interval can decide an open case and can never overturn a decided one.",
    "A claim over several points is refuted if it is refuted at any of them, and consistent only "
    "if it is consistent at all of them. The margin is the distance from the interval to the edge "
    "of the allowed set, in units of the measured quantity: positive inside, negative outside, "
    "zero where the interval crosses the edge. A dash means that no finite edge bounds the set.",
    "Every claim has a control: a twin with a wrong exponent, sign or constant, judged on the same "
    "evidence. The control must come out refuted at every point, and methods that share no code "
    "must agree within their errors; otherwise the claim is not decided, because the evidence has "
    "shown no power to tell true from false.",
    "An asymptotic claim ($\\Omega$, $O$, $\\Theta$) is decided on the limit of the local exponent "
    "along the ray that the claim speaks of, extrapolated over many decades, with a stated error. "
    "The evidence is numerical: it can refute a statement about a limit and can be consistent with "
    "one, but a finite computation does not establish a limit.",
)

NOTATION = (
    ("$d$", "ambient dimension: tokens lie on the unit sphere $S^{d-1}$ in $\\mathbb{R}^d$"),
    ("$m$", "$d-1$, the dimension of the sphere itself (called intrinsic)"),
    ("$n$", "number of context tokens"),
    ("$L$", "Lipschitz constant of the task"),
    ("$\\sigma$", "standard deviation of the label noise"),
    (
        "$w$",
        "attention window parameter: the score of token $x_i$ is $w \\langle x_i, x \\rangle$; "
        "$w^*$ minimises the loss",
    ),
    ("$\\Lambda$", "$n L^2 / \\sigma^2$"),
    ("$B(w)$", "bias term of the loss, $\\mathbb{E} (\\sum_i a_i f(x_i) - f(x))^2$"),
    (
        "$N(w)$",
        "noise term of the loss, $\\sigma^2 \\, \\mathbb{E} \\sum_i a_i^2$, with softmax weights "
        "$a_i$; the loss is $B + N$",
    ),
    (
        "$\\Sigma, \\alpha, \\lambda$",
        "of linear transformers: $\\sum_i x_i x_i^\\top$, $\\sum_i y_i x_i$, $\\sum_i y_i^2$ over the context",
    ),
    (
        "$M, u, a, w$",
        "of linear transformers: tokens after a layer are $x_i = M x_i(0) + u y_i(0)$ and "
        "$y_i = a y_i(0) - \\langle w, x_i(0) \\rangle$; there $w$ is a vector",
    ),
    ("$\\omega_{xx}, \\omega_{xy}, \\omega_{yx}, \\omega_{yy}$", "the four weights of a diagonal layer"),
)
"""Symbols and their meanings, in the order of the table."""
