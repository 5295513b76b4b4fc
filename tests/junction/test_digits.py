"""The digits that a run is sure of: sums of logarithms, sizes of cancelled terms, real nodes."""

from __future__ import annotations

import math

import numpy as np
import pytest

import bnmind.junction.runs as logarithms
from bnmind.errors import CancellationError, InvalidModelError
from bnmind.junction import Plan, compile_plan
from bnmind.junction.batches import (
    cleared,
    doubt_of,
    joints_of_logarithms,
    refuse_others,
)
from bnmind.junction.contraction import ProgramBuilder
from bnmind.junction.runs import run_logarithms
from bnmind.pgm import (
    Exactly,
    Factor,
    FactorModel,
    FunctionalCPD,
    Network,
    TabularCPD,
    Threshold,
    Variable,
)
from bnmind.pgm.factor import Values
from bnmind.rank_one import factorize, rank_one_form

YES = ("no", "yes")


@pytest.mark.parametrize("block", [1, 12, 30, 36, 2**15])
@pytest.mark.parametrize("add", [np.logaddexp, np.maximum])
@pytest.mark.parametrize("batch", [False, True])
def test_products_of_logarithms_are_the_same_in_blocks_of_any_size(
    block: int, add: np.ufunc, batch: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(1)
    first: tuple[int, ...] = (3, 0, 1) if batch else (0, 1)
    second: tuple[int, ...] = (3, 1, 2) if batch else (1, 2)
    sizes = (3, 7, 4, 2)
    logs = [-900 * rng.random([sizes[v] for v in scope]) for scope in (first, second)]
    builder = ProgramBuilder(sizes, [first, second])
    register = builder.contract([0, 1], frozenset((0, 2, 3) if batch else (0, 2)))
    assert register is not None
    program = builder.build([register])
    monkeypatch.setattr(logarithms, "_BLOCK", block)
    found = run_logarithms(program, logs, add)[register]
    terms = logs[0][..., :, :, None] + logs[1][..., None, :, :]
    expected = add.reduce(terms, axis=-2)
    axes = [program.scopes[register].index(v) for v in ((3, 0, 2) if batch else (0, 2))]
    np.testing.assert_allclose(found.transpose(axes), expected, rtol=1e-13)


def joints_of(*rows: list[float]) -> tuple[list[Values], float]:
    """Return the joints whose logarithms are these rows, and that of the first sum."""
    return joints_of_logarithms([np.array(row) for row in rows])


def test_joints_of_logarithms_are_normalized_and_the_first_total_counts() -> None:
    joints, total = joints_of([-2000.0, -2000.0 + math.log(3)], [-5000.0, -math.inf])
    assert total == pytest.approx(-2000 + math.log(4))
    np.testing.assert_allclose(joints[0], [0.25, 0.75], rtol=1e-12)
    np.testing.assert_allclose(joints[1], [1, 0])
    for rows in ([[-1.0], [-math.inf]], [[-math.inf], [-1.0]]):
        joints, total = joints_of(*rows)
        assert total == -math.inf
        assert [joint.tolist() for joint in joints] == [[float(row[0] > -math.inf)] for row in rows]


def test_doubt_is_how_many_times_as_large_the_terms_are() -> None:
    sums, terms = np.array([2.0, 0.0, 0.0, -1.0, 1e-300]), np.array([6.0, 3.0, 0.0, 1.0, 1e300])
    assert doubt_of(sums, terms).tolist() == [3.0, math.inf, 1.0, math.inf, math.inf]


def test_rounding_errors_are_cleared_and_negative_weights_are_not() -> None:
    sizes = np.full(6, 8.0)
    sums = np.array([1.0, 1.6e-12, 4e-13, 0.0, -4e-13, -1.0])
    assert cleared(sums, sizes).tolist() == [1.0, 1.6e-12, 0.0, 0.0, 0.0, -1.0]


def test_sums_that_are_no_chances_are_refused_beyond_rounding_errors() -> None:
    sizes = np.array([1.0, 8.0])
    refuse_others(np.array([1.0, -4e-6]), sizes, real=True)
    refuse_others(np.array([1.0, 8.0 + 4e-6j]), sizes, real=True)
    refuse_others(np.array([1.0, 8.0 + 1j]), sizes, real=False)
    with pytest.raises(InvalidModelError, match="sums to a negative number"):
        refuse_others(np.array([1.0, -4e-5]), sizes, real=False)
    for wrong in (4e-5j, -4e-5j):
        with pytest.raises(InvalidModelError, match="sums to a complex number"):
            refuse_others(np.array([1.0, 8.0 + wrong]), sizes, real=True)


def counted(n: int, wanted: int) -> Plan:
    """Return the plan for factors of a threshold of n voters, of which each may be soft."""
    parents = tuple(Variable(f"X{i}", YES) for i in range(n))
    cpds = [TabularCPD(v, (), np.array([0.5, 0.5])) for v in parents]
    network = Network((*cpds, FunctionalCPD(Variable("S", YES), parents, Threshold(wanted))))
    factors = FactorModel(factorize(network, "S").potentials)
    plan = compile_plan(factors, soft=["X0", "X1", "S"], targets=[["X0"], ["X2"]])
    assert plan.is_signed
    assert plan.unsigned is None
    return plan


@pytest.mark.parametrize("n", range(30, 150, 7))
def test_scaled_runs_know_the_sizes_of_their_terms(n: int) -> None:
    """The likelihoods bring the evidence below 1e-200, and do not change what is known."""
    plan = counted(n, n // 2)
    true = np.array([0.0, 1.0])
    plain = plan.run({"X0": [1.0, 1.0], "X1": [1.0, 1.0], "S": true})
    scaled = plan.run({"X0": [1e-150, 1e-150], "X1": [1e-150, 1e-150], "S": true})
    assert scaled.log_evidence == pytest.approx(plain.log_evidence - 300 * math.log(10))
    for name in ("X0", "X2"):
        np.testing.assert_allclose(scaled.marginals[name], plain.marginals[name], rtol=1e-11)


@pytest.mark.parametrize("n", range(40, 100, 9))
def test_scaled_runs_know_what_has_cancelled(n: int) -> None:
    plan = counted(n, n - 1)
    for small in (1.0, 1e-150):
        weights = {"X0": [small, small], "X1": [small, small], "S": [0.0, 1.0]}
        with pytest.raises(CancellationError):
            plan.run(weights)


def cancelling(share: float, size: float, *, chance: float = 1.0) -> Plan:
    """Return a plan in which two terms of some size leave so small a share of one of them.

    Of an observed variable a single number is left, ``chance``.
    """
    x, term = Variable("x", YES), Variable("term", YES)
    seen = Variable("seen", YES)
    factors = (
        Factor((x, term), np.array([[size, -size * (1 - share)], [size, size * (share - 1)]])),
        Factor((seen,), np.array([1.0, chance])),
        Factor((Variable("y", YES),), np.array([0.5, 0.5])),
    )
    return compile_plan(
        FactorModel(factors), evidence=["seen"], soft=["x", "y"], targets=[["x"], ["y"]]
    )


@pytest.mark.parametrize("size", [1.0, 2.0**-50, 2.0**50])
@pytest.mark.parametrize("small", [1.0, 1e-160])
@pytest.mark.parametrize("chance", [1.0, 2.0**-40])
def test_doubt_is_reported_in_runs_of_any_scale(size: float, small: float, chance: float) -> None:
    """Six digits are sure where terms are at most ten million times as large as their sum."""
    evidence = {"seen": "yes", "x": [small, 3 * small], "y": [small, small]}
    fine = cancelling(2.0**-21.7, size, chance=chance).run(evidence)
    np.testing.assert_allclose(fine.marginals["x"], [0.25, 0.75], rtol=1e-6)
    expected = math.log(2.0**-21.7 * 4 * size * chance) + 2 * math.log(small)
    assert fine.log_evidence == pytest.approx(expected, rel=1e-9)
    for share in (2.0**-23, 2.0**-30):
        with pytest.raises(CancellationError):
            cancelling(share, size, chance=chance).run(evidence)


@pytest.mark.parametrize("nodes", ["chebyshev", "integers"])
@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize("n", [1, 2, 3, 5])
def test_counts_at_real_nodes_are_their_tables(nodes: str, exact: bool, n: int) -> None:
    parents = tuple(Variable(f"X{i}", YES) for i in range(n))
    for wanted in range(n + 2):
        function = Exactly(wanted) if exact else Threshold(wanted)
        cpd = FunctionalCPD(Variable("S", YES), parents, function)
        form = rank_one_form(cpd, nodes=nodes)
        assert form is not None
        assert form.n_terms <= n + 2
        assert not any(np.iscomplexobj(factor.values) for factor in form.factors)
        assert form.expand().isclose(cpd.to_factor(), atol=1e-10)


def test_factors_whose_product_is_complex_are_refused() -> None:
    x = Variable("x", YES)
    plan = compile_plan(FactorModel((Factor((x,), np.array([1 + 1j, 2 + 0j])),)))
    with pytest.raises(InvalidModelError, match="sums to a complex number"):
        plan.run()


@pytest.mark.parametrize("total", range(0, 25, 3))
def test_a_plan_without_signs_answers_before_digits_are_missed(total: int) -> None:
    """Terms a hundred thousand times as large as their sum would leave eleven digits of it."""
    n, p = 24, 0.05
    votes = [Variable(f"X{i}", YES) for i in range(n)]
    network = Network(
        (
            *(TabularCPD(v, (), np.array([1 - p, p])) for v in votes),
            FunctionalCPD.sum_of("S", votes),
        )
    )
    plan = compile_plan(factorize(network, "S"), evidence=["S"], targets=[["X0"]])
    expected = math.log(math.comb(n, total)) + total * math.log(p) + (n - total) * math.log1p(-p)
    batch = plan.run_batch({"S": np.array([total])})
    for found in (plan.run({"S": str(total)}).log_evidence, batch.log_evidence[0]):
        assert found == pytest.approx(expected, rel=0, abs=3e-13)
