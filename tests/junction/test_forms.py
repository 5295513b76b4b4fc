"""Forms of large distributions: they are chosen by cost, and answer as the tables do."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.stats import binom

import bnmind.junction.forms as forms_module
from bnmind.errors import CancellationError
from bnmind.junction import compile_plan
from bnmind.junction.forms import choose_forms, without_effects
from bnmind.junction.reduction import Reduction, Table, lift_of, without_conjugates
from bnmind.pgm import (
    CPD,
    Addition,
    Equality,
    Exactly,
    Factor,
    FactorModel,
    FunctionalCPD,
    Maximum,
    Network,
    NoisyMaximum,
    Parity,
    Potential,
    TabularCPD,
    Threshold,
    Variable,
    noisy_or,
)
from bnmind.rank_one import chain_form, rank_one_form
from tests.modes import examples
from tests.networks import enumerate_joint, networks

YES = ("no", "yes")
K, P, LINK = 30, 0.2, 0.4
PARENTS = tuple(Variable(f"X{i}", YES) for i in range(K))
PRIORS = tuple(TabularCPD(v, (), np.array([1 - P, P])) for v in PARENTS)
Y = Variable("Y", YES)


def everything(model: Network | Sequence[Potential]) -> dict[str, tuple[int, ...]]:
    potentials = model.potentials if isinstance(model, Network) else model
    return {v.name: tuple(range(v.n_states)) for p in potentials for v in p.scope}


def chosen(potentials: Sequence[Potential], **options: object) -> tuple[Potential, ...]:
    """Return the forms with nothing too small to be tried."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(forms_module, "_SMALL_TABLE", 0)
        patch.setattr(forms_module, "_SMALL_TREE", 0)
        return choose_forms(potentials, everything(potentials), **options)  # type: ignore[arg-type]


@settings(max_examples=examples(150))
@given(networks(), st.data())
def test_networks_with_other_forms_answer_as_enumeration_does(
    network: Network, data: st.DataObject
) -> None:
    kinds = ["table", "chain", "rank one"]
    potentials: list[Potential] = []
    for cpd in network.cpds:
        kind = data.draw(st.sampled_from(kinds)) if not isinstance(cpd, TabularCPD) else "table"
        if kind == "chain":
            potentials += chain_form(cpd) or ()
        elif kind == "rank one":
            form = rank_one_form(cpd)
            potentials += (cpd,) if form is None else form.factors
        else:
            potentials.append(cpd)
    joint = enumerate_joint(network)
    possible = np.argwhere(joint.values > 0)
    cell = possible[data.draw(st.integers(0, len(possible) - 1))]
    names = data.draw(st.lists(st.sampled_from(joint.names), unique=True))
    at = {name: int(cell[joint.axis(name)]) for name in names}
    evidence = {v.name: v.states[at[v.name]] for v in joint.scope if v.name in at}
    targets = [[v.name] for v in joint.scope if v.name not in at] or [[]]
    # A variable of a single state may have left the chain.
    potentials += [Factor((v,), np.ones(1)) for v in joint.scope if v.n_states == 1]
    plan = compile_plan(FactorModel(tuple(potentials)), evidence=names, targets=targets)
    rest = joint.select(at)
    total = float(rest.values.sum())
    # Where terms cancel, digits are lost.
    atol = 1e-12 + 1e-15 / total
    for one in (plan.run(evidence), plan.restrict(evidence).run({})):
        assert one.log_evidence == pytest.approx(math.log(total), abs=10 * atol)
        for target, found in zip(targets, one.targets, strict=True):
            expected = rest.sum_to(target).values / total
            np.testing.assert_allclose(found.values, expected, rtol=0, atol=atol)


@settings(max_examples=examples(100))
@given(networks(max_variables=7), st.data())
def test_the_product_stays_the_same(network: Network, data: st.DataObject) -> None:
    """On the states that remain, summed over what is new."""
    domains = {
        v.name: tuple(
            data.draw(st.lists(st.integers(0, v.n_states - 1), min_size=1, unique=True).map(sorted))
        )
        for v in network.variables
    }
    observed = data.draw(st.lists(st.sampled_from([*domains]), unique=True))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(forms_module, "_SMALL_TABLE", data.draw(st.sampled_from([0, 16])))
        patch.setattr(forms_module, "_SMALL_TREE", 0)
        patch.setattr(forms_module, "_WORTH", 10.0)
        patch.setattr(forms_module, "_SIGNED_LEAST", data.draw(st.sampled_from([0, 2**20])))
        limit = data.draw(st.sampled_from([4, 2**20]))
        result = choose_forms(network.potentials, domains, observed=observed, max_cells=limit)
    expected = enumerate_joint(network)
    new = {v for potential in result for v in potential.scope} - set(expected.scope)
    assume(math.prod(v.n_states for v in new) * expected.values.size <= 200_000)
    ones = tuple(Factor((v,), np.ones(v.n_states)) for v in expected.scope)
    found = enumerate_joint(FactorModel((*result, *ones))).sum_to(expected.names)
    index = np.ix_(*[domains[name] for name in expected.names])
    np.testing.assert_allclose(
        np.real(found.values[index]), expected.values[index], rtol=0, atol=1e-12
    )


def model_of(cpd: CPD, *, form: str) -> FactorModel:
    if form == "chosen":
        potentials = (*PRIORS, cpd)
        return FactorModel(choose_forms(potentials, everything(potentials)))
    found = rank_one_form(cpd)
    assert found is not None
    return FactorModel((*PRIORS, *found.factors))


CLOSED: dict[str, tuple[CPD, float, float]] = {
    # The distribution, P(Y = yes), and P(X = yes, Y = yes).
    "noisy-or": (
        noisy_or(Y, PARENTS, [LINK] * K),
        1 - (1 - P * LINK) ** K,
        P * (1 - (1 - LINK) * (1 - P * LINK) ** (K - 1)),
    ),
    "maximum": (
        FunctionalCPD(Y, PARENTS, Maximum()),
        1 - (1 - P) ** K,
        P,
    ),
    "parity": (
        FunctionalCPD(Y, PARENTS, Parity()),
        (1 - (1 - 2 * P) ** K) / 2,
        P * (1 + (1 - 2 * P) ** (K - 1)) / 2,
    ),
    "threshold": (
        FunctionalCPD(Y, PARENTS, Threshold(9)),
        float(binom.sf(8, K, P)),
        float(P * binom.sf(7, K - 1, P)),
    ),
    "exactly": (
        FunctionalCPD(Y, PARENTS, Exactly(9)),
        float(binom.pmf(9, K, P)),
        float(P * binom.pmf(8, K - 1, P)),
    ),
    "equality": (
        FunctionalCPD(Y, PARENTS, Equality()),
        P**K + (1 - P) ** K,
        P**K,
    ),
}


@pytest.mark.parametrize("form", ["chosen", "rank one"])
@pytest.mark.parametrize("name", CLOSED)
def test_thirty_parents_have_the_closed_form(name: str, form: str) -> None:
    cpd, yes, both = CLOSED[name]
    plan = compile_plan(
        model_of(cpd, form=form), evidence=["Y"], targets=[[v.name] for v in PARENTS]
    )
    assert plan.total_size < 10_000
    for state, total, expected in (
        ("yes", yes, both / yes),
        ("no", 1 - yes, (P - both) / (1 - yes)),
    ):
        posterior = plan.run({"Y": state})
        assert posterior.log_evidence == pytest.approx(math.log(total), abs=1e-11)
        for v in PARENTS:
            assert posterior.joint(v.name).values[1] == pytest.approx(expected, abs=1e-12)


def test_a_sum_of_thirty_has_all_its_digits() -> None:
    """Also where it is improbable, which a given rank-one form cannot tell from impossible."""
    cpd = FunctionalCPD.sum_of("Y", PARENTS)
    targets = [[v.name] for v in PARENTS]
    plan = compile_plan(model_of(cpd, form="chosen"), evidence=["Y"], targets=targets)
    signed = compile_plan(model_of(cpd, form="rank one"), evidence=["Y"], targets=targets)
    assert signed.total_size < plan.total_size < 20_000
    for total in range(K + 1):
        for one in (plan, signed):
            if one is signed and total > 18:
                continue
            posterior = one.run({"Y": str(total)})
            tight = 1e-12 if one is plan else 1e-15 / binom.pmf(total, K, P)
            log = binom.logpmf(total, K, P)
            assert posterior.log_evidence == pytest.approx(log, abs=100 * tight)
            for v in PARENTS:
                expected = pytest.approx(total / K, abs=10 * tight)
                assert posterior.joint(v.name).values[1] == expected
    with pytest.raises(CancellationError):
        signed.run({"Y": "30"})


def test_what_is_small_stays_as_it_is() -> None:
    potentials: tuple[Potential, ...] = (*PRIORS[:8], FunctionalCPD.sum_of("Y", PARENTS[:8]))
    assert choose_forms(potentials, everything(potentials)) == potentials
    assert len(chosen(potentials)) == len(potentials) + 6


def test_observed_variables_cost_nothing() -> None:
    cpd = FunctionalCPD.sum_of("Y", PARENTS[:12])
    potentials: tuple[Potential, ...] = (*PRIORS[:12], cpd)
    domains = everything(potentials)
    names = [v.name for v in PARENTS[:12]]
    assert choose_forms(potentials, domains) == potentials
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(forms_module, "_SMALL_TREE", 2**10)
        assert choose_forms(potentials, domains) != potentials
        assert choose_forms(potentials, domains, observed=names) == potentials
        assert choose_forms(potentials, domains, joints=[[*names, "Y"]]) == potentials


def test_signs_must_be_worth_it() -> None:
    """A chain goes through a tree level by level, and keeps a whole level of it at a time."""
    parents = tuple(Variable(f"X{i}", YES) for i in range(127))
    total = FunctionalCPD.sum_of("Y", parents)
    alone: tuple[Potential, ...] = (
        *(TabularCPD(v, (), np.array([1 - P, P])) for v in parents),
        total,
    )
    assert not is_signed(choose_forms(alone, everything(alone)))
    likely = np.array([[0.9, 0.2], [0.1, 0.8]])
    linked = [TabularCPD(v, (parents[(i - 1) // 2],), likely) for i, v in enumerate(parents) if i]
    tree: tuple[Potential, ...] = (alone[0], *linked, total)
    assert is_signed(choose_forms(tree, everything(tree)))
    assert not is_signed(choose_forms(tree, everything(tree), signed=False))


def is_signed(potentials: Sequence[Potential]) -> bool:
    return any(np.iscomplexobj(p.values) for p in potentials if isinstance(p, Factor))


@pytest.mark.parametrize("states", [(0, 1), (1,)])
def test_new_names_are_new(states: tuple[int, ...]) -> None:
    taken = tuple(Variable(name, YES) for name in ("B_Y", "Y_of_2", *(f"Z{i}" for i in range(28))))
    cpd = noisy_or(Y, taken, [0.5] * 30)
    forms = choose_forms((cpd,), {**everything((cpd,)), "Y": states})
    new = {v for form in forms for v in form.scope} - {Y, *taken}
    assert len(forms) > 1
    assert new
    assert not {v.name for v in new} & {v.name for v in (Y, *taken)}


@settings(max_examples=examples(50))
@given(st.integers(0, 2**32 - 1), st.integers(1, 3))
def test_one_of_several_complex_variables_is_halved(seed: int, n_sums: int) -> None:
    rng = np.random.default_rng(seed)
    parents = tuple(Variable.of_integers(f"X{i}", range(n)) for i, n in enumerate((2, 3, 2, 3)))
    potentials: list[Potential] = [Factor(parents, rng.random((2, 3, 2, 3)))]
    largest = 0
    for number in range(n_sums):
        terms = tuple(tuple(rng.integers(0, 3, v.n_states).tolist()) for v in parents)
        child = Variable.of_integers(f"S{number}", range(6))
        form = rank_one_form(FunctionalCPD(child, parents, Addition(terms, 6)))
        assert form is not None
        potentials += [*form.factors, Factor((child,), rng.random(6))]
        largest = max(largest, form.n_terms)
    model = FactorModel(tuple(potentials))
    sizes, lifts = lift_of(everything(potentials))
    tables = [
        Table(tuple(v.name for v in p.scope if v.n_states > 1), p.values.squeeze())
        for p in potentials
        if isinstance(p, Factor)
    ]
    whole = Reduction(sizes, lifts, tuple(tables))
    half = without_conjugates(whole, ["X0"])
    before, after = (math.prod(r.sizes.values()) for r in (whole, half))
    if largest > 2:
        assert after * largest == before * (largest // 2 + 1)
    posterior = compile_plan(model, targets=[["X0"]]).run({})
    expected = np.real(enumerate_joint(model).sum_to(["X0"]).values)
    np.testing.assert_allclose(
        posterior.targets[0].values, expected / expected.sum(), rtol=0, atol=1e-12
    )


def families() -> dict[str, tuple[CPD, int]]:
    """Return distributions with ten parents of each family, and the observed state."""
    parents = PARENTS[:10]
    levels = tuple(Variable.of_integers(v.name, range(2)) for v in parents)
    many = Variable.of_integers("Y", range(7))
    links = [np.array([[1, 0.4], *[[0, 0.1]] * 6])] * 10
    return {
        "positive noisy-or": (noisy_or(Y, parents, [LINK] * 10, 0.01), 1),
        "negative noisy-or": (noisy_or(Y, parents, [LINK] * 10, 0.01), 0),
        "noisy-max": (NoisyMaximum(many, parents, tuple(links)), 4),
        "noisy-max without effect": (NoisyMaximum(many, parents, tuple(links)), 0),
        "sum": (FunctionalCPD.sum_of("Y", levels), 3),
        "sum in the middle": (FunctionalCPD.sum_of("Y", levels), 5),
        "maximum": (FunctionalCPD(Y, parents, Maximum()), 1),
        "parity": (FunctionalCPD(Y, parents, Parity()), 1),
        "threshold": (FunctionalCPD(Y, parents, Threshold(3)), 1),
        "threshold not reached": (FunctionalCPD(Y, parents, Threshold(8)), 0),
        "exactly": (FunctionalCPD(Y, parents, Exactly(2)), 1),
        "equality": (FunctionalCPD(Y, parents, Equality()), 1),
    }


@pytest.mark.parametrize("linked", [False, True])
@pytest.mark.parametrize("family", families())
def test_the_chosen_form_is_the_cheapest(family: str, linked: bool) -> None:
    """Alone, and where each parent depends on the one before and another effect is observed."""
    cpd, state = families()[family]
    second = noisy_or(Variable("Z", YES), cpd.parents[::2], [0.5] * 5)
    priors: list[Potential] = [TabularCPD(v, (), np.array([0.6, 0.4])) for v in cpd.parents]
    if linked:
        likely = np.array([[0.9, 0.2], [0.1, 0.8]])
        pairs = itertools.pairwise(cpd.parents)
        priors[1:] = [TabularCPD(v, (before,), likely) for before, v in pairs]
    potentials = (*priors, cpd, second) if linked else (*priors, cpd)
    known = {**everything(potentials), "Y": (state,), "Z": (1,)}
    potentials = without_effects(potentials, known)

    places = [i for i, p in enumerate(potentials) if not isinstance(p, Factor | TabularCPD)]
    names = {v.name for p in potentials for v in p.scope}
    order = {name: i for i, name in enumerate(known)}
    estimate = forms_module.Estimate(potentials=potentials, domains=known)
    offered = {i: forms_module._forms(potentials[i], known, names, order, 2**22) for i in places}
    for signed in (False, True):
        if signed:
            offered = {
                i: forms | forms_module._rank_one(potentials[i], known, names)
                for i, forms in offered.items()
            }
        _, cost = forms_module._best(offered, estimate, lambda: True)
        for kinds in itertools.product(*offered.values()):
            other = {i: offered[i][kind] for i, kind in zip(places, kinds, strict=True)}
            assert cost <= estimate.cost(other), (kinds, signed)
