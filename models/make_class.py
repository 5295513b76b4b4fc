"""Write ``fractions-class/``: a simulated fractions test of a school year, and its truth.

Run it with ``python models/make_class.py``; another directory may be given. Nobody sat this test:
the pupils, their skills and their answers are drawn from the numbers below. The table has faults as
real tables have them, among them a wrong entry of the Q-matrix and an item that is unfair to some
pupils. What the files hold is described in README.md.
"""

from __future__ import annotations

import csv
import io
import sys
from pathlib import Path

import numpy as np

from bnmind.adaptive import Dina, Item, ItemBank, ResponseModel
from bnmind.pgm import Network, TabularCPD, Variable
from bnmind.pgm.files import model_contents

HERE = Path(__file__).parent / "fractions-class"
SEED = 6

SKILLS = {
    "adding": "adding and subtracting over one denominator",
    "common denominator": "finding a common denominator",
    "multiplying": "multiplying fractions",
    "reducing": "reducing to lowest terms",
    "mixed numbers": "mixed numbers",
}
"""Name and label of each skill."""

MASTERY: dict[str, tuple[tuple[str, ...], list[float]]] = {
    "adding": ((), [0.75]),
    "common denominator": (("adding",), [0.08, 0.68]),
    "multiplying": (("adding",), [0.35, 0.7]),
    "reducing": (("multiplying",), [0.3, 0.65]),
    "mixed numbers": (("adding",), [0.2, 0.6]),
}
"""What each skill depends on, and the probability of having it without and with that."""

ITEMS = {
    "q01": ("1/5 + 3/5", "sums", ["adding"]),
    "q02": ("5/8 - 2/8", "sums", ["adding"]),
    "q03": ("2/7 + 3/7", "sums", ["adding"]),
    "q04": ("1/2 + 1/3", "sums", ["adding", "common denominator"]),
    "q05": ("3/4 - 1/6", "sums", ["adding", "common denominator"]),
    "q06": ("2/3 + 1/4", "sums", ["adding", "common denominator"]),
    "q07": ("2/3 · 4/5", "products", ["multiplying"]),
    "q08": ("3/7 · 1/2", "products", ["multiplying"]),
    "q09": ("1/4 · 3/5", "products", ["multiplying"]),
    "q10": ("6/8 in lowest terms", "forms", ["reducing"]),
    "q11": ("10/15 in lowest terms", "forms", ["reducing"]),
    "q12": ("18/24 in lowest terms", "forms", ["reducing"]),
    "q13": ("3/4 · 2/9 in lowest terms", "products", ["multiplying", "reducing"]),
    "q14": ("5/6 · 3/10 in lowest terms", "products", ["multiplying", "reducing"]),
    "q15": ("7/3 as a mixed number", "forms", ["mixed numbers"]),
    "q16": ("2 3/4 as one fraction", "forms", ["mixed numbers"]),
    "q17": ("1 2/5 + 2 1/5", "sums", ["adding", "mixed numbers"]),
    "q18": ("2 1/2 + 1 1/3", "sums", ["adding", "common denominator", "mixed numbers"]),
    "q19": ("1 1/2 · 3/4", "products", ["multiplying", "mixed numbers"]),
    "q20": ("A recipe takes 3/4 l of milk. Take half of it.", "products", ["multiplying"]),
}
"""Wording, content and the needed skills of each item."""

GUESSES = [0.15, 0.1, 0.12, 0.05, 0.08, 0.06, 0.14, 0.1, 0.12, 0.2]
GUESSES += [0.12, 0.1, 0.08, 0.1, 0.16, 0.12, 0.1, 0.05, 0.07, 0.18]
SLIPS = [0.05, 0.06, 0.05, 0.1, 0.14, 0.12, 0.08, 0.07, 0.1, 0.06]
SLIPS += [0.08, 0.12, 0.12, 0.15, 0.1, 0.12, 0.1, 0.2, 0.18, 0.1]

FORGOTTEN = ("q14", "reducing")
"""An entry of ``qmatrix.csv`` that its author forgot; ``qmatrix-revised.csv`` has it."""

UNFAIR, OTHERS_SLIP = "q20", 0.45
"""The item with many words, and its slip for pupils who speak another language at home.

``qmatrix-revised.csv`` leaves it out.
"""

CLASSES, PUPILS_OF_A_CLASS = 10, 25
OTHER_LANGUAGE = 0.35
SKIPPED, OUT_OF_TIME = 0.02, 0.1


def skills_network() -> Network:
    """Return the distribution of the skills."""
    variables = {name: Variable(name, ("0", "1")) for name in SKILLS}
    tables = []
    for name, (parents, chances) in MASTERY.items():
        mastered = np.array(chances if parents else chances[0])
        scope = tuple(variables[parent] for parent in parents)
        # The axis of the skill comes first.
        tables.append(TabularCPD(variables[name], scope, np.stack([1 - mastered, mastered])))
    return Network(tuple(tables))


def true_bank(slips: dict[str, float] | None = None) -> ItemBank:
    """Return the bank that the answers are drawn from; some slips may be replaced."""
    replaced = slips or {}
    gates: list[ResponseModel] = [
        Dina(guess=guess, slip=replaced.get(name, slip))
        for name, guess, slip in zip(ITEMS, GUESSES, SLIPS, strict=True)
    ]
    return ItemBank.from_response_models(
        [[int(skill in needed) for skill in SKILLS] for _, _, needed in ITEMS.values()],
        gates,
        skills=skills_network(),
        items=[Item(name, text=text, content=kind) for name, (text, kind, _) in ITEMS.items()],
        skill_names=list(SKILLS),
    )


def files() -> dict[str, str]:
    """Return the content of every file by its name."""
    rng = np.random.default_rng(SEED)
    n = CLASSES * PUPILS_OF_A_CLASS
    other = rng.random(n) < OTHER_LANGUAGE
    levels = _drawn_profiles(n, rng)
    chances = np.where(
        other[:, None],
        _chances(true_bank({UNFAIR: OTHERS_SLIP}), levels),
        _chances(true_bank(), levels),
    )
    answers = (rng.random(chances.shape) < chances).astype(int).astype(str)
    answers[rng.random(answers.shape) < SKIPPED] = "NA"
    late = rng.random(n) < OUT_OF_TIME
    answers[late, -1] = "NA"
    answers[late & (rng.random(n) < 0.5), -2] = "NA"
    answers[rng.integers(n)] = "NA"  # one pupil was absent

    size = PUPILS_OF_A_CLASS
    pupils = [f"6{'abcdefghij'[i // size]}-{i % size + 1:02}" for i in range(n)]
    languages = np.where(other, "other", "same").tolist()
    rows = [
        [pupil, pupil[:2], language, *row]
        for pupil, language, row in zip(pupils, languages, answers.tolist(), strict=True)
    ]
    revised = [
        [name, *(int(skill in needed) for skill in SKILLS)]
        for name, (_, _, needed) in ITEMS.items()
    ]
    first = [row.copy() for row in revised]
    first[list(ITEMS).index(FORGOTTEN[0])][1 + list(SKILLS).index(FORGOTTEN[1])] = 0
    network = model_contents(skills_network(), "skills.bif")
    truth = [[pupil, *row] for pupil, row in zip(pupils, levels.tolist(), strict=True)]
    return {
        "responses.csv": _table(["pupil", "class", "language", *ITEMS], rows),
        "qmatrix.csv": _table(["item", *SKILLS], first),
        "qmatrix-revised.csv": _table(
            ["item", *SKILLS], [row for row in revised if row[0] != UNFAIR]
        ),
        "items.csv": _table(
            ["item", "text", "content"],
            [[name, text, content] for name, (text, content, _) in ITEMS.items()],
        ),
        "skills.csv": _table(["skill", "label"], [[*pair] for pair in SKILLS.items()]),
        "profiles.csv": _table(["id", *SKILLS], truth),
        **{str(path): text for path, text in network.items()},
        "test.toml": DESIGN,
    }


DESIGN = """\
# The design of an adaptive test with the bank that is learned from this class.
title = "Fractions, at most ten items"
seed = 1

[[start]]                       # something easy first
ask = ["q01"]

[select]
by = "entropy"

[content.codes]                 # whatever else, some of each kind
sums = { min = 2 }
products = { min = 2 }
forms = { min = 2 }

[stop]
any = ["items:10", "certainty:0.9"]
"""


def _drawn_profiles(n: int, rng: np.random.Generator) -> np.ndarray:
    columns: dict[str, np.ndarray] = {}
    for name, (parents, chances) in MASTERY.items():
        position = columns[parents[0]] if parents else np.zeros(n, dtype=int)
        columns[name] = (rng.random(n) < np.array(chances)[position]).astype(int)
    return np.column_stack(list(columns.values()))


def _chances(bank: ItemBank, levels: np.ndarray) -> np.ndarray:
    """Return each pupil's probability of a right answer to each item."""
    places = {skill: place for place, skill in enumerate(SKILLS)}
    columns = []
    for name in bank.item_names:
        needed = [places[skill] for skill in bank.cause(name)]
        cause = np.ravel_multi_index(tuple(levels[:, needed].T), (2,) * len(needed))
        columns.append(bank.channel(name)[cause, 1])
    return np.column_stack(columns)


def _table(header: list[str], rows: list[list[object]]) -> str:
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows([header, *rows])
    return out.getvalue()


def main(directory: Path = HERE) -> None:
    """Write every file."""
    directory.mkdir(exist_ok=True)
    for name, content in files().items():
        (directory / name).write_text(content, encoding="utf-8", newline="\n")
        print(f"{name}: {len(content.splitlines())} lines")


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:2]))
