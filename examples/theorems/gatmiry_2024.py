"""Can looped transformers learn to implement multi-step gradient descent? The best step of L equal layers.

From memory, by topic. In one dimension the L layers leave E (1 - a s)^{2L}, s = chi^2_n / n, a polynomial in a whose
minimum is found with 80 digits; the second method passes sampled prompts through L steps of descent.
"""

import mpmath

from lipverify.claims import Figure, Panel, Series, agree, at, bound, claim, exponent
from lipverify.prompts import Prompts, predictors, risk

PAPER = "Gatmiry, Saunshi, Reddi, Jegelka, Kumar, ICML 2024"


def minimum(n, L):
    """The best step a*, its distance from 1, and its loss, in units of (2L - 1)!! (2/n)^L too."""
    with mpmath.workdps(80 + 12 * L):
        moments, step = [mpmath.mpf(1)], 2 / mpmath.mpf(n)
        for k in range(2 * L):
            moments.append(moments[-1] * (1 + k * step))
        powers = [(-1) ** k * mpmath.binomial(2 * L - 1, k) for k in range(2 * L)]
        a = mpmath.findroot(lambda a: sum(p * a**k * moments[k + 1] for k, p in enumerate(powers)), (1 - L * step, 1))
        loss = sum((-a) ** k * mpmath.binomial(2 * L, k) * moments[k] for k in range(2 * L + 1))
        scaled = loss / step**L / mpmath.fac2(2 * L - 1)
        found = {"off": 1 - a, "rate": n * (1 - a), "a": a, "loss": loss, "scaled": scaled}
    return {name: (float(value), 1e-14 * float(value)) for name, value in found.items()}


def sampled(n, L, contexts, seed):
    """The loss at the best step, by descent on prompts."""
    return {"loss": risk(Prompts(d=1, n=n), predictors.gradient_descent(L, minimum(n, L)["a"][0]), contexts, seed)}


def picture(x=(5, 10, 20, 50, 100, 200, 500, 1000)):
    curves = tuple(Series(label=f"$L = {L}$", x=x, y=tuple(minimum(n, L)["loss"][0] for n in x)) for L in (1, 2, 3, 4))
    panel = Panel(title="", xlabel="$n$", ylabel="loss", series=curves)
    return Figure(caption="The least loss of $L$ equal layers.", alt="Lines of slope -L.", panels=(panel,))


# fmt: off
CLOSE = (PAPER, "the global minimum", r"close to the inverse covariance, up to an error of order $n^{-1/2}$")
FAR, L = {"n": (1e3, 1e12)}, {"L": (1, 2, 3, 4)}
claim("gatmiry.close", exponent(minimum, "1 - a^*", of="off", along=FAR, high="-1/2", truth=-1), over=L, source=CLOSE,
      kind="derived", expected="supported", title="The best step tends to the inverse covariance")
claim("gatmiry.step", bound(minimum, "n (1 - a^*)", of="rate", equals="(4*L + 2)/3", within=1e-4, along=FAR), over=L,
      source=CLOSE, kind="sharp", expected="supported", title="How fast the best step tends to the inverse covariance")
claim("gatmiry.loss", exponent(minimum, "R", of="loss", along=FAR, equals="-L", truth="-L"),
      bound(minimum, r"R / ((2L-1)!! (2/n)^L)", of="scaled", equals=1, within=1e-4, along=FAR),
      agree(minimum, sampled, "R", of="loss", over={"n": 200, "L": (1, 2)}), over=L, shows=at(picture), kind="derived",
      source=(PAPER, "the loss at the minimum", "exponentially small in the loops"), expected="supported")
claim("gatmiry.finite", bound(minimum, "a^*", of="a", equals=1, within=0.05, control=(None, {"n": 200})),
      over=L | {"n": 20}, source=CLOSE, kind="stronger", expected="refuted", corrected="$1 - (4L + 2)/(3n)$, nearly")
