"""The cost of the trained models that lipverify ships, from their own files: `python benchmarks/trainings.py`."""

from __future__ import annotations

from collections import defaultdict

from lipverify.linear_transformer.families import NAMES
from lipverify.linear_transformer.published import LAYERS
from lipverify.linear_transformer.training.witness import Witness, models_folder, names_of, read_witness


def main() -> None:
    """Print processor seconds by family and depth, averaged over laws and seeds, and the total."""
    folder = models_folder()
    laws = sorted(path.parent.name for path in folder.glob("*/models.json.xz"))
    every = [read_witness(name, folder) for law in laws for name in names_of(law)]
    cells: dict[tuple[str, int], list[Witness]] = defaultdict(list)
    for each in every:
        cells[each.family, each.layers].append(each)
    print("processor seconds of a model, and how many there are")
    print("layers", *(f"{name:>14s}" for name in NAMES))
    for layers in LAYERS:
        shown = [cells[name, layers] for name in NAMES]
        print(f"{layers:6d}", *(f"{mean(each):8.1f} ({len(each):3d})" if each else f"{'–':>14s}" for each in shown))
    for name in NAMES:
        line = sum(mean(cells[name, layers]) for layers in LAYERS if cells[name, layers])
        print(f"{name}: {line:.0f} s for one law and seed, all depths that are there")
    print(f"{len(every)} models: {sum(each.seconds for each in every) / 3600:.2f} hours")
    for machine in sorted({f"{each.machine}, {each.trained.arithmetic}" for each in every}):
        print(machine)


def mean(found: list[Witness]) -> float:
    """The mean processor time."""
    return sum(each.seconds for each in found) / len(found)


if __name__ == "__main__":
    main()
