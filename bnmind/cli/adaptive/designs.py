"""The option ``--design``, and designs completed by other options."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from bnmind._text_files import write_file

if TYPE_CHECKING:
    from bnmind.adaptive import Design, ItemBank

__all__ = ["DesignOption", "counts_written", "design_of"]

DesignOption: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        "--design",
        metavar="FILE",
        help="The design of the test as TOML: start, selector, exposure, content, testlets,"
        " enemies, stop. Other options may only add what it leaves open.",
    ),
]


def design_of(
    path: Path,
    bank: ItemBank,
    *,
    selector: str | None = None,
    stop: list[str] | None = None,
    seed: int | None = None,
) -> Design:
    """Return the design in a file, completed by other options of the command.

    Raises
    ------
    DesignFileError
        If the file is not a design of the bank, or an option contradicts it.
    """
    from bnmind.adaptive.sessions.design_file import design_content, design_from, with_options

    content = with_options(design_content(path), selector=selector, stop=stop, seed=seed)
    return design_from(content, bank)


def counts_written(designs: Mapping[str, Design], directory: Path) -> tuple[Path, ...]:
    """Write the counts of exposure controls, for the key ``counts`` of designs."""
    texts = {}
    for number, design in enumerate(designs.values(), start=1):
        if design.eligibility is not None:
            pairs = zip(
                design.bank.item_names,
                design.eligibility.eligible.tolist(),
                design.eligibility.asked.tolist(),
                strict=True,
            )
            content = {name: [int(eligible), int(asked)] for name, eligible, asked in pairs}
            name = "counts.json" if len(designs) == 1 else f"counts-{number}.json"
            texts[directory / name] = json.dumps(content, ensure_ascii=False, indent=1) + "\n"
    for path, text in texts.items():
        write_file(path, text)
    return tuple(texts)
