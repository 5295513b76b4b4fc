"""Plans against enumeration of the joint."""

from __future__ import annotations

import itertools
import math
import pickle

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from bnmind.errors import (
    ImpossibleEvidenceError,
    InvalidArgumentError,
    InvalidModelError,
    TooLargeError,
    UnknownNameError,
)
from bnmind.junction import (
    Limits,
    MinWeight,
    compile_plan,
    compile_sampling,
    families,
    junction_tree,
)
from bnmind.pgm import (
    Addition,
    Factor,
    FactorModel,
    FunctionalCPD,
    Network,
    TabularCPD,
    Variable,
)
from bnmind.rank_one import factorize
from tests.modes import examples
from tests.networks import enumerate_joint, networks

RAIN = Variable("rain", ("no", "yes"))
WET = Variable("wet", ("no", "yes"))
GARDEN = Network(
    (
        TabularCPD(RAIN, (), np.array([0.8, 0.2])),
        TabularCPD(WET, (RAIN,), np.array([[0.9, 0.0], [0.1, 1.0]])),
    )
)


def expected(model: Network, evidence: dict[str, str], target: list[str]) -> Factor | None:
    """Return the posterior by enumeration, or None if the evidence is impossible."""
    positions = {name: model.variable(name).index(state) for name, state in evidence.items()}
    slice_ = enumerate_joint(model).select(positions).sum_to(target)
    total = float(slice_.values.real.sum())
    return Factor(slice_.scope, slice_.values / total) if total > 0 else None


Query = tuple[Network, dict[str, str], list[list[str]], list[str], list[float]]


@st.composite
def queries(
    draw: st.DrawFn,
) -> Query:
    """Return a network, evidence, targets, the part to restrict to, and an input's weights."""
    network = draw(networks(max_variables=12))
    names = [v.name for v in network.variables]
    observed = draw(st.lists(st.sampled_from(names), unique=True, max_size=len(names) - 1))
    hidden = [name for name in names if name not in observed]
    evidence = {n: draw(st.sampled_from(network.variable(n).states)) for n in observed}
    scopes = st.lists(st.sampled_from(hidden), unique=True, min_size=1, max_size=3)
    targets = draw(st.lists(scopes, min_size=1, max_size=3))
    known = draw(st.lists(st.sampled_from(observed), unique=True)) if observed else []
    size = math.prod(network.variable(n).n_states for n in targets[0])
    weights = draw(st.lists(st.sampled_from([0.0, 0.5, 1.0, 2.0]), min_size=size, max_size=size))
    return network, evidence, targets, known, weights


@settings(max_examples=examples(150))
@given(queries())
def test_posteriors_equal_enumeration(
    query: Query,
) -> None:
    network, evidence, targets, known, _ = query
    plan = compile_plan(network, evidence=evidence, targets=targets)
    if expected(network, evidence, targets[0]) is None:
        with pytest.raises(ImpossibleEvidenceError):
            plan.run(evidence)
        with pytest.raises(ImpossibleEvidenceError):
            plan.restrict({n: evidence[n] for n in known}).run(
                {n: s for n, s in evidence.items() if n not in known}
            )
        return
    posterior = plan.run(evidence)
    small = plan.restrict({n: evidence[n] for n in known})
    rest = {n: s for n, s in evidence.items() if n not in known}
    restricted = small.run(rest)
    again = small.restrict(rest).run({})
    for i, target in enumerate(targets):
        truth = expected(network, evidence, target)
        assert truth is not None
        for result in (posterior, restricted, again):
            assert result.targets[i].isclose(truth, atol=1e-12)
    positions = {n: network.variable(n).index(s) for n, s in evidence.items()}
    chance = float(enumerate_joint(network).select(positions).sum_to(()).values.real)
    for result in (posterior, restricted, again):
        assert result.log_evidence == pytest.approx(math.log(chance), abs=1e-9)


@settings(max_examples=examples(40))
@given(queries())
def test_inputs_multiply_the_model(
    query: Query,
) -> None:
    network, evidence, targets, known, weights = query
    scope = tuple(network.variable(n) for n in targets[0])
    table = np.array(weights).reshape([v.n_states for v in scope])
    positions = {n: network.variable(n).index(s) for n, s in evidence.items()}
    joint = enumerate_joint(network).product(Factor(scope, table)).select(positions)
    total = float(joint.sum_to(()).values.real)
    assume(total > 0)
    plan = compile_plan(network, evidence=evidence, targets=targets, inputs={"in": targets[0]})
    rest = {n: s for n, s in evidence.items() if n not in known}
    part = {n: evidence[n] for n in known}
    results = [
        plan.run(evidence, {"in": table}),
        plan.restrict(part).run(rest, {"in": table}),
        plan.restrict({}, {"in": table}).run(evidence),
        plan.restrict(part, {"in": table}).run(rest),
        plan.restrict(part).restrict({}, {"in": table}).run(rest),
    ]
    for result in results:
        assert result.log_evidence == pytest.approx(math.log(total), abs=1e-9)
        for i, target in enumerate(targets):
            truth = joint.sum_to(target).values / total
            np.testing.assert_allclose(result.targets[i].values, truth, rtol=0, atol=1e-12)


@settings(max_examples=examples(60))
@given(st.integers(1, 4), st.integers(2, 3), st.integers(0, 2**32 - 1))
def test_factorized_sums_answer_the_same(n: int, states: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    parents = tuple(Variable.of_integers(f"X{i}", range(states)) for i in range(n))
    terms = tuple(tuple(int(t) for t in rng.integers(-1, 3, size=states)) for _ in parents)
    m = int(rng.integers(2, 8))
    total = Variable.of_integers("S", range(m))
    network = Network(
        (
            *(TabularCPD(x, (), rng.dirichlet(np.ones(states))) for x in parents),
            FunctionalCPD(total, parents, Addition(terms, m)),
        )
    )
    names = [x.name for x in parents]
    whole = compile_plan(network, targets=[["S"]]).run({}).targets[0].values
    plan = compile_plan(factorize(network, "S"), evidence=["S"], targets=[names])
    for s in range(m):
        truth = expected(network, {"S": str(s)}, names)
        if truth is None:
            # Terms that cancel leave no residue behind: the evidence is known to be impossible.
            with pytest.raises(ImpossibleEvidenceError):
                plan.run({"S": str(s)})
            continue
        found = plan.run({"S": str(s)})
        assert found.targets[0].isclose(truth, atol=1e-12)
        assert np.array_equal(found.targets[0].values == 0, truth.values == 0)
        assert found.log_evidence == pytest.approx(math.log(whole[s]), abs=1e-9)


def test_conjugate_terms_are_halved_unless_the_auxiliary_variable_is_asked_for() -> None:
    x = Variable.of_integers("X", range(4))
    y = Variable.of_integers("Y", range(3))
    total = Variable.of_integers("S", range(6))
    network = Network(
        (
            TabularCPD(x, (), np.full(4, 0.25)),
            TabularCPD(y, (), np.full(3, 1 / 3)),
            FunctionalCPD(total, (x, y), Addition(((0, 1, 2, 3), (0, 1, 2)), 6)),
        )
    )
    model = factorize(network, "S", name="B")
    half = compile_plan(model, evidence=["S"], targets=[["X", "Y"]])
    assert max(c.size for c in half.tree.cliques) == 4 * 3 * 4
    whole = compile_plan(model, evidence=["S"], targets=[["X", "Y"], ["B"]])
    assert max(c.size for c in whole.tree.cliques) == 4 * 3 * 6
    for s in total.states:
        one, other = half.run({"S": s}), whole.run({"S": s})
        assert one.targets[0].isclose(other.targets[0], atol=1e-14)


def test_evidence_that_determines_functions_reaches_them() -> None:
    # G follows from T alone, and M from G and C: what the guess does in Vomlel's network.
    t, g, c = (Variable.of_integers(name, range(3)) for name in "TGC")
    network = Network(
        (
            TabularCPD(t, (), np.full(3, 1 / 3)),
            TabularCPD(c, (), np.array([0.5, 0.3, 0.2])),
            FunctionalCPD(g, (t,), Addition(((2, 1, 0),), 3)),
            FunctionalCPD(
                Variable.of_integers("M", range(3)), (g, c), Addition(((0, 1, 2),) * 2, 3)
            ),
        )
    )
    plan = compile_plan(network, evidence=["T", "M"], targets=[["C"]])
    assert {name for clique in plan.tree.cliques for name in clique.variables} == {"C"}
    assert plan.run({"T": "0", "M": "2"}).joint("C").values.tolist() == [1.0, 0.0, 0.0]
    assert plan.restrict({"T": "0"}).run({"M": "2"}).joint("C").values.tolist() == [1.0, 0.0, 0.0]


def test_single_variable_and_no_evidence() -> None:
    network = Network((TabularCPD(RAIN, (), np.array([0.8, 0.2])),))
    posterior = compile_plan(network, targets=[["rain"]]).run({})
    assert posterior.joint("rain").values.tolist() == [0.8, 0.2]
    assert posterior.log_evidence == pytest.approx(0.0)


def test_no_targets_give_the_probability_of_the_evidence() -> None:
    posterior = compile_plan(GARDEN, evidence=["wet"]).run({"wet": "yes"})
    assert math.exp(posterior.log_evidence) == pytest.approx(0.28)


def test_joint_of_a_part_of_a_target() -> None:
    posterior = compile_plan(GARDEN, targets=[["rain", "wet"]]).run({})
    np.testing.assert_allclose(posterior.joint("wet").values, [0.72, 0.28])
    with pytest.raises(UnknownNameError, match="within one target"):
        posterior.joint("snow")


def test_barren_children_are_left_out() -> None:
    plan = compile_plan(GARDEN, targets=[["rain"]])
    assert plan.total_size == 2


def test_plan_prints_what_it_will_do() -> None:
    text = str(compile_plan(GARDEN, evidence=["wet"], targets=[["rain"]], inputs={"in": ["rain"]}))
    assert "evidence  wet" in text
    assert "input     in(rain)" in text
    assert "target    rain" in text
    assert "multiplications in a run" in text
    assert repr(compile_plan(GARDEN, evidence=["wet"], targets=[["rain"]])) == (
        "Plan(rain | wet; 2 cells)"
    )
    text = str(compile_plan(GARDEN, evidence=["wet"], targets=[["rain"]]).restrict({"wet": "yes"}))
    assert "total size before restriction  2, after  2" in text


def test_states_that_evidence_rules_out_are_dropped() -> None:
    plan = compile_plan(GARDEN, evidence=["wet"], targets=[["rain"]])
    small = plan.restrict({"wet": "no"})
    assert small.total_size == 0
    assert small.run({}).joint("rain").values.tolist() == [1.0, 0.0]


@pytest.mark.parametrize(
    ("evidence", "targets", "inputs", "error"),
    [
        (["snow"], [["rain"]], {}, UnknownNameError),
        (["wet"], [["snow"]], {}, UnknownNameError),
        (["wet"], [["rain"]], {"in": ["snow"]}, UnknownNameError),
        (["wet"], [["rain"]], {"in": ["wet"]}, InvalidArgumentError),
        (["wet", "wet"], [["rain"]], {}, InvalidArgumentError),
        ([], [["rain", "rain"]], {}, InvalidArgumentError),
    ],
)
def test_bad_queries(
    evidence: list[str],
    targets: list[list[str]],
    inputs: dict[str, list[str]],
    error: type[Exception],
) -> None:
    with pytest.raises(error):
        compile_plan(GARDEN, evidence=evidence, targets=targets, inputs=inputs)


def test_bad_runs() -> None:
    plan = compile_plan(GARDEN, evidence=["wet"], targets=[["rain"]], inputs={"in": ["rain"]})
    good = {"in": np.ones(2)}
    with pytest.raises(
        UnknownNameError, match="expected a state of wet among no, yes; got 'maybe'"
    ):
        plan.run({"wet": "maybe"}, good)
    with pytest.raises(InvalidArgumentError, match="missing: wet"):
        plan.run({}, good)
    with pytest.raises(UnknownNameError, match="evidence variable"):
        plan.restrict({"rain": "yes"})
    with pytest.raises(InvalidArgumentError, match="the plan has the inputs"):
        plan.run({"wet": "yes"})
    with pytest.raises(InvalidArgumentError, match=r"of shape \(2,\), got \(3,\)"):
        plan.run({"wet": "yes"}, {"in": np.ones(3)})
    with pytest.raises(InvalidArgumentError, match="not negative"):
        plan.run({"wet": "yes"}, {"in": -np.ones(2)})


def test_a_run_lists_missing_and_unknown_evidence_apart() -> None:
    plan = compile_plan(GARDEN, evidence=["wet"], soft=["rain"])
    with pytest.raises(InvalidArgumentError) as caught:
        plan.run({"wett": "yes", "snow": "no"})
    assert caught.value.value == ("wet", "wett", "snow")
    assert str(caught.value) == (
        "the findings do not match the plan's evidence; missing: wet; "
        "unknown: 'wett' (did you mean wet?), 'snow'"
    )
    assert isinstance(pickle.loads(pickle.dumps(caught.value)), InvalidArgumentError)
    with pytest.raises(InvalidArgumentError, match=r"unknown: 'snow'; .* evidence is wet, rain$"):
        plan.run({"wet": "yes", "snow": "no"})
    with pytest.raises(InvalidArgumentError, match=r"; missing: wet$"):
        plan.run({})
    with pytest.raises(InvalidArgumentError, match="evidence is empty"):
        compile_plan(GARDEN).run({"snow": "no"})


def test_impossible_evidence_is_named() -> None:
    plan = compile_plan(GARDEN, evidence=["rain", "wet"])
    with pytest.raises(ImpossibleEvidenceError, match="rain=yes, wet=no") as caught:
        plan.run({"rain": "yes", "wet": "no"})
    assert caught.value.evidence == {"rain": "yes", "wet": "no"}
    with pytest.raises(ImpossibleEvidenceError, match="rain=yes, wet=no"):
        plan.restrict({"rain": "yes", "wet": "no"})


def test_plan_over_budget_names_the_largest_clique() -> None:
    with pytest.raises(TooLargeError, match=r"\{.*rain.*\} with 4") as caught:
        compile_plan(GARDEN, targets=[["rain", "wet"]], limits=Limits(max_multiplications=3))
    assert (caught.value.needed, caught.value.budget) == (4, 3)


def test_junction_tree_of_a_model() -> None:
    tree = junction_tree(GARDEN, order=MinWeight())
    assert [set(c.variables) for c in tree.cliques] == [{"rain", "wet"}]
    assert junction_tree(GARDEN, without=["wet"]).total_size == 2


def test_factor_models_need_not_be_probabilities() -> None:
    model = FactorModel(
        (Factor((RAIN,), np.array([1.0, 3.0])), Factor((RAIN,), np.array([2.0, 1.0])))
    )
    posterior = compile_plan(model, targets=[["rain"]]).run({})
    np.testing.assert_allclose(posterior.joint("rain").values, [0.4, 0.6])
    assert posterior.log_evidence == pytest.approx(math.log(5))


def test_posteriors_survive_pickling_read_only() -> None:
    posterior = compile_plan(GARDEN, targets=[["rain"]]).run({})
    copy = pickle.loads(pickle.dumps(posterior))
    assert not copy.targets[0].values.flags.writeable


@settings(max_examples=examples(60))
@given(networks(max_variables=8), st.data())
def test_targets_may_hold_evidence(network: Network, data: st.DataObject) -> None:
    names = [v.name for v in network.variables]
    observed = data.draw(st.lists(st.sampled_from(names), unique=True, min_size=1))
    target = data.draw(st.lists(st.sampled_from(names), unique=True, min_size=1, max_size=3))
    evidence = {n: data.draw(st.sampled_from(network.variable(n).states)) for n in observed}
    positions = {n: network.variable(n).index(s) for n, s in evidence.items()}
    joint = enumerate_joint(network)
    for name, at in positions.items():
        v = network.variable(name)
        joint = joint.product(Factor((v,), np.eye(v.n_states)[at]))
    total = float(joint.sum_to(()).values.real)
    assume(total > 0)
    truth = joint.sum_to(target).values.real / total
    plan = compile_plan(network, evidence=observed, targets=[target])
    np.testing.assert_allclose(plan.run(evidence).joints[0], truth, atol=1e-12)
    soft = compile_plan(network, soft=observed, targets=[target])
    np.testing.assert_allclose(soft.run(evidence).joints[0], truth, atol=1e-12)
    np.testing.assert_allclose(soft.restrict(evidence).run().joints[0], truth, atol=1e-12)


def test_every_family_comes_from_one_plan() -> None:
    plan = compile_plan(GARDEN, targets=families(GARDEN))
    joint = plan.run().joint("wet", "rain").values
    np.testing.assert_allclose(joint, [[0.72, 0.0], [0.08, 0.2]])


def test_soft_evidence_weighs_the_states() -> None:
    plan = compile_plan(GARDEN, soft=["wet"], targets=[["rain"]])
    assert repr(plan).startswith("Plan(rain | wet?;")
    np.testing.assert_allclose(plan.run().joints[0], [0.8, 0.2])
    found = plan.run({"wet": {"yes": 1.0, "no": 0.5}})
    no, yes = 0.8 * (0.9 * 0.5 + 0.1), 0.2
    np.testing.assert_allclose(found.joints[0], [no / (no + yes), yes / (no + yes)])
    assert found.log_evidence == pytest.approx(math.log(no + yes))
    for bad in ({"damp": 1.0}, [1.0], [1.0, -1.0], [1.0, math.nan]):
        with pytest.raises((UnknownNameError, InvalidArgumentError)):
            plan.run({"wet": bad})


def test_a_plan_over_the_stated_memory_is_refused_at_once() -> None:
    with pytest.raises(TooLargeError, match=r"largest clique is \{.*wet.*\} with 4 cells"):
        compile_plan(GARDEN, limits=Limits(max_bytes=8))
    plan = compile_plan(GARDEN, limits=Limits(max_bytes=1000))
    assert 32 <= plan.memory <= 1000
    for words in ("separators", "memory in a run", "left out", "multiplications"):
        assert words in str(plan)


def test_numbers_near_the_ends_of_what_floats_hold_do_not_spoil_a_run() -> None:
    """Findings of 1e-300 each, and likelihoods of 1e300, by a run, a batch and a restricted run."""
    cause = Variable("cause", ("a", "b", "c"))
    effects = [Variable(f"effect{i}", ("no", "yes")) for i in range(40)]
    chance = np.array([[1.0, 1.0, 1.0], [1e-300, 2e-300, 1e-300]])
    network = Network(
        (
            TabularCPD(cause, (), np.array([0.2, 0.3, 0.5])),
            *(TabularCPD(effect, (cause,), chance) for effect in effects),
        )
    )
    weights = np.log([0.2, 0.3, 0.5]) + 40 * np.log(1e-300) + np.array([0, 40 * math.log(2), 0])
    total = float(np.logaddexp.reduce(weights))
    names = [v.name for v in effects]
    seen = dict.fromkeys(names, "yes")
    hard = compile_plan(network, evidence=names)
    soft = compile_plan(network, soft=names)
    likely = {name: [1e300, 1e300] for name in names}
    batch = soft.run_batch({name: np.array([[0.0, 1.0], [1e300, 1e300]]) for name in names})
    runs = [hard.run(seen), soft.run(seen), hard.restrict(seen).run()]
    for run in runs:
        assert run.log_evidence == pytest.approx(total, rel=1e-14)
        np.testing.assert_allclose(run.marginals["cause"], np.exp(weights - total), atol=1e-12)
    assert batch.log_evidence == pytest.approx([total, 40 * math.log(1e300)], rel=1e-14)
    np.testing.assert_allclose(batch.marginals["cause"][0], np.exp(weights - total), atol=1e-12)
    np.testing.assert_allclose(batch.marginals["cause"][1], [0.2, 0.3, 0.5], atol=1e-12)
    surely = soft.run(likely)
    assert surely.log_evidence == pytest.approx(40 * math.log(1e300), rel=1e-14)
    np.testing.assert_allclose(surely.marginals["cause"], [0.2, 0.3, 0.5], atol=1e-12)


@pytest.mark.parametrize(("n_effects", "rare"), [(60, 1e-12), (1000, 1e-3), (8, 1e-300)])
def test_findings_that_rule_out_each_state_in_turn_cancel(n_effects: int, rare: float) -> None:
    """Half of them speak for either state: the posterior is the prior, in any order."""
    cause = Variable("cause", ("no", "yes"))
    effects = [Variable(f"effect{i}", ("no", "yes")) for i in range(n_effects)]
    chance = np.array([[1 - rare, rare], [rare, 1 - rare]])
    network = Network(
        (
            TabularCPD(cause, (), np.array([0.3, 0.7])),
            *(TabularCPD(effect, (cause,), chance) for effect in effects),
        )
    )
    states = {v.name: "yes" if 2 * i < n_effects else "no" for i, v in enumerate(effects)}
    total = n_effects / 2 * (math.log(rare) + math.log1p(-rare))
    plan = compile_plan(network, evidence=states)
    for run in (plan.run(states), plan.restrict(states).run()):
        np.testing.assert_allclose(run.marginals["cause"], [0.3, 0.7], atol=1e-9)
        assert run.log_evidence == pytest.approx(total, rel=1e-12)
    batch = plan.run_batch(
        {name: np.array([state == "yes"] * 2) * 1 for name, state in states.items()}
    )
    np.testing.assert_allclose(batch.marginals["cause"], [[0.3, 0.7]] * 2, atol=1e-9)
    np.testing.assert_allclose(batch.log_evidence, total, rtol=1e-12)
    samples = compile_sampling(network, evidence=states).run(
        states, n_samples=1000, rng=np.random.default_rng(0)
    )
    assert 0.6 < samples.frequencies("cause")[1] < 0.8
    assert samples.log_evidence == pytest.approx(total, rel=1e-12)


def test_names_are_not_taken_letter_by_letter() -> None:
    for bad in ({"targets": "rain"}, {"targets": ["rain"]}, {"evidence": "rain"}, {"soft": "rain"}):
        with pytest.raises(InvalidArgumentError):
            compile_plan(GARDEN, **bad)


def test_negative_sums_are_refused() -> None:
    with pytest.raises(InvalidModelError, match="negative"):
        compile_plan(FactorModel((Factor((RAIN,), np.array([-1.0, 0.5])),))).run()


def test_a_tree_beyond_all_limits_is_refused_without_a_search() -> None:
    # Each pair of 40 variables with four states has a factor, but for 20 pairs.
    variables = [Variable(f"x{i}", tuple("abcd")) for i in range(40)]
    pairs = [
        Factor((variables[i], variables[j]), np.ones((4, 4)))
        for i, j in itertools.combinations(range(40), 2)
        if i // 2 != j // 2
    ]
    for limit in (1, 2**10):
        with pytest.raises(TooLargeError) as caught:
            compile_plan(FactorModel(tuple(pairs)), limits=Limits(max_multiplications=limit))
        assert str(caught.value).startswith("a run of this plan would take more than ")
        assert (
            f" multiplications in a quick elimination order; allowed are"
            f" max_multiplications={limit:,}. Observe more variables" in str(caught.value)
        )
        assert (caught.value.needed, caught.value.budget) == (2**64 * limit, limit)
