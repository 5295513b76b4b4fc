"""Experiments with adaptive tests: the rows of simulations, and their files."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bnmind.adaptive import (
    STOPPERS,
    ItemBank,
    MaximalItems,
    MinimalEntropy,
    Responses,
    SimulationOptions,
    simulate,
    stopper_by_names,
    write_bank,
)
from bnmind.errors import BnmindError, ModelFileError
from bnmind.lab import (
    TestExperiment,
    experiment_from_text,
    experiment_to_toml,
    read_experiment,
    run,
    run_into,
)
from tests.modes import examples

BANK = ItemBank.from_qmatrix([[1, 0], [0, 1], [1, 1], [1, 0]], guess=0.2, slip=0.1)
PEOPLE = Responses.drawn(BANK, 11, seed=3)
TEXT = """
kind = "tests"
bank = "bank.json"
selectors = ["entropy", "random"]
stop = "items:3"
examinees = 11
seed = 3
steps = true
batch_examinees = 4
"""


@pytest.fixture(autouse=True)
def _in_a_directory_with_a_bank(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_bank(BANK, "bank.json")
    Path("tests.toml").write_text(TEXT)


def test_rows_are_those_of_a_simulation() -> None:
    experiment = read_experiment("tests.toml")
    assert isinstance(experiment, TestExperiment)
    results = run(experiment)
    simulated = simulate(
        BANK,
        PEOPLE,
        dict(experiment.selectors),
        MaximalItems(3),
        options=SimulationOptions(seed=3),
    )
    lengths = results.frame[["selector", "examinee", "length", "reason"]]
    assert lengths.to_dict() == simulated.lengths[lengths.columns].to_dict()
    steps, wanted = results.detail_frame, simulated.steps
    for column in ("selector", "examinee", "step"):
        assert steps[column].tolist() == wanted[column].tolist()
    for column in ("entropy", "accuracy", "pattern_accuracy"):
        assert np.allclose(steps[column], wanted[column])
    assert steps["item"].fillna("").tolist() == wanted["item"].tolist()
    assert steps["ability"].isna().all()
    last = steps.groupby(["selector", "examinee"])["entropy"].last()
    ends = results.frame.set_index(["selector", "examinee"])["entropy"]
    assert (last == ends).all()


def test_tests_are_kept_in_stores(tmp_path: Path) -> None:
    experiment = read_experiment("tests.toml")
    store = run_into(experiment, tmp_path / "rows")
    Path("bank.json").unlink()  # the store has its own
    assert store.results.rows == run(experiment).rows
    summary = store.summary
    assert summary["selector"].tolist() == ["entropy", "random"]
    assert summary["length"].tolist() == [3.0, 3.0]
    assert "ability" not in summary.columns
    with pytest.raises(BnmindError, match="seed is 3 there and 4 here"):
        run_into(
            experiment_from_text(experiment_to_toml(experiment).replace("seed = 3", "seed = 4")),
            tmp_path / "rows",
        )


def test_recorded_responses_are_replayed() -> None:
    lines = [",".join(BANK.item_names)] + [",".join(map(str, row)) for row in PEOPLE.codes.tolist()]
    Path("answers.csv").write_text("\n".join(lines))
    text = TEXT.replace("examinees = 11\n", 'responses = "answers.csv"\n')
    experiment = experiment_from_text(text)
    again = experiment_from_text(experiment_to_toml(experiment))
    assert run(again).rows == run(experiment).rows
    drawn = run(read_experiment("tests.toml"))
    assert [row.length for row in run(again).rows] == [row.length for row in drawn.rows]
    assert all(row.pattern_accuracy is None for row in run(again).rows)


def test_only_its_own_answers_travel_with_a_batch() -> None:
    experiment = TestExperiment(
        bank=BANK,
        selectors={"entropy": MinimalEntropy()},
        examinees=Responses(PEOPLE.codes, BANK.item_names),
        batch_examinees=4,
    )
    for batch in experiment.batches():
        sent = pickle.loads(pickle.dumps(pickle.loads(pickle.dumps(batch))))
        assert not isinstance(sent.experiment.examinees, Responses)
        assert sent.run().rows == batch.run().rows


def test_rows_do_not_depend_on_batches() -> None:
    whole = experiment_from_text(TEXT.replace("batch_examinees = 4", ""))
    assert run(whole).rows == run(read_experiment("tests.toml")).rows


_ONE: Any = st.sampled_from(
    [
        *("items:3", "time:2.5", "cost:4.0", "entropy:0.1", "profile:0.9", "certainty:0.85"),
        *("gain:0.01", "plateau:0.05", "sprt:0.2"),
    ]
)


def test_every_stopper_is_tried() -> None:
    assert set(STOPPERS) == {
        *("items", "time", "cost", "entropy", "profile", "certainty", "gain", "deviation"),
        *("plateau", "sprt", "cut"),
    }


@pytest.mark.hypothesis
@settings(max_examples=examples(20), deadline=None)
@given(
    st.lists(st.lists(_ONE, min_size=1, max_size=2, unique=True), max_size=3), st.integers(0, 99)
)
def test_what_is_written_reads_back(stops: list[list[str]], seed: int) -> None:
    texts = ["+".join(one) for one in stops]
    experiment = TestExperiment(
        bank=BANK,
        selectors={"entropy": MinimalEntropy()},
        stopper=stopper_by_names(texts),
        examinees=Responses(PEOPLE.codes, BANK.item_names) if seed % 2 else 5,
        seed=seed,
    )
    again = experiment_from_text(experiment_to_toml(experiment))
    assert isinstance(again, TestExperiment)
    assert experiment_to_toml(again) == experiment_to_toml(experiment)
    assert again.stopper == experiment.stopper
    assert again.people.codes.tolist() == experiment.people.codes.tolist()


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            'kind = "tests"\nbank = "no.json"\nselectors = ["entropi"]\nstop = ["item:3"]\n'
            'responses = "no.csv"\nexaminees = 3',
            ("bank: ", "selectors 1: ", "stop: ", "responses: ", "either examinees or responses"),
        ),
        ('kind = "tests"\nselectors = 3', ("bank: ", "selectors: expected a list")),
        (
            TEXT.replace("11", "0").replace("= 3", "= -3"),
            ("examinees: expected at least 1", "seed: expected at least 0"),
        ),
        (TEXT.replace("random", "entropy"), ("selectors: expected different",)),
        (
            TEXT.replace("batch_examinees = 4", "batch_examinees = 0"),
            ("batch_examinees: expected at least 1",),
        ),
        (TEXT.replace("examinees = 11", "responses = {items = []}"), ("responses: ",)),
        (
            TEXT.replace(
                "examinees = 11", 'responses = {items = ["a", "b"], codes = [[0, 1], [1]]}'
            ),
            ("codes 2: expected 2 numbers, got 1",),
        ),
        (
            TEXT.replace(
                "examinees = 11", f'responses = {{items = ["a"], codes = [[{2**63 - 1}]]}}'
            ),
            ("codes 1: expected small numbers",),
        ),
        (
            TEXT.replace("examinees = 11", 'responses = {file = "a.csv", codes = [[1]]}'),
            ("either the name of a CSV file or items and codes, got both",),
        ),
    ],
)
def test_all_faults_are_told_with_their_places(text: str, told: tuple[str, ...]) -> None:
    with pytest.raises(ModelFileError) as caught:
        experiment_from_text(text)
    for part in told:
        assert part in str(caught.value)


def test_things_without_a_name_cannot_be_written() -> None:
    class Mine(MaximalItems):
        pass

    experiment = TestExperiment(
        bank=BANK, selectors={"random": MinimalEntropy()}, stopper=Mine(3), examinees=2
    )
    with pytest.raises(ModelFileError, match=r"selectors 1: the name 'random'.*; stop: "):
        experiment_to_toml(experiment)
