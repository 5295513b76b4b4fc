"""The option ``--design``, and designs completed by other options."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from bnmind._text_files import write_file

if TYPE_CHECKING:
    from bnmind.adaptive import Design

__all__ = ["DesignOption", "counts_written"]

DesignOption: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        "--design",
        metavar="FILE",
        help="The design of the test as TOML: start, selector, exposure, content, testlets,"
        " enemies, stop. Other options may only add what it leaves open.",
    ),
]


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
