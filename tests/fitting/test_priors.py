"""The contract of the priors of tables."""

from __future__ import annotations

import math

import numpy as np
import pytest

from bnmind.errors import InvalidArgumentError
from bnmind.fitting import PRIORS, BDeu, Dirichlet, Laplace, Prior, fit
from bnmind.information import Floats
from bnmind.pgm import Variable
from tests.registries import check_value, examples_of, registry_faults

WET = Variable("wet", ("no", "damp", "yes"))
RAIN = Variable("rain", ("no", "yes"))


@pytest.mark.parametrize("name", PRIORS)
def test_registered_priors_are_values_with_counts_of_every_table(name: str) -> None:
    for prior in examples_of("prior", PRIORS, name):
        check_value(prior)
        assert isinstance(prior, Prior)
        for parents in ((), (RAIN,)):
            counts = prior.pseudo_counts(WET, parents)
            assert counts.shape == (3, 2)[: 1 + len(parents)]
            assert np.all(counts >= 0)


def test_the_registry_is_well_formed() -> None:
    assert registry_faults(PRIORS) == []


def test_the_pseudo_counts_of_bdeu_sum_to_the_sample_size() -> None:
    assert BDeu(5).pseudo_counts(WET, (RAIN,)).sum() == pytest.approx(5)


@pytest.mark.parametrize("wrong", [-1.0, math.nan, math.inf])
def test_pseudo_counts_are_finite_and_not_negative(wrong: float) -> None:
    for make in (BDeu, Laplace, lambda count: Dirichlet({"wet": [count, 1, 1]})):
        with pytest.raises(InvalidArgumentError):
            make(wrong)


def test_a_prior_of_ones_own_is_a_function_and_is_checked() -> None:
    class Half:
        def pseudo_counts(self, variable: Variable, parents: tuple[Variable, ...]) -> Floats:
            return np.full(variable.n_states, 0.5)

    fitted = fit([("wet", "rain")], {"wet": ["no", "yes"], "rain": ["no", "no"]}, prior=BDeu(1))
    assert fitted.network.cpd("rain").parents
    with pytest.raises(InvalidArgumentError, match=r"shape \(2, 2\)"):
        fit([("wet", "rain")], {"wet": ["no", "yes"], "rain": ["no", "yes"]}, prior=Half())
