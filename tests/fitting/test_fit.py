"""Learning of tables: counts, EM against a twin that enumerates, fixed, tied and hidden tables."""

from __future__ import annotations

import math
from itertools import combinations, pairwise
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bnmind
import bnmind.fitting.expectation as expectation_module
from bnmind.errors import (
    ImpossibleEvidenceError,
    InvalidArgumentError,
    InvalidModelError,
    TooLargeError,
)
from bnmind.fitting import (
    EM,
    BDeu,
    Dirichlet,
    EMState,
    FitOptions,
    Laplace,
    Prior,
    fit,
    network_of_structure,
)
from bnmind.fitting.em import EQUAL
from bnmind.fitting.expectation import DistinctCases, Expectation
from bnmind.fitting.layout import Layout
from bnmind.pgm import FunctionalCPD, Listed, Network, NoisyMaximum, TabularCPD, Variable, noisy_or
from tests.fitting.twin import cases_of, expected_counts
from tests.modes import examples
from tests.networks import networks
from tests.wheel import pyagrum_network

RAIN, WET = Variable("rain", ("no", "yes")), Variable("wet", ("no", "yes"))
SUN = Variable("sun", ("no", "yes"))
GARDEN = Network(
    (
        TabularCPD(RAIN, (), np.array([0.8, 0.2])),
        TabularCPD(WET, (RAIN,), np.array([[0.9, 0.1], [0.1, 0.9]])),
    )
)
COMPLETE = pd.DataFrame(
    {"rain": ["no", "no", "no", "yes"], "wet": ["no", "no", "yes", "yes"], "day": [1, 2, 3, 4]}
)
OPTIONS = FitOptions(max_iterations=30, tolerance=0.0)


def as_mapping(network: Network, table: Any) -> dict[str, Any]:
    """Return columns of states."""
    return {
        v.name: [v.states[state] if state >= 0 else None for state in table[:, i]]
        for i, v in enumerate(network.variables)
    }


def table_of(network: Network, name: str) -> Any:
    """Return the values of a table."""
    cpd = network.cpd(name)
    assert isinstance(cpd, TabularCPD)
    return cpd.values


def observed(network: Network, table: Any) -> list[dict[str, int]]:
    """Return the observed cells of each case."""
    names = [v.name for v in network.variables]
    return [
        {name: int(state) for name, state in zip(names, row, strict=True) if state >= 0}
        for row in table
    ]


# --- The E-step -----------------------------------------------------------------------------------


@settings(max_examples=examples(60))
@given(st.data())
def test_expected_counts_are_those_of_enumeration(data: st.DataObject) -> None:
    network = data.draw(networks(max_variables=6, max_states=3))
    table = data.draw(cases_of(network))
    layout = Layout.of(network, Laplace(0), fixed=[v.name for v in network.variables])
    likelihood, counts = expected_counts(network, observed(network, table))
    for of_case in data.draw(st.sampled_from([(None, 4), (4, 1)])):
        with pytest.MonkeyPatch.context() as patch:
            if of_case is not None:
                patch.setattr(expectation_module, "_FEW", 0)
                patch.setattr(expectation_module, "_OF_CASE", of_case)
            expectation = Expectation.of(layout, DistinctCases.of_positions(table))
        found = expectation.at(layout.constant)
        assert math.isclose(found.log_likelihood, likelihood, abs_tol=1e-9)
        for family, cpd in enumerate(network.cpds):
            np.testing.assert_allclose(
                layout.table(found.counts, family), counts[cpd.variable.name], atol=1e-9
            )


def test_equal_components_of_different_cases_are_computed_once() -> None:
    a, b = (Variable(name, ("0", "1")) for name in "ab")
    network = network_of_structure([("a", "b"), ("b", "c")], {name: [0, 1] for name in "abc"})
    cases = {"a": [0, 0, 1, 0], "b": [None] * 4, "c": [1, 1, 0, 1]}
    em = EM.of(network, pd.DataFrame(cases))
    assert (a, b) == network.variables[:2]
    assert len(em.expectation.components) == 2
    assert em.expectation.components.weights.tolist() in ([3.0, 1.0], [1.0, 3.0])


def test_many_completions_are_left_to_a_circuit_or_listed_in_parts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rng = np.random.default_rng(5)
    skills, items = ["s", "t", "u"], [f"i{number}" for number in range(6)]
    edges = [(skill, item) for item in items for skill in skills]
    states = np.array(["no", "yes", None], dtype=object)
    answers = {item: rng.choice(states, 40).tolist() for item in items}
    em = EM.of(edges, answers, hidden=dict.fromkeys(skills, 2))
    assert em.expectation.circuit is None
    cells = em.layout.cells(em.start(rng).parameters)
    whole = em.expectation.at(cells)
    monkeypatch.setattr(expectation_module, "_CHUNK", 50)
    parts = list(em.expectation.components.completions())
    assert len(parts) > 5
    in_parts = Expectation.of(em.layout, em.expectation.cases).at(cells)
    np.testing.assert_allclose(in_parts.counts, whole.counts, rtol=1e-13)
    monkeypatch.setattr(expectation_module, "_MOST", 1)
    by_circuit = Expectation.of(em.layout, em.expectation.cases)
    assert not len(by_circuit.components)
    assert by_circuit.at(cells).log_likelihood == pytest.approx(whole.log_likelihood, abs=1e-9)
    np.testing.assert_allclose(by_circuit.at(cells).counts, whole.counts, atol=1e-9)


def test_cases_that_are_too_improbable_for_a_circuit_are_completed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """An answer has probability 1e-290; a circuit takes smaller numbers than 1e-250 for zero."""
    hidden = [Variable(f"h{i}", ("0", "1")) for i in range(10)]
    answer = Variable("answer", ("right", "wrong"))
    stays = np.array([[0.9, 0.1], [0.1, 0.9]])
    chain = [TabularCPD(b, (a,), stays) for a, b in pairwise(hidden)]
    rare = TabularCPD(answer, (hidden[-1],), np.array([[1.0, 1.0], [1e-290, 4e-290]]))
    network = Network((TabularCPD(hidden[0], (), np.array([0.5, 0.5])), *chain, rare))
    cases = {"answer": ["right", "wrong"]}
    monkeypatch.setattr(expectation_module, "_FEW", 0)
    em = EM.of(network, cases, fixed=["answer"], hidden=[v.name for v in hidden])
    assert em.expectation.circuit is not None
    found = em.expectation.at(em.layout.cells(em.layout.own))
    assert found.log_likelihood == pytest.approx(math.log(2.5e-290), rel=1e-12)
    last = em.layout.table(found.counts, [v.name for v in network.variables].index("h9"))
    np.testing.assert_allclose(last.sum(axis=1), [0.5 + 0.2, 0.5 + 0.8], atol=1e-12)


def test_cases_whose_missing_cells_all_depend_on_each_other_are_refused() -> None:
    hidden = [f"h{i}" for i in range(36)]
    pairs = list(combinations(hidden, 2))
    edges = [(h, f"{a} and {b}") for a, b in pairs for h in (a, b)]
    seen = {f"{a} and {b}": ["no", "yes"] for a, b in pairs}
    with pytest.raises(
        TooLargeError, match="too many missing cells depend on each other"
    ) as caught:
        EM.of(edges, seen, hidden=dict.fromkeys(hidden, 2))
    assert caught.value.needed > caught.value.budget


# --- Complete cases -------------------------------------------------------------------------------


@pytest.mark.parametrize("n_states", [2**7, 2**7 + 1, 2**15, 2**15 + 1])
def test_states_of_large_variables_are_told_apart(n_states: int) -> None:
    number = Variable.of_integers("number", range(n_states))
    network = Network((TabularCPD(number, (), np.full(n_states, 1 / n_states)),))
    table = table_of(fit(network, {"number": [n_states - 1, 0, n_states - 1, 5]}).network, "number")
    assert {int(state): table[state] for state in np.flatnonzero(table)} == {
        0: 0.25,
        5: 0.25,
        n_states - 1: 0.5,
    }


def test_complete_cases_are_counted() -> None:
    fitted = bnmind.fit(GARDEN, COMPLETE)
    np.testing.assert_array_equal(table_of(fitted.network, "rain"), [0.75, 0.25])
    np.testing.assert_array_equal(table_of(fitted.network, "wet"), [[2 / 3, 0], [1 / 3, 1]])
    np.testing.assert_array_equal(fitted.counts["wet"].values, [[2, 0], [1, 1]])
    likelihood = 3 * math.log(0.75) + math.log(0.25) + 2 * math.log(2 / 3) + math.log(1 / 3)
    assert fitted.log_likelihood == pytest.approx(likelihood, abs=1e-12)
    assert fitted.bits_per_case == pytest.approx(-likelihood / math.log(2) / 4)
    assert (fitted.n_cases, fitted.n_parameters, fitted.record.converged) == (4, 3, True)
    assert fitted.aic == pytest.approx(6 - 2 * likelihood)
    assert fitted.bic == pytest.approx(3 * math.log(4) - 2 * likelihood)
    assert fitted.warnings == ("columns that are no variables were ignored: day",)


@pytest.mark.parametrize(
    ("prior", "rain"),
    [
        (Laplace(1), [4 / 6, 2 / 6]),
        (BDeu(4), [5 / 8, 3 / 8]),
        (Dirichlet({"rain": [0, 6]}), [3 / 10, 7 / 10]),
        (Dirichlet({"wet": 3}, other=Laplace(2)), [5 / 8, 3 / 8]),
    ],
)
def test_priors_add_their_counts(prior: Prior, rain: list[float]) -> None:
    fitted = fit(GARDEN, COMPLETE, prior=prior)
    np.testing.assert_allclose(table_of(fitted.network, "rain"), rain, atol=1e-15)


def test_configurations_without_cases_are_reported() -> None:
    dry = COMPLETE[COMPLETE["rain"] == "no"].drop(columns="day")
    fitted = fit(GARDEN, dry)
    assert np.allclose(table_of(fitted.network, "wet")[:, 1], 0.5)
    (warning,) = fitted.warnings
    assert "wet: 1 of 2 configurations" in warning
    assert "uniform" in warning
    with_prior = fit(GARDEN, dry, prior=Dirichlet({"wet": [[1, 1], [1, 3]]}))
    assert table_of(with_prior.network, "wet")[:, 1].tolist() == [0.25, 0.75]
    assert "those of the prior" in with_prior.warnings[0]


@pytest.fixture(scope="module")
def complete_frame() -> pd.DataFrame:
    rng = np.random.default_rng(3)
    columns = {"a": rng.choice(["x", "y", "z"], 60), "b": rng.choice(["p", "q"], 60)}
    columns["c"] = np.where(rng.random(60) < 0.7, columns["b"], "p")
    return pd.DataFrame(columns)


@pytest.mark.slow
@pytest.mark.parametrize("bdeu", [None, 7.0])
def test_counts_are_those_of_pgmpy(complete_frame: pd.DataFrame, bdeu: float | None) -> None:
    from pgmpy.models import DiscreteBayesianNetwork
    from pgmpy.parameter_estimator import DiscreteBayesianEstimator, DiscreteMLE

    edges = [("a", "c"), ("b", "c")]
    theirs = DiscreteBayesianNetwork(edges)
    structure = DiscreteBayesianNetwork(edges)
    estimator = (
        DiscreteMLE()
        if bdeu is None
        else DiscreteBayesianEstimator(prior_type="BDeu", equivalent_sample_size=bdeu)
    )
    theirs.fit(complete_frame, estimator)
    ours = fit(structure, complete_frame, prior=None if bdeu is None else BDeu(bdeu)).network
    expected = Network.from_pgmpy(theirs)
    for v in expected.variables:
        names = tuple(w.name for w in expected.cpd(v.name).scope)
        got = ours.cpd(v.name).to_factor().transpose(names)
        np.testing.assert_allclose(got.values, expected.cpd(v.name).to_factor().values, atol=1e-12)


# --- EM -------------------------------------------------------------------------------------------


@settings(max_examples=examples(40))
@given(st.data())
def test_em_never_lowers_the_objective(data: st.DataObject) -> None:
    network = data.draw(networks(max_variables=5, max_states=3))
    table = data.draw(cases_of(network))
    names = [v.name for v in network.variables]
    fixed = data.draw(st.lists(st.sampled_from(names), unique=True, max_size=2))
    priors: list[Prior] = [Laplace(0), BDeu(2.0), Laplace(0.5)]
    prior = data.draw(st.sampled_from(priors))
    accelerate = data.draw(st.booleans())
    options = FitOptions(max_iterations=12, tolerance=0.0, accelerate=accelerate)
    fitted = fit(network, as_mapping(network, table), prior=prior, fixed=fixed, options=options)
    assert np.diff(fitted.record.objectives).min(initial=0.0) >= 0
    likelihood, counts = expected_counts(fitted.network, observed(network, table))
    assert fitted.log_likelihood == pytest.approx(likelihood, abs=1e-8)
    for cpd in network.cpds:
        name = cpd.variable.name
        learned = fitted.network.cpd(name)
        np.testing.assert_allclose(fitted.counts[name].values, counts[name], atol=1e-8)
        assert type(learned) is type(cpd)
        if name in fixed or isinstance(cpd, FunctionalCPD):
            assert learned is cpd


@settings(max_examples=examples(30))
@given(st.data())
def test_a_step_normalizes_the_expected_counts(data: st.DataObject) -> None:
    network = data.draw(networks(max_variables=5, max_states=3, functional=False))
    table = data.draw(cases_of(network))
    em = EM.of(network, as_mapping(network, table), prior=BDeu(1.0))
    start = em.start(np.random.default_rng(1))
    after, info = em.step(start)
    likelihood, counts = expected_counts(em.network(start), observed(network, table))
    assert info.log_likelihood == pytest.approx(likelihood, abs=1e-9)
    for cpd in em.network(after).cpds:
        count = counts[cpd.variable.name]
        count = count + 1 / count.size
        np.testing.assert_allclose(cpd.to_factor().values, count / count.sum(axis=0), atol=1e-9)


def test_the_linkage_example_of_dempster_laird_and_rubin() -> None:
    """J. R. Stat. Soc. B 1977, section 1: 197 animals in four classes; θ = 0.626821."""
    half, other, which = (Variable(name, ("0", "1")) for name in ("half", "other", "which"))
    kind = Variable("class", ("1", "2", "3", "4"))
    # P(class 1) = 1/2 + θ/4, P(2) = P(3) = (1 - θ)/4, P(4) = θ/4.
    results = np.array([[[1, 2], [0, 3]], [[0, 0], [0, 0]]])
    network = Network(
        (
            TabularCPD(half, (), np.array([0.5, 0.5])),
            TabularCPD(other, (), np.array([0.5, 0.5])),
            TabularCPD(which, (), np.array([0.5, 0.5])),
            FunctionalCPD(kind, (half, other, which), Listed(results)),
        )
    )
    animals = pd.DataFrame({"class": np.repeat([1, 2, 3, 4], [125, 18, 20, 34])})
    fitted = fit(
        network,
        animals,
        fixed=("half", "which"),
        hidden=("half", "other", "which"),
        options=FitOptions(tolerance=1e-12),
    )
    assert table_of(fitted.network, "other")[1] == pytest.approx(0.6268214978, abs=1e-6)
    assert any("other is never observed" in warning for warning in fitted.warnings)


def test_a_hidden_class_is_found() -> None:
    rng = np.random.default_rng(5)
    kind = rng.random(600) < 0.4
    chance = np.where(kind[:, None], 0.9, 0.15)
    frame = pd.DataFrame(rng.random((600, 5)) < chance, columns=list("abcde"))
    edges = [("class", name) for name in "abcde"]
    options = FitOptions(starts=3, seed=1)
    fitted = fit(edges, frame, hidden={"class": 2}, options=options)
    share = sorted(table_of(fitted.network, "class").tolist())
    assert share == pytest.approx([0.4, 0.6], abs=0.06)
    assert len(fitted.record.starts) == 3
    assert fitted.record.objectives[-1] == pytest.approx(max(fitted.record.starts), abs=EQUAL)
    # A start does not depend on the number of starts.
    again = fit(edges, frame, hidden={"class": 2}, options=FitOptions(starts=1, seed=1))
    assert again.record.starts[0] == fitted.record.starts[0]


def test_tied_tables_are_one_table() -> None:
    frame = pd.DataFrame({"a": [0, 1, 1, None], "b": [0, 0, 1, 1], "c": [1, 0, None, 1]})
    network = network_of_structure([("a", "b"), ("b", "c")], frame)
    fitted = fit(network, frame, tied=[("c", "b")], options=OPTIONS)
    first, second = (table_of(fitted.network, name) for name in "bc")
    np.testing.assert_array_equal(first, second)
    assert fitted.n_parameters == 3
    free = fit(network, frame, options=OPTIONS)
    assert free.log_likelihood > fitted.log_likelihood
    assert np.diff(fitted.record.objectives).min() >= 0


def test_noisy_nodes_stay_noisy_and_find_their_links() -> None:
    truth = noisy_or(WET, (RAIN, SUN), [0.9, 0.3], leak=0.1)
    table = truth.to_factor().values
    rows = []
    for rain in (0, 1):
        for sun in (0, 1):
            for wet in (0, 1):
                rows += [(rain, sun, wet)] * round(1000 * float(table[wet, rain, sun]))
    columns = np.array(rows)
    start = Network(
        (
            TabularCPD(RAIN, (), np.array([0.5, 0.5])),
            TabularCPD(SUN, (), np.array([0.5, 0.5])),
            noisy_or(WET, (RAIN, SUN), [0.5, 0.5], leak=0.5),
        )
    )
    names = np.array(["no", "yes"])
    cases = {name: names[columns[:, i]] for i, name in enumerate(("rain", "sun", "wet"))}
    fitted = fit(start, cases, options=FitOptions(tolerance=1e-10, max_iterations=5000))
    learned = fitted.network.cpd("wet")
    assert isinstance(learned, NoisyMaximum)
    for link, true in zip(learned.contributions, truth.contributions, strict=True):
        np.testing.assert_allclose(link, true, atol=1e-4)
    assert fitted.n_parameters == 2 + 3
    np.testing.assert_array_equal(learned.links[0][:, 0], [1, 0])  # zeros stay


@pytest.mark.slow
def test_random_starts_are_the_same_with_workers() -> None:
    frame = pd.DataFrame({"a": [0, 1, 1, 0, 1], "b": [0, None, 1, 1, 0]})
    found = [
        fit(
            [("h", "a"), ("h", "b")],
            frame,
            hidden={"h": 2},
            options=FitOptions(starts=2, workers=workers),
        ).record.starts
        for workers in (1, 2)
    ]
    assert found[0] == found[1]


# --- Structures, and errors -----------------------------------------------------------------------


def test_states_come_from_the_frame() -> None:
    frame = pd.DataFrame(
        {
            "n": [10, 9, None],
            "flag": [True, False, True],
            "level": pd.Categorical(["low", None, "low"], categories=["low", "high"]),
        }
    )
    graph = nx.DiGraph([("n", "level")])
    graph.add_node("flag")
    fitted = fit(graph, frame, prior=Laplace())
    states = {v.name: v.states for v in fitted.network.variables}
    assert states == {"n": ("9", "10"), "flag": ("False", "True"), "level": ("low", "high")}


HALF = np.array([0.5, 0.5])
WIDE = Network(
    (*GARDEN.cpds, *(TabularCPD(Variable(f"x{i}", ("0", "1")), (), HALF) for i in range(12)))
)
PAIR = Network(tuple(TabularCPD(Variable(name, ("no", "yes")), (), HALF) for name in "ab"))
NOISY = Network((GARDEN.cpds[0], noisy_or(WET, (RAIN,), [0.9], leak=0.1)))
SNOW = [("snow", "wet"), ("snow", "ice")]


@pytest.mark.parametrize(
    ("error", "words", "arguments"),
    [
        (InvalidArgumentError, ["column wet", "hidden"], {"cases": {"rain": ["no"]}}),
        (
            InvalidArgumentError,
            ["row 1, column rain", "'maybe'", "row 1, column wet", "'wett'"],
            {"cases": {"rain": ["no", "maybe"], "wet": ["no", "wett"]}},
        ),
        (InvalidArgumentError, ["not a table"], {"cases": {"rain": ["no"], "wet": ["no"] * 2}}),
        (InvalidArgumentError, ["at least one case"], {"cases": {"rain": [], "wet": []}}),
        (InvalidArgumentError, ["rian", "rain", "wett"], {"fixed": ["rian"], "tied": [["wett"]]}),
        (InvalidArgumentError, ["one shape"], {"tied": [["rain", "wet"]]}),
        (InvalidArgumentError, ["twice"], {"tied": [["wet", "wet"]]}),
        (InvalidArgumentError, ["two variables with a tied table, got wet"], {"tied": [["wet"]]}),
        (
            InvalidArgumentError,
            [
                "row 0, column rain",
                "none for 12 of them",
                "x0, x1, x2, x3, x4, x5, x6, x7, x8, x9, x10, x11",
            ],
            {"network": WIDE, "cases": {"wet": ["no"], "rain": ["maybe"]}},
        ),
        (
            InvalidArgumentError,
            ["rain are not used", "fixed"],
            {"prior": Dirichlet({"rain": 1}), "fixed": ["rain"]},
        ),
        (
            InvalidArgumentError,
            ["b are not used", "those of a instead"],
            {"network": PAIR, "prior": Dirichlet({"b": 1}), "tied": [["b", "a"]]},
        ),
        (
            InvalidArgumentError,
            ["one number as the pseudo-counts of wet", "noisy"],
            {"network": NOISY, "prior": Dirichlet({"wet": [[1, 1], [1, 1]]})},
        ),
        (InvalidArgumentError, ["rain", "2 states", "got 3"], {"hidden": {"rain": 3}}),
        (InvalidArgumentError, ["('no', 'yes')"], {"hidden": {"rain": ("yes", "no")}}),
        (
            InvalidModelError,
            ["number of its states", "hidden={'snow': 2}"],
            {"network": [("snow", "wet")], "hidden": ["snow"]},
        ),
        (
            InvalidModelError,
            ["number of its states", "hidden={'snow': 2}"],
            {"network": [("snow", "wet")], "hidden": {"snow": 0}},
        ),
        (
            InvalidModelError,
            ["none for 2 of them: snow, ice;", "hidden={'snow': 2}"],
            {"network": [("snow", "wet"), ("snow", "ice")], "cases": {"wet": ["no", "yes"]}},
        ),
        (TooLargeError, ["1,000,000,000"], {"network": SNOW, "hidden": {"snow": 10**9}}),
        (TooLargeError, ["20,001,200"], {"network": SNOW, "hidden": {"snow": 400, "ice": 50_000}}),
        (InvalidArgumentError, ["snow"], {"hidden": ["snow"]}),
        (InvalidModelError, ["cycle"], {"network": [("rain", "wet"), ("wet", "rain")]}),
        (InvalidArgumentError, ["pairs (parent, child)"], {"network": [("rain",)]}),
        (InvalidArgumentError, ["pairs (parent, child)"], {"network": 3}),
        (InvalidModelError, ["column snow", "hidden={'snow': 2}"], {"network": [("snow", "wet")]}),
        (InvalidArgumentError, ["'rian'", "rain"], {"prior": Dirichlet({"rian": 1})}),
        (InvalidArgumentError, ["shape (2, 2)"], {"prior": Dirichlet({"wet": [1, 2]})}),
    ],
)
def test_errors_say_what_to_do(
    error: type[Exception], words: list[str], arguments: dict[str, Any]
) -> None:
    with pytest.raises(error) as caught:
        fit(**{"network": GARDEN, "cases": COMPLETE, **arguments})
    assert [word for word in words if word not in str(caught.value)] == []


@pytest.mark.parametrize("order", ["states", "parents' states", "parents"])
def test_tables_in_another_order_are_not_tied(order: str) -> None:
    half = np.array([0.5, 0.5])
    turned = Variable("sun", ("yes", "no"))
    if order == "states":
        network = Network((TabularCPD(RAIN, (), half), TabularCPD(turned, (), half)))
        names, words = ["rain", "sun"], "states of rain .* those of sun .* the same order"
    else:
        parents = ((RAIN,), (turned,)) if order != "parents" else ((RAIN, SUN), (SUN, RAIN))
        children = [Variable(name, ("0", "1")) for name in "ab"]
        tables = [
            TabularCPD(child, among, np.full((2,) * (1 + len(among)), 0.5))
            for child, among in zip(children, parents, strict=True)
        ]
        sun = SUN if order == "parents" else turned
        network = Network((TabularCPD(RAIN, (), half), TabularCPD(sun, (), half), *tables))
        words = "parents of a are rain, sun, those of b are sun, rain; give them in the same order"
        names = ["a", "b"]
        if order != "parents":
            words = "states of rain .*table of a.* those of sun .*table of b"
    cases = {v.name: [v.states[0], v.states[1]] for v in network.variables}
    with pytest.raises(InvalidArgumentError, match=words):
        fit(network, cases, tied=[names])


def test_one_step_learns_from_complete_cases() -> None:
    fitted = fit(GARDEN, COMPLETE, options=FitOptions(max_iterations=1))
    assert (fitted.record.converged, fitted.record.steps, fitted.em.is_exact) == (True, 1, True)
    assert table_of(fitted.network, "rain").tolist() == [0.75, 0.25]
    assert not any("converged" in warning for warning in fitted.warnings)
    missing = {"rain": ["no", None, "yes"], "wet": ["no", "yes", "yes"]}
    short = fit(GARDEN, missing, options=FitOptions(max_iterations=1))
    assert (short.record.converged, short.em.is_exact) == (False, False)
    assert "EM has not converged after 1 step" in short.warnings


def test_hidden_states_may_be_those_of_the_network_or_numbers_of_numpy() -> None:
    cases = {"wet": ["no", "yes"]}
    given: list[Any] = [["rain"], {"rain": 2}, {"rain": np.int64(2)}, {"rain": ["no", "yes"]}]
    for hidden in given:
        assert fit(GARDEN, cases, hidden=hidden).n_missing == 2
    fitted = fit([("rain", "wet")], cases, hidden={"rain": np.int64(3)})
    assert fitted.network.variable("rain").states == ("0", "1", "2")


def test_cases_without_findings_teach_nothing() -> None:
    fitted = fit(GARDEN, {"rain": [None, None], "wet": [None, None]})
    assert fitted.log_likelihood == 0
    assert table_of(fitted.network, "wet").tolist() == [[0.5, 0.5], [0.5, 0.5]]
    assert any("rain has no cases" in warning for warning in fitted.warnings)
    assert any("wet is never observed" in warning for warning in fitted.warnings)
    assert np.isnan(fitted.standard_errors()["rain"]).all()


@pytest.mark.parametrize("rain", ["yes", None])
def test_an_impossible_case_is_named(rain: str | None) -> None:
    never = Network(
        (
            TabularCPD(RAIN, (), np.array([1.0, 0.0])),
            TabularCPD(WET, (RAIN,), np.array([[1.0, 0.5], [0.0, 0.5]])),
        )
    )
    cases = {"rain": ["no", "no", rain], "wet": ["no", "no", "yes"]}
    with pytest.raises(ImpossibleEvidenceError, match="row 2"):
        fit(never, cases, fixed=("rain", "wet"))


def test_states_of_other_networks_are_refused() -> None:
    em = EM.of(GARDEN, COMPLETE)
    with pytest.raises(InvalidArgumentError, match="6 parameters"):
        em.step(EMState(np.zeros(3)))


def test_progress_counts_steps() -> None:
    told: list[tuple[int, int]] = []
    cases = {"rain": ["no", None, "yes"], "wet": ["no", "yes", None]}
    fit(
        GARDEN,
        cases,
        options=FitOptions(starts=2),
        progress=lambda done, total: told.append((done, total)),
    )
    assert told
    assert told[-1][0] == told[-1][1]
    assert all(done <= total for done, total in told)


def test_a_configuration_with_hardly_any_expected_cases_is_told() -> None:
    network = Network(
        (
            TabularCPD(RAIN, (), np.array([0.99, 0.01])),
            TabularCPD(WET, (RAIN,), np.array([[0.5, 0.1], [0.5, 0.9]])),
        )
    )
    cases = {"rain": ["no"] * 20 + [None], "wet": ["no", "yes"] * 10 + ["yes"]}
    once = FitOptions(max_iterations=1)
    told = [w for w in fit(network, cases, options=once).warnings if "below 0.5" in w]
    assert len(told) == 1
    assert told[0].startswith("wet: 1 of 2 configurations of the parents has an expected count")
    with_prior = fit(network, cases, options=once, prior=Laplace(1)).warnings
    assert not any("below 0.5" in warning for warning in with_prior)


def test_columns_of_measurements_and_empty_columns_are_refused() -> None:
    """A value of its own for each case is no state; whole numbers and few fractions may be."""
    number = np.arange(60)
    y = ["a", "b"] * 30
    with pytest.raises(InvalidModelError, match=r"x has 60 different values in 60 .*pandas\.cut"):
        fit([("x", "y")], {"x": number / 7, "y": y})
    with pytest.raises(InvalidModelError, match="the column x has no observed cell"):
        fit([("x", "y")], {"x": [None] * 60, "y": y})
    for states in (number, number % 7 / 2, pd.Categorical(number / 7)):
        fit([("x", "y")], {"x": states, "y": y})


@pytest.mark.parametrize("network", [GARDEN, [("rain", "wet")]], ids=["network", "structure"])
def test_a_renamed_column_and_another_separator_are_guessed(network: Any) -> None:
    said = "are RAINS, day; did you mean rain by RAINS"
    with pytest.raises(bnmind.BnmindError, match=said):
        fit(network, {"RAINS": ["no"], "wet": ["no"], "day": [1]})
    with pytest.raises(bnmind.BnmindError, match="is the separator ';'"):
        fit(network, {"rain;wet": ["no;yes"]})


@pytest.mark.slow
def test_the_likelihood_is_that_of_pyagrum() -> None:
    """Both climb from the same tables to the same maximum."""
    gum = pytest.importorskip("pyagrum")
    rng = np.random.default_rng(8)
    a = rng.integers(0, 2, 300)
    b = (rng.random(300) < np.where(a == 1, 0.8, 0.3)).astype(int)
    c = (rng.random(300) < np.where(b == 1, 0.9, 0.2)).astype(int)
    frame = pd.DataFrame({"a": a, "b": b, "c": c}).astype(object)
    frame[["a", "b"]] = frame[["a", "b"]].mask(rng.random((300, 2)) < 0.3)
    network = fit([("a", "b"), ("b", "c")], frame.fillna(0), prior=Laplace(20)).network
    theirs = pyagrum_network(network)
    learner = gum.BNLearner(frame.fillna("?").astype(str), theirs, ["?"])
    learner.useNoPrior()
    learner.useEMWithDiffCriterion(1e-9, 0.0)
    learner.EMsetMaxIter(400)
    learned = learner.learnParameters(theirs)
    ours = fit(network, frame, options=FitOptions(tolerance=1e-10)).network
    for cpd in ours.cpds:
        found = np.array(learned.cpt(cpd.variable.name).toarray()).T
        np.testing.assert_allclose(cpd.to_factor().values.real, found, atol=1e-4)
