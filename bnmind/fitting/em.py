"""Expectation maximization for the tables of a network, step by step.

One step never lowers the objective: the log-likelihood plus Σ α log θ for pseudo-counts α.

References
----------
A. Dempster, N. Laird and D. Rubin, "Maximum likelihood from incomplete data via the EM algorithm",
J. R. Stat. Soc. B 1977; S. Lauritzen, "The EM algorithm for graphical association models with
missing data", Comput. Stat. Data Anal. 1995.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bnmind._arguments import checked
from bnmind._messages import counted
from bnmind._values import Sealed, Value
from bnmind.errors import InvalidArgumentError
from bnmind.fitting.expectation import Expectation
from bnmind.fitting.layout import Layout
from bnmind.fitting.squarem import Place
from bnmind.information import Floats
from bnmind.pgm.network import Network

__all__ = ["EM", "EMInfo", "EMState", "TablesAscent"]


@dataclass(frozen=True, eq=False)
class EMState(Value):
    """The parameters between two steps of EM."""

    parameters: Floats
    """All free tables, then the leaks and links of noisy nodes, in one array."""


@dataclass(frozen=True, eq=False)
class EMInfo(Value):
    """The E-step of a step of EM, for the parameters before the step."""

    log_likelihood: float
    """Natural logarithm of the probability of all cases."""
    objective: float
    """The log-likelihood plus Σ α log θ for the pseudo-counts α of the prior."""
    counts: Floats
    """The expected counts of all tables in one array."""


@dataclass(frozen=True, eq=False)
class TablesAscent(Sealed):
    """The log-likelihood of a network's tables, with its EM steps; see `squarem.Ascent`."""

    layout: Layout
    expectation: Expectation

    def at(self, parameters: Floats) -> Place[Floats]:
        """Do the E-step."""
        expected = self.expectation.at(self.layout.cells(parameters))
        likelihood = expected.log_likelihood
        objective = likelihood + self.layout.log_prior(parameters)

        def improved() -> Floats:
            return self.layout.maximize(parameters, expected.counts)

        return Place(parameters, likelihood, objective, improved)

    def numbers(self, parameters: Floats) -> Floats:
        """Return the parameters, which are in one array."""
        return parameters

    def within(self, numbers: Floats, known: Floats) -> Floats:
        """Return normalized parameters."""
        return self.layout.within(numbers, known)


@dataclass(frozen=True, eq=False)
class EM(Sealed):
    """EM for a network and some cases. Created by `expectation_maximization`.

    Examples
    --------
    >>> from bnmind.fitting import expectation_maximization
    >>> from bnmind.pgm import Network, TabularCPD, Variable
    >>> rain, wet = Variable("rain", ("no", "yes")), Variable("wet", ("no", "yes"))
    >>> network = Network((TabularCPD(rain, (), [0.8, 0.2]),
    ...                    TabularCPD(wet, (rain,), [[0.9, 0.1], [0.1, 0.9]])))
    >>> cases = {"rain": ["no", None, "yes"], "wet": ["no", "yes", "yes"]}
    >>> em = expectation_maximization(network, cases)
    >>> state, info = em.step(em.start())
    >>> em.step(state)[1].log_likelihood > info.log_likelihood
    True
    """

    layout: Layout
    """The arrangement of the network's tables."""
    expectation: Expectation
    """The E-step, prepared for the cases."""

    @property
    def is_exact(self) -> bool:
        """Whether a single step maximizes the objective.

        It does so if no relevant cell is missing, and no noisy node is learned: the tables are
        counted then.
        """
        return self.expectation.is_complete and not self.layout.noisy

    def __repr__(self) -> str:
        return f"EM({self.layout.network!r}, {counted(self.expectation.cases.n_cases, 'case')})"

    @checked
    def start(self, rng: np.random.Generator | None = None) -> EMState:
        """Return the state before the first step.

        Parameters
        ----------
        rng
            Draws the tables of the start; by default they are those of the network, mixed with 1 %
            of uniform tables. A table counts as one case in each configuration of the parents, and
            the cases in which its family is complete are added to it. Noisy nodes start from their
            own parameters, or from random ones.
        """
        return EMState(self.layout.start(self.expectation.start_counts(), rng))

    @checked
    def step(self, state: EMState) -> tuple[EMState, EMInfo]:
        """Do an E-step and an M-step.

        Parameters
        ----------
        state
            The tables of the network, from `start` or an earlier step.

        Raises
        ------
        ImpossibleEvidenceError
            If a case is impossible under fixed tables.
        InvalidArgumentError
            If the state belongs to another network.
        """
        parameters = self._checked(state)
        expected = self.expectation.at(self.layout.cells(parameters))
        objective = expected.log_likelihood + self.layout.log_prior(parameters)
        info = EMInfo(expected.log_likelihood, objective, expected.counts)
        return EMState(self.layout.maximize(parameters, expected.counts)), info

    @checked
    def network(self, state: EMState) -> Network:
        """Return the network with the tables of a state.

        Parameters
        ----------
        state
            The tables of the network, from `start` or an earlier step.
        """
        return self.layout.network_of(self._checked(state))

    def _checked(self, state: EMState) -> Floats:
        n = self.layout.n_values
        if state.parameters.shape != (n,):
            raise InvalidArgumentError(
                f"expected a state with {n} parameters, got an array of shape"
                f" {state.parameters.shape}",
                state,
            )
        return state.parameters
