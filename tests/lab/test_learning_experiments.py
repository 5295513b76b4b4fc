"""Experiments with learning: each row is a start of `learn`."""

from __future__ import annotations

from pathlib import Path

import pytest

from bnmind.adaptive import (
    Bounds,
    ItemBank,
    LearningOptions,
    Priors,
    Responses,
    learn,
    write_bank,
)
from bnmind.errors import ModelFileError
from bnmind.lab import (
    LearningExperiment,
    experiment_from_text,
    experiment_to_toml,
    read_experiment,
    run,
    run_into,
)

BANK = ItemBank.from_qmatrix([[1, 0], [0, 1], [1, 1], [1, 0]], guess=0.2, slip=0.1)
ANSWERS = Responses(Responses.drawn(BANK, 40, seed=3).codes, BANK.item_names)
OPTIONS = LearningOptions(
    starts=3, seed=2, bounds=Bounds((0.0, 0.4), (0.0, 0.3)), max_iterations=30
)


def test_rows_are_the_starts_of_learning() -> None:
    experiment = LearningExperiment(responses=ANSWERS, bank=BANK, options=OPTIONS, items=True)
    results, learned = run(experiment), learn(ANSWERS, BANK, options=OPTIONS)
    assert tuple(row.objective for row in results.rows) == learned.record.starts
    best = results.rows[learned.record.best_start]
    assert (best.steps, best.converged) == (learned.record.steps, learned.record.converged)
    assert best.log_likelihood == learned.log_likelihood
    items = [row for row in results.details if row.start == best.start]
    assert [(row.item, row.guess, row.slip) for row in items] == [
        (item.name, item.guess, item.slip) for item in learned.items
    ]


def test_files_and_stores(tmp_path: Path) -> None:
    experiment = LearningExperiment(responses=ANSWERS, bank=BANK, options=OPTIONS)
    again = experiment_from_text(experiment_to_toml(experiment))
    store = run_into(again, tmp_path / "rows")
    assert store.results.rows == run(experiment).rows
    assert store.summary["rows"].sum() == 3
    write_bank(BANK, tmp_path / "bank.json")
    lines = [",".join(ANSWERS.items), *(",".join(map(str, row)) for row in ANSWERS.codes.tolist())]
    (tmp_path / "answers.csv").write_text("\n".join(lines))
    (tmp_path / "learn.toml").write_text(
        'kind = "learning"\nresponses = "answers.csv"\nbank = "bank.json"\nstarts = 3\nseed = 2\n'
        "max_guess = 0.4\nmax_slip = 0.3\nmax_iterations = 30\n"
    )
    assert run(read_experiment(tmp_path / "learn.toml")).rows == run(experiment).rows


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('responses = "no.csv"', ("responses: ", "either bank or qmatrix")),
        (
            'responses = "no.csv"\nqmatrix = "no.csv"\ngate = "x"',
            ("bank: expected a response model among",),
        ),
        ('responses = "no.csv"\nbank = "no.json"\ngate = "dina"', ("bank: a gate is for",)),
        ('responses = "no.csv"\nqmatrix = "q.csv"\nstarts = 0', ("options: ", "starts")),
        ("starts = 1.5", ("starts: expected a whole number", "responses: this key is missing")),
    ],
)
def test_all_faults_are_told_with_their_places(text: str, told: tuple[str, ...]) -> None:
    with pytest.raises(ModelFileError) as caught:
        experiment_from_text(f'kind = "learning"\n{text}')
    for part in told:
        assert part in str(caught.value)


def test_options_that_no_file_has_cannot_be_written() -> None:
    options = LearningOptions(priors=Priors(guess=(2.0, 2.0)))
    experiment = LearningExperiment(responses=ANSWERS, bank=BANK, options=options)
    with pytest.raises(ModelFileError, match="options of learning"):
        experiment_to_toml(experiment)
