"""Filtering, prediction, smoothing, likelihood, best paths: those of the joint of all slices."""

from __future__ import annotations

import math
import pickle
import tracemalloc
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from bnmind.dynamic import DynamicNetwork, DynamicPlan, compile_dynamic, fit_dynamic, previous
from bnmind.dynamic.passes import Passes, read_sequences, segment_length
from bnmind.errors import (
    BnmindError,
    ImpossibleEvidenceError,
    InvalidArgumentError,
    TableError,
    TooLargeError,
    UnknownNameError,
)
from bnmind.information import Floats
from bnmind.junction import Limits
from bnmind.pgm import Network, TabularCPD, Variable
from tests.dynamic.twin import dynamic_networks, findings_of, joint_of, sequences_of
from tests.modes import examples

RAIN, UMBRELLA = Variable("rain", ("no", "yes")), Variable("umbrella", ("no", "yes"))
SENSOR = TabularCPD(UMBRELLA, (RAIN,), np.array([[0.8, 0.1], [0.2, 0.9]]))
STAY = np.array([[0.7, 0.3], [0.3, 0.7]])
WEATHER = DynamicNetwork(
    Network((TabularCPD(RAIN, (), np.array([0.5, 0.5])), SENSOR)),
    (TabularCPD(RAIN, (previous(RAIN),), STAY), SENSOR),
)
"""The umbrella world of Russell and Norvig, *Artificial intelligence: a modern approach*."""


def marginal(joint: Floats, axis: int) -> Floats:
    """Return the distribution of one axis."""
    sums = np.asarray(joint.sum(axis=tuple(a for a in range(joint.ndim) if a != axis)))
    return np.asarray(sums / sums.sum())


def is_missing_or_likelihood(plan: DynamicPlan, slices: list[dict[str, Any]]) -> dict[str, Any]:
    """Return a frame of the states, and the likelihoods that are left."""
    columns: dict[str, list[Any]] = {}
    likelihoods: dict[str, Any] = {}
    for v in plan.observed:
        found = [slice_.get(v.name) for slice_ in slices]
        if any(isinstance(finding, list) for finding in found):
            weights = np.ones((len(slices), v.n_states))
            for row, finding in enumerate(found):
                if isinstance(finding, list):
                    weights[row] = finding
                elif finding is not None:
                    weights[row] = np.eye(v.n_states)[finding]
            likelihoods[v.name] = weights
        else:
            columns[v.name] = [None if f is None else v.states[f] for f in found]
    return {"columns": columns, "likelihoods": likelihoods}


def findings_by_state(network: DynamicNetwork, slice_: dict[str, Any]) -> dict[str, Any]:
    """Return findings with states instead of positions."""
    return {
        name: network.variable(name).states[finding] if isinstance(finding, int) else finding
        for name, finding in slice_.items()
    }


@settings(max_examples=examples(20))
@given(st.data())
def test_steps_are_those_of_the_joint_of_all_slices(data: st.DataObject) -> None:
    network = data.draw(dynamic_networks())
    slices = data.draw(findings_of(network))
    assume(joint_of(network, slices).sum() > 0)
    plan = compile_dynamic(network)
    state = plan.start()
    n = len(network.variables)
    for t in range(len(slices)):
        state, info = plan.step(state, findings_by_state(network, slices[t]))
        joint = joint_of(network, slices[: t + 1])
        assert state.log_likelihood == pytest.approx(math.log(joint.sum()))
        for i, v in enumerate(network.variables):
            expected = marginal(joint, t * n + i)
            assert info.posterior.marginals[v.name] == pytest.approx(expected)
    ahead = plan.predict(state, 1)
    joint = joint_of(network, slices, n_slices=len(slices) + 1)
    for i, v in enumerate(network.variables):
        expected = marginal(joint, len(slices) * n + i)
        assert ahead.marginals[v.name][0] == pytest.approx(expected)


@settings(max_examples=examples(20))
@given(st.data())
def test_sequences_side_by_side_are_those_of_the_joint_of_all_slices(data: st.DataObject) -> None:
    network = data.draw(dynamic_networks())
    sequences = data.draw(sequences_of(network))
    joints = [joint_of(network, slices) for slices in sequences]
    assume(all(joint.sum() > 0 for joint in joints))
    plan = compile_dynamic(network)
    rows = [slice_ for slices in sequences for slice_ in slices]
    given_ = is_missing_or_likelihood(plan, rows)
    frame = pd.DataFrame(
        {"who": [i for i, slices in enumerate(sequences) for _ in slices], **given_["columns"]}
    )
    options: dict[str, Any] = {"sequence": "who", "likelihoods": given_["likelihoods"]}
    filtered = plan.filter(frame, **options)
    smoothed = plan.smooth(frame, **options)
    total = sum(math.log(joint.sum()) for joint in joints)
    assert plan.log_likelihood(frame, **options) == pytest.approx(total, abs=1e-9)
    assert filtered.log_likelihood == pytest.approx(total, abs=1e-9)
    assert smoothed.log_likelihood == pytest.approx(total, abs=1e-9)
    row, n = 0, len(network.variables)
    for slices, joint in zip(sequences, joints, strict=True):
        for t in range(len(slices)):
            before = joint_of(network, slices[: t + 1])
            for i, v in enumerate(network.variables):
                axis = t * n + i
                assert filtered.marginals[v.name][row] == pytest.approx(marginal(before, axis))
                assert smoothed.marginals[v.name][row] == pytest.approx(marginal(joint, axis))
            row += 1


def test_the_umbrella_world_has_its_published_answers() -> None:
    plan = compile_dynamic(WEATHER)
    smoothed = plan.smooth({"umbrella": ["yes", "yes"]})
    assert smoothed.marginals["rain"][0, 1] == pytest.approx(0.883, abs=5e-4)
    state, info = plan.step(plan.start(), {"umbrella": "yes"})
    assert info.posterior["rain"]["yes"] == pytest.approx(0.818, abs=5e-4)
    assert plan.step(state, {"umbrella": "yes"})[1].posterior["rain"]["yes"] == pytest.approx(
        0.883, abs=5e-4
    )


def test_a_step_changes_no_state_and_accepts_no_findings() -> None:
    plan = compile_dynamic(WEATHER)
    state, _ = plan.step(plan.start(), {"umbrella": "yes"})
    twice = [plan.step(state)[0].belief.tolist() for _ in range(2)]
    assert twice[0] == twice[1]
    assert (state.n_slices, state.belief.shape) == (1, (2,))


def test_predictions_go_on_from_a_state() -> None:
    plan = compile_dynamic(WEATHER)
    state, info = plan.step(plan.start(), {"umbrella": "yes"})
    ahead = plan.predict(state, 3)
    expected = info.posterior.marginals["rain"]
    for row in range(3):
        expected = STAY @ expected
        assert ahead.marginals["rain"][row] == pytest.approx(expected)
    assert ahead.to_frame("rain").index.tolist() == [1, 2, 3]
    with pytest.raises(InvalidArgumentError, match="slices to be a whole number of at least 1"):
        plan.predict(state, 0)
    with pytest.raises(TooLargeError, match="predictions of"):
        plan.predict(state, 10**12)


def test_likelihoods_may_stand_beside_columns_of_other_names() -> None:
    plan = compile_dynamic(WEATHER, targets=["rain"])
    weights = [[0.1, 0.9], [0.3, 0.3]]
    frame = {"town": ["Ely", "Ely"], "when": [1, 2]}
    beside = plan.filter(frame, sequence="town", likelihoods={"umbrella": weights})
    alone = plan.filter({}, likelihoods={"umbrella": weights})
    assert beside.marginals["rain"].tolist() == alone.marginals["rain"].tolist()
    with pytest.raises(TableError, match="no column has the name of a variable"):
        plan.filter(frame, sequence="town")


def test_numbers_are_told_with_their_nouns() -> None:
    plan = compile_dynamic(WEATHER, targets=["rain"])
    state, _ = plan.step(plan.start())
    assert repr(state) == "FilterState(1 slice, log_likelihood=0)"
    assert repr(plan).startswith("DynamicPlan(1 target, 2 observed; ")
    days = {"umbrella": [None, None]}
    assert repr(plan.filter(days)).startswith("SequencePosterior(2 slices of 1 sequence, ")
    assert repr(plan.most_probable(days)) == "MostProbablePath(2 slices of 1 sequence)"


def test_predictions_take_the_memory_of_their_answers() -> None:
    plan = compile_dynamic(WEATHER, targets=["rain"])
    state, _ = plan.step(plan.start())
    plan.predict(state, 2)
    peaks = []
    for slices in (50, 350):
        tracemalloc.start()
        try:
            plan.predict(state, slices)
            peaks.append(tracemalloc.get_traced_memory()[1])
        finally:
            tracemalloc.stop()
    with pytest.raises(TooLargeError) as caught:
        compile_dynamic(WEATHER, targets=["rain"], limits=Limits(max_bytes=10_000)).predict(
            state, 300
        )
    # Steps leave rubbish of some kilobytes.
    assert peaks[1] - peaks[0] < 3 * caught.value.needed


def test_the_tables_of_slices_may_vary() -> None:
    def transition(number: int) -> list[list[float]]:
        stay = 1 - 0.1 * number
        return [[stay, 1 - stay], [1 - stay, stay]]

    network = DynamicNetwork(WEATHER.first, WEATHER.transition, {"rain": transition})
    slices = [{"umbrella": 1}, {"umbrella": 0}, {}, {"umbrella": 1}]
    joint = joint_of(network, slices)
    plan = compile_dynamic(network)
    frame = {"umbrella": ["yes", "no", None, "yes"]}
    smoothed = plan.smooth(frame)
    assert smoothed.log_likelihood == pytest.approx(math.log(joint.sum()))
    for t in range(4):
        assert smoothed.marginals["rain"][t] == pytest.approx(marginal(joint, 2 * t))
    state = plan.start()
    for finding in frame["umbrella"]:
        state, _ = plan.step(state, {"umbrella": finding})
    assert state.log_likelihood == pytest.approx(math.log(joint.sum()))


def test_a_varying_table_that_is_invalid_is_named_with_its_slice() -> None:
    network = DynamicNetwork(
        WEATHER.first, WEATHER.transition, {"rain": lambda number: np.full((2, 2), 0.1 * number)}
    )
    plan = compile_dynamic(network)
    with pytest.raises(InvalidArgumentError, match=r"in slice 1: expected the table of rain"):
        plan.filter({"umbrella": ["yes", "yes"]})


def test_very_improbable_findings_do_not_underflow() -> None:
    plan = compile_dynamic(WEATHER, observed=["umbrella"], targets=["rain"])
    weights = np.tile([[1e-150, 3e-150], [2e-140, 1e-140]], (10, 1))
    filtered = plan.filter({}, likelihoods={"umbrella": weights})
    smoothed = plan.smooth({}, likelihoods={"umbrella": weights})
    belief, total = np.array([0.5, 0.5]), 0.0
    for number, weight in enumerate(weights):
        belief = (STAY @ belief if number else belief) * (weight @ SENSOR.values)
        total += math.log(belief.sum())
        belief = belief / belief.sum()
    assert total < -6000
    assert filtered.log_likelihood == pytest.approx(total)
    assert filtered.marginals["rain"][-1] == pytest.approx(belief)
    assert smoothed.marginals["rain"][-1] == pytest.approx(belief)


def test_the_state_of_a_filter_does_not_grow() -> None:
    plan = compile_dynamic(WEATHER, observed=["umbrella"], targets=["rain"])
    state = plan.start()
    sizes = []
    for number in range(60):
        state, _ = plan.step(state, {"umbrella": "yes" if number % 3 else "no"})
        sizes.append(len(pickle.dumps(state)))
    assert len(set(sizes)) == 1


def test_smoothing_keeps_the_messages_of_about_twice_the_root_of_the_slices() -> None:
    plan = compile_dynamic(WEATHER)
    sequences = read_sequences(WEATHER, plan.observed, {"umbrella": ["yes"] * 100})
    (rows,) = sequences.groups(1)
    passes = Passes(plan.slices, sequences, rows)
    runs = {"forward": 0}
    forward = passes.forward

    def counted(*arguments: Any, **options: Any) -> Any:
        for result in forward(*arguments, **options):
            runs["forward"] += 1
            yield result

    passes.forward = counted  # type: ignore[method-assign]
    order = [number for number, _, _ in passes.smooth(plan.slices.smoothers)]
    assert order == list(reversed(range(100)))
    assert runs["forward"] == 100 + 90  # the first slice of a segment starts from a checkpoint
    assert [segment_length(n) for n in (1, 2, 4, 5, 100, 101)] == [1, 2, 2, 3, 10, 11]


def test_an_interface_that_is_too_large_is_refused_with_its_size() -> None:
    many = [Variable(f"x{i}", ("0", "1")) for i in range(40)]
    first = Network(tuple(TabularCPD(v, (), np.array([0.5, 0.5])) for v in many))
    later = tuple(TabularCPD(v, (previous(v),), STAY) for v in many)
    told = r"interface .* 1,099,511,627,776 cells.* at least 26,388,279,066,624 bytes"
    with pytest.raises(TooLargeError, match=told) as caught:
        compile_dynamic(DynamicNetwork(first, later))
    assert caught.value.needed > caught.value.budget
    with pytest.raises(TooLargeError):
        compile_dynamic(WEATHER, limits=Limits(max_multiplications=3))


def test_impossible_findings_are_named_with_their_slice() -> None:
    never = TabularCPD(UMBRELLA, (RAIN,), np.array([[1.0, 1.0], [0.0, 0.0]]))
    network = DynamicNetwork(Network((WEATHER.first.cpd("rain"), never)), WEATHER.transition)
    plan = compile_dynamic(network)
    frame = pd.DataFrame({"day": ["a", "b"], "umbrella": ["no", "yes"]}, index=[7, 8])
    with pytest.raises(ImpossibleEvidenceError, match="row 8, slice 0 of sequence b") as caught:
        plan.filter(frame, sequence="day")
    assert caught.value.evidence == {"umbrella": "yes"}
    with pytest.raises(ImpossibleEvidenceError, match="slice 0"):
        plan.step(plan.start(), {"umbrella": "yes"})


@pytest.mark.parametrize(
    ("arguments", "error", "told"),
    [
        ({"cases": {"umbrella": ["perhaps"]}}, TableError, "perhaps"),
        ({"cases": {"umbrela": ["yes"]}}, TableError, "did you mean umbrella"),
        ({"cases": {"umbrella": []}}, TableError, "at least one slice"),
        ({"cases": {"umbrella": ["yes"]}, "sequence": "who"}, UnknownNameError, "who"),
        ({"cases": {"umbrella": ["yes"], "who": [None]}, "sequence": "who"}, TableError, "row"),
        ({"cases": {"umbrella": ["yes"]}, "sequence": "umbrella"}, InvalidArgumentError, "column"),
        (
            {"cases": {"umbrella": ["yes"]}, "likelihoods": {"umbrella": [[1, 1]]}},
            InvalidArgumentError,
            "both",
        ),
        (
            {"cases": {"umbrella": ["yes"]}, "likelihoods": {"rain": [[1, -1]]}},
            InvalidArgumentError,
            "not negative",
        ),
        (
            {"cases": {"umbrella": ["yes"]}, "likelihoods": {"rain": [1, 1]}},
            InvalidArgumentError,
            "shape",
        ),
        ({"cases": {"umbrella": ["yes"]}, "likelihoods": {"snow": []}}, UnknownNameError, "snow"),
        ({"cases": 7}, InvalidArgumentError, "data frame|DataFrame"),
    ],
)
def test_wrong_sequences_are_refused(
    arguments: dict[str, Any], error: type[BnmindError], told: str
) -> None:
    plan = compile_dynamic(WEATHER)
    for ask in (plan.filter, plan.smooth, plan.log_likelihood):
        with pytest.raises(error, match=told):
            ask(**arguments)


def test_wrong_findings_and_states_of_a_step_are_refused() -> None:
    plan = compile_dynamic(WEATHER, observed=["umbrella"])
    with pytest.raises(InvalidArgumentError, match="rain"):
        plan.step(plan.start(), {"rain": "yes"})
    with pytest.raises(InvalidArgumentError, match="no findings of rain"):
        plan.filter({"rain": ["yes"]})
    state, _ = plan.step(plan.start())
    color = Variable("color", ("r", "g", "b"))
    same = TabularCPD(color, (previous(color),), np.eye(3))
    other = DynamicNetwork(Network((TabularCPD(color, (), np.full(3, 1 / 3)),)), (same,))
    with pytest.raises(InvalidArgumentError, match="another network"):
        compile_dynamic(other).step(state)
    with pytest.raises(InvalidArgumentError, match="twice in observed"):
        compile_dynamic(WEATHER, observed=["rain", "rain"])
    with pytest.raises(UnknownNameError, match="snow"):
        compile_dynamic(WEATHER, targets=["snow"])


def test_slices_without_arcs_between_them_are_independent() -> None:
    coin = Variable("coin", ("heads", "tails"))
    toss = TabularCPD(coin, (), np.array([0.25, 0.75]))
    plan = compile_dynamic(DynamicNetwork(Network((toss,)), (toss,)))
    answers = plan.smooth({"coin": ["heads", None, "tails"]})
    assert answers.log_likelihood == pytest.approx(math.log(0.25 * 0.75))
    assert answers.marginals["coin"][1] == pytest.approx([0.25, 0.75])
    assert plan.predict(plan.step(plan.start())[0]).marginals["coin"][0, 0] == pytest.approx(0.25)


@settings(max_examples=examples(30))
@given(st.data())
def test_paths_are_as_probable_as_the_best_of_the_joint(data: st.DataObject) -> None:
    network = data.draw(dynamic_networks())
    sequences = data.draw(sequences_of(network))
    joints = [joint_of(network, slices) for slices in sequences]
    assume(all(joint.max() > 0 for joint in joints))
    found = sorted({name for slices in sequences for slice_ in slices for name in slice_})
    is_known = bool(found) and data.draw(st.booleans())
    plan = compile_dynamic(network, observed=found if is_known else None)
    given_ = is_missing_or_likelihood(plan, [slice_ for slices in sequences for slice_ in slices])
    who = [i for i, slices in enumerate(sequences) for _ in slices]
    frame = pd.DataFrame({"who": who, **given_["columns"]})
    path = plan.most_probable(frame, sequence="who", likelihoods=given_["likelihoods"])
    row = 0
    for number, (slices, joint) in enumerate(zip(sequences, joints, strict=True)):
        cell = tuple(
            int(path.positions[v.name][row + t])
            for t in range(len(slices))
            for v in network.variables
        )
        assert joint[cell] == pytest.approx(joint.max())
        assert path.log_probabilities[number] == pytest.approx(math.log(joint.max()))
        row += len(slices)


def test_a_path_differs_from_the_most_probable_states_of_each_slice() -> None:
    plan = compile_dynamic(WEATHER)
    path = plan.most_probable({"umbrella": ["yes", "yes", "no", "yes", "yes"]})
    assert path.to_frame()["rain"].tolist() == ["yes", "yes", "no", "yes", "yes"]
    never = DynamicNetwork(
        WEATHER.first,
        (TabularCPD(*_stays()), WEATHER.transition[1]),
    )
    path = compile_dynamic(never).most_probable({"umbrella": ["yes", "yes", "no", "yes"]})
    assert path.to_frame()["rain"].tolist() == ["yes"] * 4


def _stays() -> Any:
    rain = WEATHER.variable("rain")
    return rain, (previous(rain),), np.eye(2)


def test_a_state_that_is_hopeless_for_long_is_found_in_the_end() -> None:
    # After 40 findings against it, the fault is less probable than 1e-400, and it is certain.
    fault, signal = Variable("fault", ("no", "yes")), Variable("signal", ("quiet", "loud"))
    stays = TabularCPD(fault, (previous(fault),), np.eye(2))
    start = TabularCPD(fault, (), np.array([0.5, 0.5]))
    seen = TabularCPD(signal, (fault,), np.array([[1.0, 1e-10], [0.0, 1.0]]))
    network = DynamicNetwork(Network((start, seen)), (stays, seen))
    path = compile_dynamic(network).most_probable({"signal": ["quiet"] * 40 + ["loud"]})
    assert set(path.to_frame()["fault"]) == {"yes"}


def test_impossible_sequences_are_named() -> None:
    rain = WEATHER.variable("rain")
    first = Network((TabularCPD(rain, (), np.array([1.0, 0.0])),))
    stays = DynamicNetwork(first, (TabularCPD(*_stays()),))
    with pytest.raises(ImpossibleEvidenceError, match="row 2, slice 2"):
        compile_dynamic(stays).most_probable({"rain": ["no", "no", "yes"]})


def test_tables_that_vary_are_followed() -> None:
    network = DynamicNetwork(
        WEATHER.first,
        WEATHER.transition,
        {"rain": lambda number: np.eye(2)[::-1] if number == 2 else STAY},
    )
    path = compile_dynamic(network).most_probable({"umbrella": ["yes", "yes", "no", "no"]})
    joint = joint_of(network, [{"umbrella": f} for f in (1, 1, 0, 0)])
    assert path.log_probabilities[None] == pytest.approx(math.log(joint.max()))


Rows = list[list[Fraction]]
STATES = ("a", "b", "c")
HIDDEN, SEEN = Variable("hidden", STATES), Variable("seen", STATES)


def network_of(start: Floats, change: Floats, sensor: Floats) -> DynamicNetwork:
    """Return a hidden Markov model of three states."""
    report = TabularCPD(SEEN, (HIDDEN,), sensor)
    return DynamicNetwork(
        Network((TabularCPD(HIDDEN, (), start), report)),
        (TabularCPD(HIDDEN, (previous(HIDDEN),), change), report),
    )


def exact(network: DynamicNetwork, seen: list[int]) -> tuple[Rows, Rows, float]:
    """Return the filtered and smoothed distributions, and the log-likelihood."""

    def of(name: str, number: int) -> NDArray[Any]:
        table = network.cpd(name, number).to_tabular().values
        return np.array([Fraction(cell) for cell in table.ravel()], dtype=object).reshape(
            table.shape
        )

    start, change, sensor = of("hidden", 0), of("hidden", 1), of("seen", 1)
    ahead = [start * sensor[seen[0]]]
    for s in seen[1:]:
        ahead.append(change.dot(ahead[-1]) * sensor[s])
    back = [np.array([Fraction(1)] * 3, dtype=object)]
    for s in reversed(seen[1:]):
        back.append((back[-1] * sensor[s]).dot(change))
    both = [a * b for a, b in zip(ahead, reversed(back), strict=True)]
    total = sum(ahead[-1])
    log = math.log(total.numerator) - math.log(total.denominator)
    return [list(a / sum(a)) for a in ahead], [list(j / sum(j)) for j in both], log


def floats(rows: Rows) -> Floats:
    """Return fractions as doubles."""
    return np.array([[float(cell) for cell in row] for row in rows])


@settings(max_examples=examples(15))
@given(st.data())
def test_near_impossible_states_are_those_of_exact_fractions(data: st.DataObject) -> None:
    tiny = st.sampled_from([0.0, 1e-150, 1e-90, 1e-3, 0.25])
    columns = []
    for state in range(3):
        column = np.array([data.draw(tiny) for _ in STATES])
        column[state] = 0.0
        column[state] = 1.0 - column.sum()
        columns.append(column)
    sensor = np.array(columns).T
    stays = np.eye(3)
    leak = data.draw(st.sampled_from([0.0, 1e-120]))
    stays[:, 0] = [1.0, leak, 0.0]
    network = network_of(np.array([0.5, 0.25, 0.25]), stays, sensor)
    parts = data.draw(st.lists(st.tuples(st.integers(0, 2), st.integers(1, 6)), max_size=4))
    # The first state gives all of these reports, so that nothing is impossible.
    seen = [0] + [report for report, times in parts if sensor[report, 0] > 0 for _ in range(times)]
    filtered, smoothed, log = exact(network, seen)
    plan = compile_dynamic(network, observed=["seen"], targets=["hidden"])
    frame = {"seen": [STATES[s] for s in seen]}
    near = plan.filter(frame)
    far = plan.smooth(frame)
    np.testing.assert_allclose(near.marginals["hidden"], floats(filtered), atol=1e-12)
    np.testing.assert_allclose(far.marginals["hidden"], floats(smoothed), atol=1e-12)
    for found in (near.log_likelihood, far.log_likelihood, plan.log_likelihood(frame)):
        assert found == pytest.approx(log, rel=1e-12)


@pytest.mark.parametrize("phases", [(0, 1), (0, 1, 1, 0)])
def test_states_that_are_as_probable_in_the_end_are_told(phases: tuple[int, ...]) -> None:
    sensor = np.array([[1.0, 1e-30, 1.0], [1e-30, 1.0, 0.0], [0.0, 0.0, 0.0]])
    network = network_of(np.array([0.5, 0.5, 0.0]), np.eye(3), sensor)
    plan = compile_dynamic(network, observed=["seen"], targets=["hidden"])
    frame = {"seen": [STATES[phase] for phase in phases for _ in range(12)]}
    smoothed = plan.smooth(frame).marginals["hidden"]
    np.testing.assert_allclose(smoothed, np.tile([0.5, 0.5, 0.0], (len(smoothed), 1)))
    assert plan.filter(frame).marginals["hidden"][-1] == pytest.approx([0.5, 0.5, 0.0])
    if len(phases) == 2:
        fitted = fit_dynamic(network, frame, fixed=["seen", "seen[t-1]", "hidden"])
        assert fitted.network.cpd("hidden", 0).to_tabular().values == pytest.approx([0.5, 0.5, 0.0])


def test_messages_that_exceed_the_limits_are_refused() -> None:
    network = network_of(np.full(3, 1 / 3), np.eye(3), np.full((3, 3), 1 / 3))
    plan = compile_dynamic(network, limits=Limits(max_bytes=3_000))
    long = {"seen": ["a"] * 10_000}
    for ask in (plan.smooth, plan.most_probable):
        with pytest.raises(TooLargeError, match=r"10,000 slices would take 4\.69 KiB") as caught:
            ask(long)
        assert (caught.value.needed, caught.value.budget) == (4_800, 3_000)
    assert plan.log_likelihood({"seen": ["a"] * 10}) == pytest.approx(-10 * math.log(3))
