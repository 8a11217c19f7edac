r"""On the unit sphere softmax scores are a Gaussian kernel in the distance, of one width or the other."""

from __future__ import annotations

import numpy as np

from checks._running import run_file
from checks._slides import ASSUMED, slides
from lipverify.claims.claim import CellPlan, Claim, Reading, Task
from lipverify.claims.registry import Profile
from lipverify.claims.verdict import Allowed, Interval, Verdict
from lipverify.loss.streams import normals

N, W = 50, 7.0
SOURCES = {
    "intuition": slides("ICL Estimator Intuition", r"attention $\propto e^{-\frac{w_{KQ}}{2} \|x_i - x_{n+1}\|^2}$"),
    "proof": slides("Proof Sketch", r"attention $\propto e^{-w_{KQ} \|x_i - x_{n+1}\|^2}$"),
}
PRINTED = {"intuition": 0.5, "proof": 1.0}
VERDICTS: dict[str, Verdict] = {"intuition": "supported", "proof": "refuted"}


def kernel_factor(d: int, seed: int) -> tuple[float, float]:
    """C in a_i proportional to exp(-c w |x_i - x|^2): the range over all pairs of tokens, with rounding.

    Each pair gives c = (log a_i - log a_j) / (w (|x_j - x|^2 - |x_i - x|^2)).
    """
    points = normals(seed, f"kernel/{d}", 0, (N + 1, d))
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    query, tokens = points[0], points[1:]
    score = W * tokens @ query
    log_a = score - score.max() - np.log(np.sum(np.exp(score - score.max())))
    distance = np.sum((tokens - query) ** 2, axis=1)
    i, j = np.triu_indices(N, 1)
    apart = np.abs(distance[i] - distance[j]) > 1e-2
    c = (log_a[i] - log_a[j])[apart] / (W * (distance[j] - distance[i])[apart])
    # the numerator is a difference of numbers below 2w + log n, rounded to eps each
    rounding = 16 * float(np.finfo(float).eps) * (2 * W + np.log(N)) / (W * 1e-2)
    return float((c.max() + c.min()) / 2), float(np.ptp(c) / 2 + rounding)


def claims(profile: Profile) -> tuple[Claim, ...]:
    """The two widths that the slides print."""
    return tuple(_claim(profile, reading) for reading in PRINTED)


def _claim(profile: Profile, reading: str) -> Claim:
    factor, twin = PRINTED[reading], 2 * PRINTED[reading]
    width = 1e-9
    shown = r"\tfrac{w}{2}" if reading == "intuition" else "w"
    return Claim(
        id=f"softmax.gaussian-window/{reading}",
        title=f"Softmax attention is a Gaussian kernel, as printed on the {reading} slides",
        statement=rf"a_i \propto e^{{-{shown} \|x_i - x\|^2}} \quad \text{{when}} \quad a_i \propto e^{{w \langle x_i, x \rangle}}",
        source=SOURCES[reading],
        assumptions=ASSUMED,
        claimed=f"exponent {factor:g} w |x_i - x|²",
        control=f"exponent {twin:g} w |x_i - x|²",
        expected=VERDICTS[reading],
        cells=tuple(
            CellPlan(
                where={"d": k, "n": N},
                task=Task(kernel_factor, (k, profile.seed)),
                quantity="c in exp(-c w |x_i - x|²)",
                read=lambda result, allowed: Reading(Interval.around(*result)),
                claimed=f"= {factor:g}",
                allowed=Allowed(low=factor - width, high=factor + width),
                control=Allowed(low=twin - width, high=twin + width),
                method="identity",
            )
            for k in profile.dimensions
        ),
        finding=(
            "On the unit sphere $\\|x_i - x\\|^2 = 2 - 2 \\langle x_i, x \\rangle$, so $e^{w \\langle x_i, x \\rangle}$ is "
            "$e^{-\\frac{w}{2} \\|x_i - x\\|^2}$ up to a factor that softmax cancels. The proof slides write $w$ for what is $w/2$ "
            "here: harmless for rates, a factor of two in every constant."
        ),
        corrected=r"$a_i \propto e^{-\frac{w}{2} \|x_i - x\|^2}$" if reading == "proof" else "",
    )


if __name__ == "__main__":
    run_file(__file__)
