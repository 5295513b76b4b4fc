"""The simulated class in models/ is what its script draws, and has the faults that it should."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

from bnmind.adaptive import (
    Gdina,
    LearningOptions,
    QMatrix,
    Responses,
    learn,
    validate_qmatrix,
)
from bnmind.datasets import example_set, example_table

SCRIPT = Path(__file__).parents[1] / "models" / "make_class.py"
FILES = example_set("fractions-class")


def test_the_files_are_those_of_the_script() -> None:
    made = runpy.run_path(str(SCRIPT))["files"]()
    assert sorted(made) == list(FILES.files)
    for name, content in made.items():
        assert FILES.path(name).read_text(encoding="utf-8") == content, name


def test_a_row_is_empty_and_cells_are_missing_as_r_writes_them() -> None:
    rows = FILES.path("responses.csv").read_text(encoding="utf-8").splitlines()
    assert sum(row.endswith(",NA" * 20) for row in rows) == 1
    read = Responses.of(example_table("fractions-class/responses.csv"), ignore=["language"])
    assert 0.01 < read.n_missing / read.codes.size < 0.05


@pytest.mark.parametrize(
    ("file", "expected"), [("qmatrix.csv", True), ("qmatrix-revised.csv", False)]
)
def test_the_mistake_in_the_q_matrix_can_be_found(file: str, *, expected: bool) -> None:
    seen = Responses.of(example_table("fractions-class/responses.csv"))
    q = QMatrix.of(example_table(f"fractions-class/{file}"))
    options = LearningOptions(starts=1)
    found = validate_qmatrix(learn(seen, q, gate=Gdina, options=options)).changes
    proposed = {one.item: one.proposed.skills for one in found}
    assert ("reducing" in proposed.get("q14", ())) == expected
