r"""The optimal w of waves, where L is a frequency: it grows as long as tokens resolve the waves, and then falls to 0."""

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
claim("softmax.window-directions/cosine/l",
      bound(moves.proved_windows, "w^*(L') - w^*(L)", of="change", low=0, control=(5, {"low": "-2.1", "high": "-2"}),
            over={"L": 3.0, "larger": 4.0}, method="certified"),
      kind="convention", reading=moves.FREQUENCY, title="w* grows with L, where L is a frequency",
      statement=r"L' > L \implies w^*(L') \geq w^*(L)", **COSINE,
      finding=at(turning, found=at(moves.proved_windows, d=2, n=1000, sigma=13.0, L=3.0, larger=4.0)),
      corrected="""$w^*$ grows with $L$ where $L$ is an amplitude (affine, ReLU), and for the cosine law as long as
      $J_2(L)^2$ grows""")
