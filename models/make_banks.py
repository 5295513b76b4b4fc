"""Write the ready item banks of ``banks/``, with the library.

Run it with ``python models/make_banks.py``; another directory may be given. What the
files hold is described in README.md.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from bnmind.adaptive import (
    Dina,
    GradedResponse,
    Hierarchy,
    Item,
    ItemBank,
    Logistic,
    NoisyAnd,
    ResponseModel,
    irt_bank,
    write_bank,
)

HERE = Path(__file__).parent / "banks"

# name: (wording, content, skills)
FRACTIONS = {
    "add_same": ("1/7 + 2/7", "sums", ["addition"]),
    "add_halves": ("1/2 + 1/3", "sums", ["addition", "denominator"]),
    "add_cancel": ("1/6 + 1/3, canceled", "sums", ["addition", "denominator", "canceling"]),
    "add_fifths": ("2/5 + 1/4", "sums", ["addition", "denominator"]),
    "add_ninths": ("4/9 + 2/9, canceled", "sums", ["addition", "canceling"]),
    "multiply_half": ("1/2 · 3/5", "products", ["multiplication"]),
    "multiply_third": ("2/3 · 1/7", "products", ["multiplication"]),
    "multiply_cancel": ("3/4 · 2/9, canceled", "products", ["multiplication", "canceling"]),
    "multiply_sum": ("1/2 · (1/3 + 1/3)", "products", ["multiplication", "addition"]),
    "cancel_eighths": ("6/8, canceled", "forms", ["canceling"]),
    "cancel_fifteenths": ("10/15, canceled", "forms", ["canceling"]),
    "same_denominator": ("1/2 and 2/3 over one denominator", "forms", ["denominator"]),
}

# name: the choices, the right one first; the others are common mistakes
CHOICES = {
    "add_same": ("3/7", "3/14", "2/7", "2/49"),
    "add_halves": ("5/6", "2/5", "2/6", "1/5"),
    "add_cancel": ("1/2", "3/6", "2/9", "1/3"),
    "add_fifths": ("13/20", "3/9", "3/20", "13/9"),
    "add_ninths": ("2/3", "6/9", "6/18", "1/3"),
    "multiply_half": ("3/10", "4/7", "5/6", "3/7"),
    "multiply_third": ("2/21", "3/10", "14/3", "2/10"),
    "multiply_cancel": ("1/6", "6/36", "5/13", "3/18"),
    "multiply_sum": ("1/3", "1/6", "2/3", "1/12"),
    "cancel_eighths": ("3/4", "6/8", "2/4", "4/3"),
    "cancel_fifteenths": ("2/3", "5/10", "10/15", "2/5"),
    "same_denominator": ("3/6 and 4/6", "1/6 and 2/6", "1/5 and 2/5", "2/6 and 3/6"),
}


def choices(name: str) -> tuple[tuple[str, str], ...]:
    """Return the choices of an item in an order that does not show the right one."""
    right, *wrong = CHOICES[name]
    place = sorted(CHOICES).index(name) * 3 % 4
    texts = [*wrong[:place], right, *wrong[place:]]
    return tuple((text, str(int(text == right))) for text in texts)


def fractions() -> ItemBank:
    """Return a small bank of sums and products of fractions; its parameters are made up."""
    skills = ["addition", "denominator", "multiplication", "canceling"]
    q_matrix = [[int(skill in needed) for skill in skills] for _, _, needed in FRACTIONS.values()]
    gates: list[ResponseModel] = [
        Dina(guess=0.1, slip=0.1) if len(needed) < 3 else NoisyAnd(guess=0.3, slip=0.05)
        for _, _, needed in FRACTIONS.values()
    ]
    items = [
        Item(name, content=content, text=text, choices=choices(name), time=30.0 * len(needed))
        for name, (text, content, needed) in FRACTIONS.items()
    ]
    return ItemBank.from_response_models(
        q_matrix,
        gates,
        skills=Hierarchy({"denominator": ["addition"]}, mastery=(0.7, 0.6, 0.6, 0.5)),
        items=items,
        skill_names=skills,
    ).with_title("Fractions", "made up for bnmind")


def ability() -> ItemBank:
    """Return a bank of one ability: 30 items with two responses and 10 with four; made up."""
    rng = np.random.default_rng(1)
    slopes = rng.uniform(0.8, 2.0, 40).round(2).tolist()
    difficulties = np.linspace(-2.5, 2.5, 40).round(2).tolist()
    gates: list[ResponseModel] = [
        GradedResponse(a, (b - 0.8, b, b + 0.8)) if number % 4 == 3 else Logistic(a, b, 0.1)
        for number, (a, b) in enumerate(zip(slopes, difficulties, strict=True))
    ]
    return irt_bank(gates).with_title("One ability", "made up for bnmind")


def banks() -> dict[str, ItemBank]:
    """Return the bank of every file, by the name of the file."""
    return {"fractions.json": fractions(), "ability.json": ability()}


def main(directory: Path = HERE) -> None:
    """Write every file."""
    directory.mkdir(exist_ok=True)
    for name, bank in banks().items():
        write_bank(bank, directory / name)
        print(f"{name}: {len(bank.items)} items, {len(bank.skills)} skills")


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:2]))
