r"""The block form: which entries of full key and query matrices training puts to zero, and which it never sees."""

from __future__ import annotations

from checks._running import run_file
from lipverify.claims.claim import CellPlan, Claim, Reading, Task
from lipverify.claims.figure import Figure, Panel, Series
from lipverify.claims.ledger import Scalar, Source
from lipverify.claims.registry import Profile
from lipverify.claims.softmax.trained_form import ONE_SIDED, FormTraining, form_training, slope_in_row
from lipverify.claims.softmax.training import Recipe, paired_interval
from lipverify.claims.verdict import Allowed, Interval

REBUTTAL = Source(
    paper="R",
    place="Rebuttal 1, answer 1, on the decomposition of equation (4)",
    printed=r"Do trained models have the same decomposition for $\mathbf{W}_K^\top \mathbf{W}_Q$ as in Equation (4)? We indeed observe this "
    "decomposition empirically, [...] trained on ReLU functions of varying ambient dimensions",
)
N, SIGMA, L = 16, 0.5, 3.0
ORDINARY, SMALL = 0.3, 0.03
"""Standard deviations of the first keys and queries: about 1/sqrt(3 (d + 1)), what libraries take, and a tenth of it."""
RECIPES = (
    Recipe(optimiser="gd", learning_rate=0.3, steps=300, batch=64, start=ORDINARY),
    Recipe(optimiser="adam", learning_rate=0.02, steps=300, batch=64, start=ORDINARY),
)
SMALL_RECIPES = (
    Recipe(optimiser="adam", learning_rate=0.02, steps=300, batch=64, start=SMALL),
    Recipe(optimiser="adam", learning_rate=0.04, steps=300, batch=128, start=SMALL),
)
ZERO = 0.1
"""A block is called zero if its norm is at most this share of |M|: steps of stochastic gradients leave a few percent."""
SAME_SCALE = 0.5
"""What a block would have, at least, that is of M's scale."""
DIMENSIONS = {"relu": (2, 5), "affine": (3,)}


def claims(profile: Profile) -> tuple[Claim, ...]:
    """The row that multiplies labels, for two laws; the column that nothing sees; and the row for any law."""
    seeds, contexts = (12, 4000) if profile.name == "quick" else (24, 40_000)
    rows = (_row(profile, law, seeds, contexts) for law in DIMENSIONS)
    columns = (
        _column(profile, "ordinary-start", RECIPES, seeds, contexts),
        _column(profile, "small-start", SMALL_RECIPES, seeds, contexts),
    )
    return (*rows, *columns, _any_law(profile, seeds, contexts))


def _row(profile: Profile, law: str, seeds: int, contexts: int) -> Claim:
    dimensions = DIMENSIONS[law] if profile.name == "quick" else (2, 3, 5)
    runs = [(d, recipe, _task(profile, law, d, recipe, seeds, contexts)) for d in dimensions for recipe in RECIPES]
    trained = [cell for d, recipe, task in runs for cell in _row_cells(law, d, recipe, task)]
    return Claim(
        id=f"softmax.trained-form/{law}/row",
        title=f"Training takes the row that multiplies labels to zero, {law} law",
        statement=r"\mathbf{W}_K^\top \mathbf{W}_Q \to \begin{bmatrix} \mathbf{M} & \cdot \\ \mathbf{0}^\top & \cdot \end{bmatrix}",
        source=REBUTTAL,
        assumptions=_assumed(law, RECIPES, seeds),
        claimed=f"the row falls, to at most {ZERO:g} of |M|; r = 0 is stationary and stable",
        control="the row is of M's scale, grows, and is unstable at 0; the gradient at r = 0 does not vanish",
        expected="supported",
        cells=(*trained, *(_stationary(profile, law, d) for d in dimensions)),
        summary=lambda results: _in_words("row", [results[task.address] for _, _, task in runs]),
        figures=lambda results: tuple(
            _figure(law, d, [(r, results[task.address]) for at, r, task in runs if at == d]) for d in dimensions
        ),
        finding=_ROW,
    )


def _in_words(block: str, forms: list[FormTraining]) -> str:
    """The share of a block at the end, over the settings."""
    shares = sorted(paired_interval(form.last(block))[0] for form in forms)
    return f"{block} of {shares[0]:.3f} to {shares[-1]:.3f} |M| at the end"


def _row_cells(law: str, d: int, recipe: Recipe, task: Task) -> tuple[CellPlan, ...]:
    """At the end: how large the row is, how much it fell, and which way the loss bends there."""
    where: dict[str, Scalar] = {"d": d, "law": law, "optimiser": recipe.optimiser}
    rising = Allowed(low=0.0, open=True)

    def falls(form: FormTraining, _: Allowed) -> Reading:
        return Reading(Interval.around(*paired_interval(form.change("row"))))

    def bends(form: FormTraining, _: Allowed) -> Reading:
        return Reading(Interval.around(*paired_interval(form.curvature)))

    return (
        _share(where, task, "row", Allowed(low=SAME_SCALE)),
        CellPlan(
            where=where,
            task=task,
            quantity="log of |r| / |M| at the end over that at the start",
            read=falls,
            claimed="< 0",
            allowed=Allowed(high=0.0, open=True),
            control=rising,
            method="montecarlo",
        ),
        CellPlan(
            where=where,
            task=task,
            quantity="second derivative of the loss in r at r = 0 and the trained M",
            read=bends,
            claimed="> 0",
            allowed=rising,
            control=Allowed(high=0.0, open=True),
            method="montecarlo",
        ),
    )


def _share(where: dict[str, Scalar], task: Task, block: str, control: Allowed) -> CellPlan:
    """A block's share of |M| at the end."""
    letter = {"row": "r", "column": "u"}[block]
    return CellPlan(
        where=where,
        task=task,
        quantity=f"|{letter}| / |M| at the end",
        read=lambda form, _: Reading(Interval.around(*paired_interval(form.last(block)))),
        claimed=f"≤ {ZERO:g}",
        allowed=Allowed(high=ZERO),
        control=control,
        method="montecarlo",
    )


def _stationary(profile: Profile, law: str, d: int) -> CellPlan:
    """Contexts and their mirror images together leave no gradient in r, where contexts alone do."""
    return CellPlan(
        where={"d": d, "law": law},
        task=Task(slope_in_row, (law, d, N, SIGMA, L, 400, profile.seed)),
        quantity="gradient in r at r = 0, with mirror images, over that without",
        read=lambda slopes, _: Reading(Interval.around(slopes[0] / slopes[1], 0.0)),
        claimed="= 0 to rounding",
        allowed=Allowed(high=1e-12),
        control=Allowed(low=1e-6),
        method="symmetry",
    )


def _column(profile: Profile, start: str, recipes: tuple[Recipe, ...], seeds: int, contexts: int) -> Claim:
    small = start == "small-start"
    runs = [(recipe, _task(profile, "relu", 5, recipe, seeds, contexts)) for recipe in recipes]
    cells = [
        cell
        for at, (recipe, task) in enumerate(runs)
        for cell in (
            _share(
                {"d": 5, "law": "relu", "optimiser": recipe.optimiser, "run": at + 1}, task, "column", Allowed(low=2.0)
            ),
            CellPlan(
                where={"d": 5, "law": "relu", "optimiser": recipe.optimiser, "run": at + 1},
                task=task,
                quantity="largest change of an entry of the last column of W_Q",
                read=lambda form, _: Reading(Interval(form.unseen, form.unseen)),
                claimed="= 0",
                allowed=Allowed(low=0.0, high=0.0),
                control=Allowed(low=0.0, open=True),
                method="montecarlo",
            ),
        )
    ]
    return Claim(
        id=f"softmax.trained-form/relu/column/{start}",
        title=f"The last column of the trained product is zero, from {'a small' if small else 'an ordinary'} start",
        statement=r"\mathbf{W}_K^\top \mathbf{W}_Q \to \begin{bmatrix} \mathbf{M} & \mathbf{0} \\ \cdot & 0 \end{bmatrix}",
        source=REBUTTAL,
        assumptions=_assumed("relu", recipes, seeds),
        claimed=f"the column ends at {ZERO:g} of |M| or less",
        control="the column ends at twice |M| or more; the last column of the query matrix moves",
        expected="supported" if small else "refuted",
        cells=tuple(cells),
        summary=lambda results: _in_words("column", [results[task.address] for _, task in runs]),
        figures=lambda results: (_figure("relu", 5, [(recipe, results[task.address]) for recipe, task in runs]),),
        finding=_SMALL if small else _COLUMN,
        corrected="" if small else _COLUMN_CORRECTED,
    )


def _any_law(profile: Profile, seeds: int, contexts: int) -> Claim:
    recipes = RECIPES
    tasks = [Task(form_training, (ONE_SIDED, 2, 2, 0.1, 1.0, r, seeds, contexts, profile.seed)) for r in recipes]
    return Claim(
        id="softmax.trained-form/any-law/row",
        title="Training takes the row that multiplies labels to zero, for every law",
        statement=r"\mathbf{W}_K^\top \mathbf{W}_Q \to \begin{bmatrix} \mathbf{M} & \cdot \\ \mathbf{0}^\top & \cdot \end{bmatrix}"
        r" \quad \text{for every law of } f",
        source=REBUTTAL,
        assumptions=(
            "linear functions $f(x) = \\langle q, x \\rangle$ with $q$ uniform on the half of the circle where $q_1 > 0$",
            "$d = n = 2$, $\\sigma = 0.1$",
            *(_words(recipe) for recipe in recipes),
            f"99 % t-intervals over {seeds} runs",
        ),
        claimed=f"the row ends at {ZERO:g} of |M| or less",
        control="the row ends at twice |M| or more",
        expected="refuted",
        cells=tuple(
            _share({"d": 2, "law": ONE_SIDED, "optimiser": recipe.optimiser}, task, "row", Allowed(low=2.0))
            for recipe, task in zip(recipes, tasks, strict=True)
        ),
        summary=lambda results: _in_words("row", [results[task.address] for task in tasks]),
        figures=lambda results: (
            _figure(ONE_SIDED, 2, [(r, results[t.address]) for r, t in zip(recipes, tasks, strict=True)]),
        ),
        finding=_ANY,
        corrected=_ANY_CORRECTED,
    )


def _task(profile: Profile, law: str, d: int, recipe: Recipe, seeds: int, contexts: int) -> Task:
    return Task(form_training, (law, d, N, SIGMA, L, recipe, seeds, contexts, profile.seed))


def _assumed(law: str, recipes: tuple[Recipe, ...], seeds: int) -> tuple[str, ...]:
    return (
        f"covariates uniform on $S^{{d-1}}$, $n = {N}$, $L = {L:g}$, $\\sigma = {SIGMA:g}$, {law} law; labels with their noise are drawn",
        r"tokens $z_i = (x_i, y_i)$, query $(x, 0)$; $\mathbf{W}_K^\top \mathbf{W}_Q = \begin{bmatrix} \mathbf{M} & u \\ r^\top & c \end{bmatrix}$",
        "value matrix as on the slide: the prediction is the attention average of the labels",
        *(_words(recipe) for recipe in recipes),
        f"99 % t-intervals over {seeds} runs",
    )


def _words(recipe: Recipe) -> str:
    """The recipe; its start is here the standard deviation of all entries of both matrices."""
    return recipe.words.replace("start $w_0 = ", "entries of both matrices normal with standard deviation $")


_ROW = (
    "The score of token $i$ is $x_i^\\top \\mathbf{M} x + y_i\\, r^\\top x$. If every $x$ is replaced by $-x$, the query's included, and labels "
    "are kept, the first term stays and the second changes its sign; such a context is as likely as the first where $-x$ is drawn "
    "like $x$ and $f(-x)$ like $f(x)$, which holds for $q$ uniform on the sphere. So the loss is even in $r$ (for laws with symmetric "
    "amplitudes also by $y \\to -y$), and every block matrix has a zero gradient in $r$: block matrices are invariant under training. "
    "They also attract: a row tilts the average towards large or small labels by a term of the order $|r|^2 \\mathrm{Var}(y)^2$ "
    "whatever $n$ is, the second derivative in $r$ is positive at the trained $\\mathbf{M}$, and from a random start the row ends at "
    "the few percent that stochastic gradients leave."
)
_COLUMN = (
    "The last column of $\\mathbf{W}_K^\\top \\mathbf{W}_Q$ is multiplied by the query's label slot, which is 0: the loss does not depend on it and "
    "its gradient is exactly zero. Trained as a product, the last column of $\\mathbf{W}_Q$ keeps its first value to the last bit, and "
    "$u = \\mathbf{K}_x^\\top (\\mathbf{W}_Q)_{\\cdot, d+1}$ even grows as the keys do: from an ordinary start it ends at a good part of "
    "$|\\mathbf{M}|$."
)
_COLUMN_CORRECTED = (
    "Training takes the product to $\\begin{bmatrix} \\mathbf{M} & u \\\\ \\mathbf{0}^\\top & c \\end{bmatrix}$, where $u$ and $c$ are what the start left and "
    "have no effect on any prediction. The printed form needs a small start, a zero start of that column, or weight decay; it can be "
    "assumed without loss of generality"
)
_SMALL = (
    "From a start of a tenth of the usual size the last column ends small beside $\\mathbf{M}$, as the rebuttal observes: because it "
    "was small, and not because training made it so (the last column of $\\mathbf{W}_Q$ has not moved)."
)
_ANY = (
    "The block form rests on a symmetry of the law, $f(-x) \\sim f(x)$ with symmetric covariates, or $-f \\sim f$. Where both are broken, here by "
    "linear functions that all rise along one axis, a query with a large first coordinate wants tokens with large labels whatever their "
    "covariates: the gradient in $r$ does not vanish at $r = 0$, and the trained row is of the scale of $\\mathbf{M}$. Two tokens in the plane are "
    "enough. An effect of this size needs short contexts: at $n = 16$, $L = 3$ and $\\sigma = 0.5$ the row ends near a tenth of "
    "$|\\mathbf{M}|$ or below."
)
_ANY_CORRECTED = (
    "The block form holds for laws with $f(-x)$ drawn like $f(x)$ and symmetric covariates, or with $-f$ drawn like $f$; all classes of the "
    "paper are such"
)


def _figure(law: str, d: int, runs: list[tuple[Recipe, FormTraining]]) -> Figure:
    """The row's and the column's share of |M| against steps, mean and interval, one panel a recipe."""
    panels = tuple(
        Panel(
            title=f"{'gradient descent' if recipe.optimiser == 'gd' else 'Adam'}, start {recipe.start:g}",
            xlabel="steps",
            ylabel=r"share of $\|\mathbf{M}\|_2$",
            xscale="linear",
            series=(_series(form, "row", "row $|r|$"), _series(form, "column", "column $|u|$")),
        )
        for recipe, form in runs
    )
    caption = (
        f"The row that multiplies labels and the column that multiplies the query's empty slot, as shares of $\\|\\mathbf{{M}}\\|_2$, {law} law, "
        f"$d = {d}$: means over runs with 99 % intervals."
    )
    return Figure(
        caption=caption, alt=f"Row and column of the trained product against steps, {law} law.", panels=panels
    )


def _series(form: FormTraining, block: str, label: str) -> Series:
    curves = getattr(form, block)
    means, errors = zip(
        *(paired_interval([curve[record] for curve in curves]) for record in range(len(form.steps))), strict=True
    )
    # on a logarithmic axis an interval may not reach 0
    shown = tuple(min(error, 0.9 * mean) for mean, error in zip(means, errors, strict=True))
    return Series(label=label, x=tuple(map(float, form.steps)), y=means, error=shown, style="errorbars")


if __name__ == "__main__":
    run_file(__file__)
