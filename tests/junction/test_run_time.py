"""The predicted time of a run: it is the same for the same plan, guards runs, and is shown."""

from __future__ import annotations

import json
import time
from pathlib import Path

import numpy as np
import pytest

import bnmind.junction.limits as run_time
from bnmind.errors import InvalidArgumentError, TooLargeError
from bnmind.junction import BestOrder, Limits, Plan, Portfolio, compile_model, compile_plan
from bnmind.junction.limits import Work, format_seconds, predicted_seconds
from bnmind.junction.order_finders import interaction_graph
from bnmind.pgm import Factor, FactorModel, Network, Variable
from bnmind.pgm.files import write_model
from tests.command_line import run
from tests.junction.test_long_runs import grid
from tests.wheel import NAMES, ask, read_wheel, state_names


@pytest.fixture(autouse=True)
def _same_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """Predict for an ordinary machine, whatever this one is."""
    monkeypatch.setattr(run_time, "_measured_rates", lambda: run_time.USUAL)


def corners(n: int, **options: object) -> Plan:
    network = grid(n)
    evidence = [f"x{n - 1}_{n - 1}", f"x{n - 1}_0"]
    return compile_plan(network, evidence=evidence, targets=[["x0_0"]], **options)  # type: ignore[arg-type]


def test_each_kind_of_work_takes_time() -> None:
    zero, rates = Work(), run_time.USUAL
    assert predicted_seconds(zero) == 0
    for i, name in enumerate(Work._fields):
        assert predicted_seconds(zero._replace(**{name: 1000})) == pytest.approx(1000 * rates[i])


def test_work_counts_steps_matrices_multiplications_and_numbers() -> None:
    a, b, c = (Variable(name, tuple("012")) for name in "abc")
    model = FactorModel((Factor((a, b), np.ones((3, 3))), Factor((b, c), np.ones((3, 3)))))
    program = compile_plan(model, targets=[["a", "c"]]).compiled.program
    (work,) = run_time.work_of_steps(program)
    assert work == Work(1, 1, 27, 27)  # reads two tables of nine numbers, and writes one


def test_fresh_memory_counts_from_64_megabytes() -> None:
    """Registers of 32 MiB are in memory that earlier ones have left."""
    for n, is_fresh in ((22, False), (23, True)):
        x = [Variable(f"x{i}", ("0", "1")) for i in range(n)]
        halves = (x[: n // 2], x[n // 2 :])
        model = FactorModel(tuple(Factor(tuple(half), np.ones([2] * len(half))) for half in halves))
        plan = compile_plan(model, targets=[[v.name for v in x]])
        work = run_time.work_of_steps(plan.compiled.program)
        assert sum(step.fresh for step in work) == (2**23 if is_fresh else 0)


def test_larger_grids_take_longer() -> None:
    seconds = [corners(n).seconds for n in (4, 8, 12, 16)]
    assert seconds == sorted(seconds)
    assert seconds[0] > 0
    assert seconds == [corners(n).seconds for n in (4, 8, 12, 16)]


def test_scaled_numbers_take_a_second_run() -> None:
    """The sum of the model exceeds the largest number of floating point."""
    x = [Variable(f"x{i}", ("0", "1")) for i in range(41)]
    seconds = []
    for large in (1e3, 1e9):
        values = np.array([[large, 1.0], [1.0, large]])
        tables = [Factor((x[i], x[i + 1]), values) for i in range(40)]
        plan = compile_plan(FactorModel(tuple(tables)), targets=[["x0"]])
        assert plan.run().joints[0][0] == pytest.approx(0.5)
        seconds.append(plan.seconds)
    assert seconds[1] == pytest.approx(2 * seconds[0])


def test_a_run_that_takes_too_long_is_refused() -> None:
    with pytest.raises(TooLargeError, match=r", less than 0\.1 s; .*, max_seconds=0\.0001 and"):
        corners(12, limits=Limits(max_seconds=1e-4))
    plan = corners(12, limits=Limits(max_seconds=1e-4, only_restrictions=True))
    with pytest.raises(TooLargeError, match="multiplications"):
        plan.run({"x11_11": "1", "x11_0": "1"})
    engine = compile_model(grid(12), limits=Limits(max_seconds=1e-4))
    with pytest.raises(TooLargeError):
        engine.posterior(None, {"x11_11": "1"})
    for wrong in (0, -1.0, float("nan")):
        with pytest.raises(InvalidArgumentError, match="max_seconds"):
            Limits(max_seconds=wrong)


def test_a_long_run_is_refused_with_its_time(monkeypatch: pytest.MonkeyPatch) -> None:
    slow = Work(*[1e6 * rate for rate in run_time.USUAL])
    monkeypatch.setattr(run_time, "_measured_rates", lambda: slow)
    monkeypatch.setattr(run_time, "_WORTH_MEASURING", 0.0)
    monkeypatch.setattr("bnmind.junction.compiled_query._SURELY_QUICK", 0)
    with pytest.raises(
        TooLargeError, match=r", about \d+ (min|s); .* max_seconds=60 and"
    ) as caught:
        corners(14)
    assert caught.value.needed > caught.value.budget == 60


def test_progress_reaches_the_end() -> None:
    plan, told = corners(12), list[tuple[int, int | None]]()
    alone = plan.run({"x11_11": "1", "x11_0": "0"})
    found = plan.run(
        {"x11_11": "1", "x11_0": "0"}, progress=lambda done, all_: told.append((done, all_))
    )
    assert found.joints[0].tolist() == alone.joints[0].tolist()
    done, whole = zip(*told, strict=True)
    assert set(whole) == {100}
    assert list(done) == sorted(done)
    assert done[-1] == 100
    assert len(set(done)) > 10


def test_times_are_told_in_words() -> None:
    assert format_seconds(0.0) == "less than 0.1 s"
    assert format_seconds(3 * 3600) == "about 3 h"
    assert format_seconds(1e12) == "more than 100,000 days"
    assert "time of a run  less than 0.1 s of at most 60 s" in str(corners(4))


def test_the_best_order_is_no_worse_than_that_of_the_portfolio() -> None:
    for n in (6, 16, 22):
        graph = interaction_graph(grid(n))
        best, usual = BestOrder()(graph), Portfolio()(graph)
        assert best.total_size <= usual.total_size


def test_the_command_line_takes_the_same_order_and_limits(tmp_path: Path) -> None:
    path = tmp_path / "grid.bif"
    write_model(grid(14), path)
    question = ("query", str(path), "--evidence", "x13_13=1,x13_0=0", "--targets", "x0_0")
    told = json.loads(run(*question, "--plan", "--json").stdout)["plan"]
    plan = corners(14)
    assert told["multiplications"] == plan.multiplications
    assert told["seconds"] == pytest.approx(plan.seconds)
    refused = run(*question, "--max-seconds", "1e-4")
    assert refused.exit_code == 2
    assert "max_seconds=0.0001" in refused.stderr
    assert run(*question, "--max-seconds", "0").exit_code == 2


@pytest.mark.slow
def test_predictions_are_seldom_wrong_by_more_than_a_factor_of_two(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """With the rates of this machine. Other programs disturb the times, so a few may be wrong."""
    monkeypatch.undo()
    # Usual rates would predict short runs, on whatever machine.
    monkeypatch.setattr(run_time, "_WORTH_MEASURING", 0.0)
    plans: dict[str, tuple[Plan, dict[str, str]]] = {}
    networks: dict[str, Network] = {name: read_wheel(name) for name in NAMES}
    for name, network in networks.items():
        question = ask(network, "leaves")
        findings = state_names(network, question.findings)
        targets = [[name] for name in question.targets]
        plans[name] = compile_plan(network, evidence=findings, targets=targets), findings
    for n in (8, 12, 16, 18, 20):
        plans[f"grid {n}"] = corners(n), {f"x{n - 1}_{n - 1}": "1", f"x{n - 1}_0": "0"}
    wrong = {}
    for name, (plan, findings) in plans.items():
        seconds = []
        for _ in range(5):
            started = time.process_time()
            plan.run(findings)
            seconds.append(time.process_time() - started)
        ratio = plan.seconds / min(seconds)
        if not 0.5 < ratio < 2:
            wrong[name] = ratio
    assert len(wrong) <= len(plans) // 5, wrong
    assert all(0.2 < ratio < 5 for ratio in wrong.values()), wrong
