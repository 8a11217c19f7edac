r"""The optimal w of even laws and of waves. For waves L is a frequency, and the window can widen again.

An even law has no linear part: from a finite noise level on, the best attention is the plain average, w* = 0. For the
cosine law w* grows with the frequency L as long as tokens resolve the waves, and then falls to 0.
"""

from typing import Any

from lipverify.checks.softmax import window_moves as moves
from lipverify.checks.softmax.figures import turning
from lipverify.checks.softmax.quantities import MODEL
from lipverify.claims import at, bound, claim

# fmt: off
COSINE: dict[str, Any] = {
    "source": moves.SUMMARY, "expected": "refuted", "over": {"d": 2, "n": 1000, "sigma": 13.0},
    "assumes": (*MODEL, r"cosine law, $d = 2$, $n = 1000$, $\sigma = 13$"),
}
ORIGIN: dict[str, Any] = {
    "source": moves.NOISE_GROWS,
    "assumes": (*MODEL, r"""even laws: $k_1 = 0$; $\sigma^2$ one percent above and below the threshold, where that is
    positive"""),
}
EVEN = (("quadratic", 1.0), ("cosine", 3.0))

claim("softmax.window-directions/cosine/l",
      bound(moves.proved_windows, "w^*(L') - w^*(L)", of="change", low=0, control=(5, {"low": "-2.1", "high": "-2"}),
            over={"L": 3.0, "larger": 4.0}, method="certified"),
      kind="convention", reading=moves.FREQUENCY, title="w* grows with L, where L is a frequency",
      statement=r"L' > L \implies w^*(L') \geq w^*(L)", **COSINE,
      finding=at(turning, found=at(moves.proved_windows, d=2, n=1000, sigma=13.0, L=3.0, larger=4.0)),
      corrected="""$w^*$ grows with $L$ where $L$ is an amplitude (affine, ReLU), and for the cosine law as long as
      $J_2(L)^2$ grows""")
claim("softmax.window-directions/cosine/positive",
      bound(moves.proved_windows, "w^*", of="at", low=0, strict=True, control=({"L": 3.0}, {"equals": 0, "within": "1e-15"}),
            over={"L": (1.0, 4.0), "larger": 3.0}, method="certified"),
      kind="stronger", title="some attention is better than the average of all tokens", **COSINE,
      finding=r"""By ball arithmetic: at $L = 1$ and at $L = 4$ the loss has its only minimum at $w = 0$. The cosine law
      is even, so $w = 0$ is always stationary, and it is a minimum if $(\sigma^2 + \mathrm{Var} f) / n > 2 (1 - 2/n)
      k_2 / (d + 2)$, where $k_2$ is the weight of the second harmonic.""",
      corrected="""$w^* > 0$ for laws with a linear part (affine, ReLU); for an even law only if its second harmonic
      outweighs the noise""")
claim("softmax.window-directions/even/threshold",
      bound(moves.about_threshold, "w^*", equals=0, within="1e-15", control={"share": 0.99},
            over={("law", "L"): EVEN, "d": (2, 3, 5), "n": (20, 10**6), "share": 1.01}, method="exact"),
      bound(moves.about_threshold, "w^*", low=0, strict=True, control={"share": 1.01},
            over={("law", "L"): EVEN, "d": (2, 3, 5), "n": (20, 10**6), "share": 0.99}, method="exact"),
      kind="stronger", expected="supported",
      title="the noise at which attention on an even law becomes the plain average",
      statement=r"""w^* = 0 \iff \frac{\sigma^2 + \mathrm{Var} f}{n} \geq \left(1 - \frac{2}{n}\right) \frac{2 k_2}{d + 2}""", **ORIGIN,
      finding=r"""$k_2$ is the weight of the second harmonic. With a linear part, some attention is better than none. An
      even law has no linear part, and $w = 0$ is stationary with a curvature of this sign. So 'no signal, average the
      noise' is not only a limit for such laws: $w^* = 0$ from a finite $\sigma$ on.""")
claim("softmax.window-directions/cosine/threshold/fast",
      bound(moves.about_threshold, "w^*", equals=0, within="1e-15", control=(1, {"low": "10", "high": "11"}),
            over={"law": "cosine", "L": 6.0, "d": 2, "n": 1000, "share": 1.01}, method="exact"),
      kind="stronger", expected="refuted", title="the same threshold for every even law",
      statement=r"w^* = 0 \text{ from } \sigma^2 = 2 n (1 - 2/n) k_2 / (d + 2) - \mathrm{Var} f \text{ on}", **ORIGIN,
      finding=r"""$\cos 6 z$ has most of its weight in higher harmonics. Beyond the threshold $w = 0$ is a local
      minimum, but the global minimum is far from it, at a $w^*$ between 10 and 11; as the noise grows $w^*$ jumps to 0.""",
      corrected=r"""at the threshold $w = 0$ becomes a local minimum; if the second harmonic carries most of
      $\mathrm{Var} f$ it is the global minimum""")
claim("softmax.window-directions/cosine/l/long-contexts",
      bound(moves.wave_windows, "w^*(2 L) / w^*(L)", low=1, strict=True, control=4, method="exact"),
      source=moves.SUMMARY, kind="stronger", expected="supported",
      over={"d": (2, 5), "n": 10**6, "sigma": 1.0, ("L", "larger"): [(L, 2 * L) for L in (1.0, 2.0, 4.0, 8.0)]},
      title="w* grows with L, where L is a frequency and tokens are dense",
      assumes=(*MODEL, r"cosine law, $n = 10^6$, $\sigma = 1$; $L$ doubles from 1 to 16"))
claim("softmax.window-directions/cosine/l/short-waves",
      bound(moves.wave_windows, "w^*(2 L) / w^*(L)", low=1, control=(2, {"high": 0.5}), method="exact"),
      source=moves.SUMMARY, kind="stronger", expected="refuted",
      over={"d": 5, "n": 1000, "sigma": 0.3, ("L", "larger"): ((8.0, 16.0),)},
      title="w* grows with L, where L is a frequency, with little noise",
      statement=r"L' > L \implies w^*(L') \geq w^*(L)",
      assumes=(*MODEL, r"cosine law, $d = 5$, $n = 1000$, $\sigma = 0.3$; $L = 8$ and $L' = 16$"),
      finding=r"""A thousand tokens in five dimensions are further apart than half a wave of $\cos 16 z$. Even the
      nearest token says nothing about the label at the query, and the best prediction is the average of all labels,
      $w^* = 0$. At $L = 8$ the window is narrow. So it narrows with the frequency as long as tokens resolve the waves,
      and then widens at once, with little noise as with much.""",
      corrected=r"""rapid change requires a narrow window while the context resolves it, $L \ll n^{1/(d-1)}$; beyond
      that, the plain average is best""")
