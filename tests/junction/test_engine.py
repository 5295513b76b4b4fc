"""Engines answer every question like the enumeration of all configurations."""

from __future__ import annotations

import copy
import math
import pickle
import sys
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bnmind
from bnmind.errors import (
    ImpossibleEvidenceError,
    InvalidArgumentError,
    TooLargeError,
    UnknownNameError,
)
from bnmind.information import Floats
from bnmind.junction import Engine, compile_model
from bnmind.pgm import Distribution, Factor, FactorModel, Network, TabularCPD, Variable
from tests.modes import examples
from tests.networks import enumerate_joint, networks

RAIN, WET = Variable("rain", ("no", "yes")), Variable("wet", ("no", "damp", "yes"))
COLD = Variable("cold", (False, True))  # type: ignore[arg-type]
GARDEN = Network(
    (
        TabularCPD(RAIN, (), np.array([0.8, 0.2])),
        TabularCPD(WET, (RAIN,), np.array([[0.7, 0.1], [0.2, 0.2], [0.1, 0.7]])),
        TabularCPD(COLD, (RAIN,), np.array([[0.9, 0.4], [0.1, 0.6]])),
    )
)


@st.composite
def evidence_on(draw: st.DrawFn, network: Network) -> dict[str, Any]:
    """Return states, likelihoods and missing values of some variables."""
    found: dict[str, Any] = {}
    for v in network.variables:
        kind = draw(st.sampled_from(["nothing", "nothing", "state", "likelihood", "missing"]))
        if kind == "state":
            found[v.name] = draw(st.sampled_from(v.states))
        elif kind == "missing":
            found[v.name] = draw(st.sampled_from([None, float("nan"), pd.NA, pd.NaT]))
        elif kind == "likelihood":
            weights = st.sampled_from([0.0, 0.25, 1.0])
            found[v.name] = [draw(weights) for _ in v.states]
    return found


def enumerated(network: Network, evidence: dict[str, Any]) -> Floats:
    """Return the probability of each configuration together with the evidence."""
    joint = enumerate_joint(network).values.real.copy()
    for axis, v in enumerate(network.variables):
        finding = evidence.get(v.name)
        if isinstance(finding, str):
            weights = np.array([float(state == finding) for state in v.states])
        elif isinstance(finding, list):
            weights = np.array(finding)
        else:
            continue
        joint *= weights.reshape([-1 if a == axis else 1 for a in range(joint.ndim)])
    return joint


def summed(network: Network, joint: Floats, names: Iterable[str]) -> Floats:
    """Return the sums of a joint over all variables but some, in the order of these."""
    values: Floats = Factor(network.variables, joint).sum_to(tuple(names)).values.real
    return values


@st.composite
def questions(draw: st.DrawFn) -> tuple[Network, dict[str, Any], tuple[str, ...]]:
    """Return a network, evidence, and some variables."""
    network = draw(networks(max_variables=6, max_states=3))
    names = st.sampled_from([v.name for v in network.variables])
    targets = draw(st.lists(names, unique=True, min_size=1, max_size=3))
    return network, draw(evidence_on(network)), tuple(targets)


@settings(max_examples=examples(60))
@given(questions())
def test_posteriors_are_those_of_the_enumeration(
    question: tuple[Network, dict[str, Any], tuple[str, ...]],
) -> None:
    network, evidence, names = question
    engine = compile_model(network)
    joint = enumerated(network, evidence)
    if not joint.sum() > 0:
        with pytest.raises(ImpossibleEvidenceError):
            engine.posterior(names[0], evidence)
        with pytest.raises(ImpossibleEvidenceError):
            engine.mpe(evidence)
        return
    share = joint / joint.sum()
    for _ in range(2):  # the second time from memory
        everything = engine.posterior(evidence=evidence)
        observed = {name for name, finding in evidence.items() if isinstance(finding, str)}
        assert list(everything) == [v.name for v in network.variables if v.name not in observed]
        for name in everything:
            found = everything[name].probabilities
            np.testing.assert_allclose(found, summed(network, share, [name]), atol=1e-12)
        if everything:
            assert everything.log_evidence == pytest.approx(math.log(joint.sum()), abs=1e-12)
    some = engine.posterior(names, evidence)
    for name in names:
        found = some[name].probabilities
        np.testing.assert_allclose(found, summed(network, share, [name]), atol=1e-12)
    together = engine.joint(names, evidence)
    assert together.names == names
    np.testing.assert_allclose(together.probabilities, summed(network, share, names), atol=1e-12)


@settings(max_examples=examples(40))
@given(questions(), st.data())
def test_other_answers_are_those_of_the_enumeration(
    question: tuple[Network, dict[str, Any], tuple[str, ...]], data: st.DataObject
) -> None:
    network, evidence, names = question
    engine = compile_model(network)
    joint = enumerated(network, evidence)
    if not joint.sum() > 0:
        return
    share = joint / joint.sum()
    explanation = engine.mpe(evidence)
    states = {**evidence, **explanation.states}
    cell = tuple(v.index(states[v.name]) for v in network.variables)
    assert joint[cell] == pytest.approx(joint.max(), abs=1e-12)
    assert explanation.log_probability == pytest.approx(math.log(joint.max()), abs=1e-12)
    free = [name for name in names if not isinstance(evidence.get(name), str)]
    if free:
        best = engine.map(free, evidence)
        marginal = summed(network, joint, free)
        assert best.log_probability == pytest.approx(math.log(marginal.max()), abs=1e-12)
    for asked in (names, None):
        p = summed(network, share, names) if asked else share
        bits = -float(np.sum(p[p > 0] * np.log2(p[p > 0])))
        assert engine.entropy(asked, evidence) == pytest.approx(bits, abs=1e-9)
    event = data.draw(evidence_on(network))
    both = (enumerated(network, event) > 0) * joint
    weights = enumerated(network, event) / np.where(
        (own := enumerate_joint(network).values.real) > 0, own, 1.0
    )
    expected = float((share * weights).sum())
    assert engine.probability(event, evidence) == pytest.approx(expected, abs=1e-12)
    log_probability = engine.log_probability(event, evidence)
    if not both.sum() > 0:
        assert log_probability == -math.inf
    else:
        assert log_probability == pytest.approx(math.log(expected), abs=1e-10)


@settings(max_examples=examples(20))
@given(questions(), st.integers(0, 2**32 - 1))
def test_samples_are_possible_and_agree_with_the_evidence(
    question: tuple[Network, dict[str, Any], tuple[str, ...]], seed: int
) -> None:
    network, evidence, _ = question
    joint = enumerated(network, evidence)
    if not joint.sum() > 0:
        return
    engine = compile_model(network)
    samples = engine.sample(20, np.random.default_rng(seed), evidence)
    again = engine.sample(20, np.random.default_rng(seed), evidence)
    np.testing.assert_array_equal(samples.positions, again.positions)
    assert (joint[tuple(samples.positions.T)] > 0).all()


def test_states_are_given_as_users_have_them() -> None:
    engine = compile_model(GARDEN)
    engine.posterior("rain")
    expected = engine.posterior("rain", {"wet": "yes", "cold": "True"})
    frame = pd.DataFrame(
        {"wet": pd.Categorical(["yes"]), "cold": [True], "rain": [None]}, index=["case"]
    )
    for cold in (True, 1, 1.0, np.True_, np.int64(1), "True"):
        assert engine.posterior("rain", {"wet": np.str_("yes"), "cold": cold}) == expected
    row: Any = frame.loc["case"]
    assert engine.posterior("rain", row) == expected
    assert engine.posterior("rain", row.to_dict()) == expected
    for missing in (
        None,
        float("nan"),
        np.nan,
        pd.NA,
        pd.NaT,
        np.datetime64("NaT", "s"),
        np.ma.masked,
    ):
        assert engine.posterior("rain", {"wet": missing}) == engine.posterior("rain")
    numbered = Network((TabularCPD(Variable.of_integers("7", (1, 2)), (), np.array([0.25, 0.75])),))
    assert compile_model(numbered).probability({7: 2}) == 0.75  # type: ignore[dict-item]


def test_targets_are_a_name_or_names() -> None:
    engine = compile_model(GARDEN)
    assert list(engine.posterior("rain")) == ["rain"]
    assert list(engine.posterior(["wet", "rain"])) == ["wet", "rain"]
    assert list(engine.posterior(pd.Index(["wet", "rain"]))) == ["wet", "rain"]
    assert engine.posterior([("wet", "rain")])["rain", "wet"]["yes", "damp"] == pytest.approx(0.04)
    assert engine.posterior([("rain", "wet"), "wet"]).scopes == ((RAIN, WET), (WET,))
    assert list(engine.posterior(evidence={"rain": "no"})) == ["wet", "cold"]
    assert engine.posterior("rain", {"rain": "no"})["rain"].to_dict() == {"no": 1.0, "yes": 0.0}
    assert isinstance(engine.joint("rain"), Distribution)
    assert engine.joint("rain")["yes"] == pytest.approx(0.2)
    assert engine.joint(["wet", "rain"])["damp", "yes"] == pytest.approx(0.04)


def test_models_of_other_libraries_and_seeds_are_refused_with_the_way_out() -> None:
    for library, name, call in (
        ("pgmpy.models", "DiscreteBayesianNetwork", r"Network\.from_pgmpy\(model\)"),
        ("pgmpy.models", "DiscreteMarkovNetwork", r"FactorModel\.from_pgmpy\(model\)"),
        ("pyagrum.pyagrum", "BayesNet", r"from_pyagrum\(model\)"),
    ):
        foreign: Any = type(name, (), {"__module__": library, "nodes": ()})()
        with pytest.raises(InvalidArgumentError, match=call):
            compile_model(foreign)
    with pytest.raises(InvalidArgumentError, match=r"numpy\.random\.default_rng\(1\), got 1"):
        compile_model(GARDEN).sample(3, 1)  # type: ignore[arg-type]


def test_one_call_answers_one_question() -> None:
    answer = GARDEN.query("rain", evidence={"wet": "yes"})
    assert answer["rain"]["yes"] == pytest.approx(0.14 / 0.22)
    assert answer == compile_model(GARDEN).posterior("rain", {"wet": "yes"})
    assert list(GARDEN.query()) == ["rain", "wet", "cold"]
    model = FactorModel(tuple(cpd.to_factor() for cpd in GARDEN.cpds))
    assert model.query(["rain"], {"wet": "yes"})["rain"]["yes"] == pytest.approx(0.14 / 0.22)


@pytest.mark.parametrize(
    ("ask", "text"),
    [
        (lambda e: e.posterior("rainy"), "did you mean rain?"),
        (lambda e: e.posterior(["rain", "wett"]), "did you mean wet?"),
        (lambda e: e.posterior("rain", {"wett": "yes"}), "did you mean wet?"),
        (lambda e: e.posterior("rain", {"wet": "dam"}), "did you mean damp?"),
        (lambda e: e.probability({"wet": "dam"}), "did you mean damp?"),
        (lambda e: e.map("rain", {"wet": 3}), "state of wet"),
        (lambda e: e.posterior("rain", {"wet": np.str_("Yes")}), "got 'Yes'; did you mean yes?"),
    ],
)
def test_unknown_names_are_answered_with_close_ones(ask: Any, text: str) -> None:
    with pytest.raises(UnknownNameError, match=text.replace("?", r"\?")):
        ask(compile_model(GARDEN))


@pytest.mark.parametrize(
    "ask",
    [
        lambda e: e.posterior(3.5),
        lambda e: e.posterior([3.5]),
        lambda e: e.posterior([["rain", "rain"]]),
        lambda e: e.posterior("rain", "wet"),
        lambda e: e.posterior("rain", {"wet": [1, 2]}),
        lambda e: e.posterior("rain", {"wet": [1, 2, -1]}),
        lambda e: e.joint([]),
        lambda e: e.joint(["rain", "rain"]),
        lambda e: e.map([]),
        lambda e: e.map("rain", {"rain": "no"}),
        lambda e: e.sample(-1, np.random.default_rng(1)),
        lambda e: e.sample(1, 1),
        lambda e: e.probability(None),
        lambda e: compile_model(GARDEN, memory=-1),
        lambda e: compile_model(GARDEN, memory="1 GB"),  # type: ignore[arg-type]
        lambda e: compile_model("alarm.bif"),  # type: ignore[arg-type]
    ],
)
def test_bad_arguments_are_refused(ask: Any) -> None:
    with pytest.raises(InvalidArgumentError):
        ask(compile_model(GARDEN))


def test_contradictions_are_named() -> None:
    sprinkler = Variable("sprinkler", ("off", "on"))
    network = Network(
        (
            *GARDEN.cpds,
            TabularCPD(sprinkler, (RAIN,), np.array([[0.5, 1.0], [0.5, 0.0]])),
        )
    )
    engine = compile_model(network)
    with pytest.raises(ImpossibleEvidenceError, match=r"rain=yes, sprinkler=on$"):
        engine.posterior("wet", {"rain": "yes", "sprinkler": "on", "cold": True})
    assert engine.probability({"rain": "yes", "sprinkler": "on"}) == 0.0
    assert engine.log_probability({"rain": "yes"}, {"rain": "no"}) == -math.inf
    assert engine.probability({"rain": "yes", "wet": "no"}, {"rain": "yes"}) == pytest.approx(0.1)
    with pytest.raises(ImpossibleEvidenceError):
        engine.probability({"wet": "no"}, {"rain": "yes", "sprinkler": "on"})


def test_answers_that_are_too_large_are_refused_before_memory_is_taken() -> None:
    coins = tuple(Variable(f"coin{i}", ("heads", "tails")) for i in range(60))
    network = Network(tuple(TabularCPD(coin, (), np.array([0.5, 0.5])) for coin in coins))
    engine = compile_model(network)
    names = [coin.name for coin in coins]
    with pytest.raises(TooLargeError):
        engine.joint(names)
    assert engine.map(names).log_probability == pytest.approx(-60 * math.log(2))
    assert engine.entropy() == pytest.approx(60)
    assert engine.log_probability(dict.fromkeys(names, "heads")) == pytest.approx(-60 * math.log(2))


def test_the_memory_of_plans_has_a_limit() -> None:
    limit = 100_000
    engine = compile_model(GARDEN, memory=limit)
    for seen in ({"wet": "no"}, {"cold": True}, {"wet": "no", "cold": True}, {"rain": "no"}):
        free = [name for name in ("rain", "wet", "cold") if name not in seen]
        engine.posterior(free, seen)
        engine.map(free, seen)
        engine.mpe(seen)
        assert held(engine) <= limit
        assert held(engine) > limit // 4
    without = compile_model(GARDEN, memory=0)
    assert without.posterior("rain") == engine.posterior("rain")
    assert held(without) == 0
    assert "0 plans in 0 bytes of at most 0 bytes" in repr(without)


def held(engine: Engine) -> int:
    """Return the bytes that an engine says it remembers."""
    return sum(stored.bytes for stored in engine._planner.store.held().values())


def test_printing_shows_the_plans_and_their_memory() -> None:
    engine = compile_model(GARDEN, memory=2**20)
    assert repr(engine) == "Engine(3 variables, 0 plans in 0 bytes of at most 1 MiB)"
    engine.map(["rain", "cold"], {"wet": [1, 1, 0]})
    assert repr(engine).startswith("Engine(3 variables, 1 plan in ")
    assert str(engine) == repr(engine)


def test_copies_start_without_plans_and_answer_alike() -> None:
    engine = compile_model(GARDEN)
    expected = engine.posterior("rain", {"wet": "yes"})
    for other in (pickle.loads(pickle.dumps(engine)), copy.deepcopy(engine), copy.copy(engine)):
        assert held(other) == 0
        assert other.memory == engine.memory
        assert other.posterior("rain", {"wet": "yes"}) == expected


def test_threads_share_an_engine() -> None:
    network = Network(
        tuple(
            TabularCPD(Variable(f"x{i}", ("a", "b", "c")), (), np.array([0.2, 0.3, 0.5]))
            for i in range(6)
        )
    )
    engine = compile_model(network, memory=120_000)
    names = [v.name for v in network.variables]

    def ask(number: int) -> float:
        rng = np.random.default_rng(number % 7)
        chosen = [str(name) for name in rng.choice(names, 2, replace=False)]
        evidence = {name: [1, 1, 0] for name in chosen[:1]}
        assert engine.map(chosen, evidence).states == {chosen[0]: "b", chosen[1]: "c"}
        assert len(engine.posterior(evidence=evidence)) == 6
        assert held(engine) <= 120_000
        return engine.joint(chosen, evidence)["a", "c"]

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        with ThreadPoolExecutor(8) as pool:
            results = list(pool.map(ask, range(200)))
    finally:
        sys.setswitchinterval(before)
    np.testing.assert_allclose(results, 0.2, atol=1e-12)
    assert held(engine) == engine._planner.store._bytes


def test_the_front_door_offers_engines() -> None:
    engine = bnmind.compile_model(GARDEN)
    assert isinstance(engine, bnmind.junction.Engine)
    # The one-call form has an engine of its own, which earlier questions may have made compile.
    found = bnmind.posterior(GARDEN, {"wet": "yes"})["rain"]
    assert dict(found) == pytest.approx(dict(engine.joint("rain", {"wet": "yes"})), abs=1e-15)
