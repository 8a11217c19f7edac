"""A mathematical perspective on transformers: tokens that start orthogonal cluster under attention on the sphere."""

import numpy as np
from scipy.integrate import simpson, solve_ivp
from scipy.optimize import brentq
from scipy.special import softmax

from lipverify.claims import Figure, Panel, Series, agree, at, bound, claim, exponent

PAPER = "Geshkovski, Letrouit, Polyanskiy, Rigollet, Bull. AMS (2025), arXiv 2312.10794"  # from memory


def distance(n, beta, q):
    """1 - g at t = log q, g' = 2 e^(beta g) (1 - g) ((n - 1) g + 1) / (e^beta + (n - 1) e^(beta g)), z = log(1 - g)."""

    def speed(t, z):
        return 2 * ((n - 1) * np.expm1(z) - 1) / (np.exp(beta * np.exp(z)) + n - 1)

    z = solve_ivp(speed, (0, np.log(q)), [0.0], rtol=1e-11, atol=1e-12, method="DOP853").y[0, -1]
    return np.exp(z), 1e-7 * np.exp(z)


def by_tokens(n, beta, q):
    """The largest 1 - <x_i, x_j> of n tokens that move on the sphere by attention, from orthogonal places."""

    def velocity(t, x):
        X = x.reshape(n, n)
        V = softmax(beta * X @ X.T, axis=1) @ X
        return (V - (V * X).sum(axis=1, keepdims=True) * X).ravel()

    X = solve_ivp(velocity, (0, np.log(q)), np.eye(n).ravel(), rtol=1e-9, atol=1e-10).y[:, -1].reshape(n, n)
    return 1 - (X @ X.T).min(), 1e-6


def meeting(beta, n):
    """The time at which g = 1/2, times 2 beta e^(-beta): the integral of 1/g'."""
    g = np.linspace(0, 1, 4001) ** 2 / 2
    inverse = (np.exp(-beta * g) + (n - 1) * np.exp(-beta)) / ((1 - g) * ((n - 1) * g + 1))
    return beta * simpson(inverse * 2 * g**0.5 / 2**0.5, x=np.sqrt(2 * g)), 1e-9


def by_steps(beta, n):
    return 2 * beta * np.exp(-beta) * brentq(lambda t: distance(n, beta, np.exp(t))[0] - 0.5, 1e-3, 1e2), 1e-5


# fmt: off
def picture(t=tuple(map(lambda k: k / 4, range(1, 61)))):
    y = {b: tuple(float(distance(9, b, np.exp(x))[0]) for x in t) for b in (1, 6)}
    curves = tuple(Series(label=rf"$\beta = {b}$", x=t, y=y[b]) for b in y)
    panel = Panel(title="", xlabel="$t$", ylabel=r"$1 - \gamma$", xscale="linear", series=curves)
    return Figure(caption="Nine tokens that start orthogonal.", alt="A plateau, then a fall.", panels=(panel,))
ODE = (PAPER, "orthogonal initial tokens", r"all $\langle x_i, x_j \rangle$ are one $\gamma_\beta(t)$")
OVER = {"n": (2, 6), "beta": (0.5, 2.0, 6.0), "q": (3.0, 10.0)}
EQUATION = bound(by_tokens, r"1 - \gamma", equals=lambda n, beta, q: distance(n, beta, q)[0], within=1e-4)
claim("clusters.equation", EQUATION, source=ODE, over=OVER, kind="printed", expected="supported", title="All pairs")
claim("clusters.rate", exponent(distance, r"1 - \gamma", along={"q": (1e3, 1e12)}, equals=-2, truth=-2), source=ODE,
      over={"n": (2, 10), "beta": (0.5, 2.0)}, kind="derived", expected="supported", title="Rate", shows=at(picture))
claim("clusters.meeting", bound(meeting, r"2 \beta e^{-\beta} t", along={"beta": (10, 1e3)}, equals=1, within=0.01),
      agree(meeting, by_steps, "T", over={"n": (3, 10), "beta": (1.0, 4.0)}), source=ODE, over={"n": (3, 10)},
      kind="derived", expected="supported", title=r"The time $t$ of the metastable phase")
