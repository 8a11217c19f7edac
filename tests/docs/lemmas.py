"""The page of lemmas, `docs/lemmas.md`, from the docstrings of the checker. `python -m tests.docs` writes it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib import import_module
from types import ModuleType

from lipverify.proofs import checker

# internal: the words of a lemma as a proof file has them, and the folders of the theorems
from lipverify.proofs.checker.kernel import form, registry
from tests import ROOT

PAGE = ROOT / "docs" / "lemmas.md"
HEAD = """\
# Lemmas

All lemmas of the [checker](proofs.md#how-to-check-a-proof) with their reasons, in the words that a proof file has. A
proof is a chain of them: `lipverify check-proof FILE` certifies the constants of each, and `lipverify prove ID` prints
them. The page is made from the docstrings, beside which stands the code that certifies them.
"""
KERNEL = ("tokens", "harmonics", "kink")
"""The modules of the kernel that have lemmas."""


def modules() -> Iterator[ModuleType]:
    """The modules that have lemmas, in the order of their numbers."""
    names = [f"kernel.{name}" for name in KERNEL]
    for folder in registry.THEOREMS:
        package = import_module(f"{checker.__name__}.{folder}")
        names += [f"{folder}.{name}" for name in vars(package) if isinstance(vars(package)[name], ModuleType)]
    found = [import_module(f"{checker.__name__}.{name}") for name in dict.fromkeys(names)]
    yield from sorted((each for each in found if hasattr(each, "LEMMAS")), key=section)


def section(module: ModuleType) -> int:
    return int(next(iter(module.LEMMAS)).partition(".")[0])


def page() -> str:
    """The text of the page."""
    parts = [HEAD]
    for module in modules():
        title, _, letters = (module.__doc__ or "").strip().partition("\n\n")
        path = module.__name__.removeprefix(f"{checker.__name__}.").replace(".", "/")
        numbers = {each.__name__.rpartition(".")[2]: f"section {section(each)}" for each in modules()}
        numbers |= {rule.__name__: number for number, rule in known(module)}
        parts += [
            f"## {section(module)}. {plain(' '.join(title.split()))}\n",
            f"`lipverify/proofs/checker/{path}.py`\n",
        ]
        parts += [f"```text\n{letters.strip()}\n```\n"] if letters.strip() else []
        for number, rule in module.LEMMAS.items():
            says, because = (cited(text, numbers) for text in form.wording(rule))
            parts += [f"**Lemma {number}** (`{rule.__name__}`)\n", f"> {says}\n", f"{because}\n"]
    return "\n".join(parts)


def known(module: ModuleType) -> Iterator[tuple[str, form.Rule]]:
    """The lemmas that a name may mean: those of the kernel, those of the theorem, and last those of the module."""
    folder = module.__name__.rpartition(".")[0]
    others = [each for each in modules() if each.__name__.startswith((f"{checker.__name__}.kernel", folder, WINDOW))]
    for each in (*others, module):
        yield from each.LEMMAS.items()


WINDOW = f"{checker.__name__}.window"
"""Lemmas about every number of tokens and about every dimension rest on those about the window."""


def cited(text: str, numbers: dict[str, str]) -> str:
    """Words of a lemma for a page: names of lemmas and modules with their numbers."""

    def with_number(quoted: re.Match[str]) -> str:
        name = quoted[1].replace("\\", "")
        return f"`{name}` ({numbers[name]})" if name in numbers else f"`{name}`"

    return re.sub(r"`(?:\w+\.)?([\w\\]+)`", with_number, plain(text))


def plain(text: str) -> str:
    """Text without signs that Markdown would read."""
    return re.sub(r"([*_<|\[$])", r"\\\1", text)
