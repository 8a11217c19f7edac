"""Random-energy model: weights exp(beta g_i) with n normal scores, as in attention, freeze at beta = sqrt(2 log n).

Beyond, sum a_i^2 tends to 1 - 1/b, b = beta / sqrt(2 log n). As 1/S^2 is the integral of u e^(-uS), its mean is one
integral at every n; it approaches the limit only like log log n / log n.
"""

import numpy as np

from lipverify.claims import Figure, Panel, Series, agree, at, bound, claim

PAPER = "Derrida, Phys. Rev. B 24 (1981)"  # from memory


def by_rule(log_n, b, step):
    """n u^2 E X^2 e^(-uX) (E e^(-uX))^(n - 1), X = e^(beta g), with u = e^(-beta v), summed over y = v^2/2 - log n."""
    top = np.sqrt(2 * log_n)
    y = np.arange(-8 - np.log(4 * np.pi * log_n) / 2, 45, step)[:, None]
    v, t = top + y / top, np.arange(-45 / (1 - 1 / b), 45 * b, step)  # t = beta (g - v)
    density = np.exp(-y - (y / top) ** 2 / 2 - v * t / (b * top) - (t / (b * top)) ** 2 / 2) / np.sqrt(2 * np.pi)
    squares = step * density @ np.exp(2 * t - np.exp(np.minimum(t, 9)))
    missing = step * density @ -np.expm1(-np.exp(np.minimum(t, 9))) / (b * top)  # n (1 - E e^(-uX))
    rest = np.expm1(log_n) * np.log1p(-np.minimum(missing * np.exp(-log_n), 0.999)) if log_n < 30 else -missing
    return step * np.sum(squares * np.exp(rest)) / top


def participation(log_n, b):
    """The mean of sum a_i^2, with the change from a coarser rule as its error."""
    value = by_rule(log_n, b, 0.2)
    return value, abs(value - by_rule(log_n, b, 0.3)) + 1e-9


def sampled(log_n, b, contexts, seed):
    n = round(np.exp(log_n))
    scores = np.random.default_rng((seed, n)).normal(size=(contexts // 4, n)) * b * np.sqrt(2 * log_n)
    a = np.exp(scores - scores.max(axis=1, keepdims=True))
    values = (a**2).sum(axis=1) / a.sum(axis=1) ** 2
    return values.mean(), 1.96 * values.std() / len(values) ** 0.5


# fmt: off
def picture(b=tuple(map(lambda k: 1 + k / 5, range(1, 16)))):
    curves = [Series(label=rf"$\log n = {m}$", x=b, y=tuple(float(participation(m, x)[0]) for x in b)) for m in (5, 15)]
    curves.append(Series(label="$1 - 1/b$", x=b, y=tuple(1 - 1 / x for x in b), style="dashed"))
    panel = Panel(title="", xlabel="$b$", ylabel=r"$\sum a_i^2$", xscale="linear", yscale="linear", series=(*curves,))
    return Figure(caption="The participation of frozen weights.", alt="Above 1 - 1/b.", panels=(panel,))


OVER, RATIO, TRUE = {"b": (1.5, 2.0)}, r"E \sum a_i^2", "1 - 1/b + log(4*pi*log_n)/(4*b*log_n)"
LOW = (PAPER, "the low-temperature phase", r"beyond $\beta_c = \sqrt{2 \log n}$: $E \sum a_i^2 = 1 - \beta_c/\beta$")
claim("freezing.limit", bound(participation, RATIO, along={"log_n": (10, 1e6)}, equals="1 - 1/b", within=1e-3),
      over={"b": (1.5, 2.0, 4.0)}, source=LOW, kind="printed", expected="supported", shows=at(picture),
      title="Frozen attention weights")
claim("freezing.finite", bound(participation, RATIO, equals="1 - 1/b", within=0.02, truth=TRUE),
      agree(participation, sampled, RATIO, over={"b": (1.5, 4.0), "log_n": (4.0, 6.0)}),
      over=OVER | {"log_n": (7.0, 14.0)}, source=LOW, kind="stronger", expected="refuted",
      corrected=r"$\log(4 \pi \log n) / (4 b \log n)$ more, to leading order", title="With a million tokens")
