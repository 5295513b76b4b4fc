"""Ctrl-C in the commands for adaptive tests: all that is done is kept, and the exit code is 130."""

from __future__ import annotations

import _thread
import importlib
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bnmind.adaptive import ItemBank, Responses, SimulationResult, read_bank, write_bank
from bnmind.cli.shared.terminal import until_interrupted
from bnmind.fitting.em import climb
from tests.command_line import run

Q = [[1, 0], [0, 1], [1, 1], [1, 0], [0, 1]]
BANK = ItemBank.from_qmatrix(Q, guess=0.2, slip=0.1)
PEOPLE = Responses.drawn(BANK, 60, seed=1)


@pytest.fixture(autouse=True)
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_bank(BANK, "bank.json")
    rows = [",".join((*PEOPLE.items, "group"))]
    rows += [",".join(map(str, (*row, "ab"[n % 2]))) for n, row in enumerate(PEOPLE.codes.tolist())]
    Path("r.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    rows = ["skill_1,skill_2", *(",".join(map(str, row)) for row in Q)]
    Path("q.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")


def tables_alone(result: SimulationResult, *_: Any, **__: Any) -> tuple[Path, ...]:
    """Write a table, and draw no plots."""
    result.lengths.to_csv("lengths.csv", index=False)
    return (Path("lengths.csv"),)


def interrupt() -> None:
    """Press Ctrl-C, and wait until the main thread has heard it."""
    _thread.interrupt_main()
    time.sleep(0.3)


def test_work_ends_with_what_it_has() -> None:
    def work(report: Callable[[int, int | None], None], ended: Callable[[], bool]) -> int:
        interrupt()
        return 7 if ended() else 0

    assert until_interrupted("waiting", work) == (7, True)
    assert until_interrupted("waiting", lambda report, ended: ended()) == (False, False)


def test_learn_writes_the_best_parameters_so_far(monkeypatch: pytest.MonkeyPatch) -> None:
    starts: list[int] = []

    def slow(*place: Any, **options: Any) -> Any:
        until, steps = options["until"], []

        def wait() -> bool:
            steps.append(1)
            if len(starts) == 1 and len(steps) == 3:
                interrupt()
            return bool(until())

        starts.append(1)
        return climb(*place, **{**options, "until": wait})

    monkeypatch.setattr("bnmind.adaptive.learning.em.climb", slow)
    heard = run("learn", "r.csv", "--qmatrix", "q.csv", "--out", "new.json", "--starts", "9")
    assert heard.exit_code == 130
    told = "interrupted before the end; the best parameters so far are in new.json\n"
    assert heard.stderr.endswith(told)
    assert "Not converged" in heard.stdout
    assert len(starts) == 1
    assert read_bank("new.json").item_names == BANK.item_names


def test_simulate_writes_the_results_of_the_first_examinees(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from bnmind.adaptive.simulation import run_batch

    batches = []

    def slow(*parts: Any, **more: Any) -> Any:
        batches.append(1)
        if len(batches) == 3:
            interrupt()
        return run_batch(*parts, **more)

    module = importlib.import_module("bnmind.adaptive.simulation")
    monkeypatch.setattr(module, "run_batch", slow)
    monkeypatch.setattr(module, "_MOST_EXAMINEES", 20)
    monkeypatch.setattr("bnmind.lab.save_simulation", tables_alone)
    Path("d.toml").write_text("stop = 'items:3'\n", encoding="utf-8")
    for words in ((), ("--design", "d.toml", "--selector", "entropy", "--selector", "random")):
        batches.clear()
        heard = run("simulate", "bank.json", "--responses", "r.csv", "--json", *words)
        assert heard.exit_code == 130
        assert "the results are those of the first" in heard.stderr
        found = json.loads(heard.stdout)
        assert found["examinees"] in (20, 40)
        assert [one["selector"] for one in found["selectors"]] == ["entropy", "random"]
        lengths = Path("lengths.csv").read_text(encoding="utf-8").splitlines()
        assert len(lengths) == 1 + 2 * found["examinees"]


def test_simulate_writes_the_results_of_the_folds_done(monkeypatch: pytest.MonkeyPatch) -> None:
    module = importlib.import_module("bnmind.adaptive.learning.learn")
    learn, folds = module.learn, []

    def slow(*parts: Any, **more: Any) -> Any:
        folds.append(1)
        if len(folds) == 2:
            interrupt()
        return learn(*parts, **more)

    monkeypatch.setattr(module, "learn", slow)
    monkeypatch.setattr("bnmind.lab.save_simulation", tables_alone)
    words = ("--folds", "4", "--stop", "items:3", "--json")
    heard = run("simulate", "bank.json", "--responses", "r.csv", *words)
    assert heard.exit_code == 130
    n = json.loads(heard.stdout)["examinees"]
    assert f"the results are those of the {n} of" in heard.stderr
    assert "examinees in the folds done" in heard.stderr
    assert len(folds) == 2


def test_evaluate_gives_intervals_and_judge_what_it_has(monkeypatch: pytest.MonkeyPatch) -> None:
    from bnmind.adaptive.evaluation import values_now

    calls = []

    def slow(*beliefs: Any) -> Any:
        calls.append(1)
        if len(calls) == 3:
            interrupt()
        return values_now(*beliefs)

    monkeypatch.setattr("bnmind.adaptive.evaluation.values_now", slow)
    heard = run("evaluate", "bank.json", "--json")
    assert heard.exit_code == 130
    assert "interrupted; the tree is cut here, and the results so far are intervals" in heard.stderr
    found = json.loads(heard.stdout)
    low, high = found["pattern_accuracy"]
    assert not found["exact"]
    assert 0 < low < high <= 1

    def pairs(_: object) -> None:
        interrupt()

    monkeypatch.setattr("bnmind.adaptive.learning.judgment.pair_fit", pairs)
    heard = run("judge", "r.csv", "--qmatrix", "q.csv", "--group-column", "group")
    assert heard.exit_code == 130
    assert "the results above are those computed so far" in heard.stderr
    assert "M2" in heard.stdout
    assert "No tests of groups: interrupted." in heard.stdout
