"""Learn the bank of fraction subtraction, from responses that are not shipped.

Run it with ``python models/learn_banks.py DATA``; the directory has ``responses.csv``,
``qmatrix.csv``, ``items.csv`` (item, text) and ``skills.csv`` (skill, label).
"""

from __future__ import annotations

import csv
import dataclasses
import sys
from pathlib import Path

from bnmind.adaptive import ItemBank, Responses, learn, read_qmatrix, write_bank

HERE = Path(__file__).parent / "banks"

SOURCE = (
    "Parameters learned (DINA, saturated profile distribution, maximum likelihood) from the"
    " responses of 536 examinees: K. K. Tatsuoka, 1984; C. Tatsuoka, J. R. Stat. Soc. C 2002."
    " Q-matrix: J. de la Torre and J. Douglas, Psychometrika 2004. Both as in the R packages"
    " edmdata and dcmdata (MIT)."
)


def column(path: Path, key: str, value: str) -> dict[str, str]:
    """Return one column of a CSV file by another."""
    with path.open(encoding="utf-8", newline="") as file:
        return {row[key]: row[value] for row in csv.DictReader(file)}


def main(data: Path, directory: Path = HERE) -> None:
    """Learn the bank, and write it."""
    found = learn(Responses.from_csv(data / "responses.csv"), read_qmatrix(data / "qmatrix.csv"))
    texts = column(data / "items.csv", "item", "text")
    labels = column(data / "skills.csv", "skill", "label")
    bank = found.bank
    items = tuple(dataclasses.replace(item, text=texts[item.name]) for item in bank.items)
    named = tuple(labels[name] for name in bank.skills)
    made = ItemBank(
        network=bank.network,
        skills=bank.skills,
        items=items,
        title="Fraction subtraction",
        source=SOURCE,
        labels=named,
    )
    write_bank(made, directory / "fraction-subtraction.json")
    print(found)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
