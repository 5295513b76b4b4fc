"""Questions about tables of cases, for engines. Their room is imported by the first of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bnmind.junction.inference.limits import Limits
from bnmind.pgm.network import FactorModel, Network

if TYPE_CHECKING:
    from bnmind.junction.cases.answers import CaseAnswers
    from bnmind.junction.cases.predict import Names

__all__ = ["TableQuestions"]


class TableQuestions:
    """The methods of an engine that answer all rows of a data frame.

    The cases are a `pandas.DataFrame` whose columns are matched with variables by name; None and
    NaN mark missing cells. See the functions of the same names, which also take a function that
    reports progress. Each call makes plans of its own for the variables that the cases observe; the
    engine does not remember them.
    """

    __slots__ = ()

    if TYPE_CHECKING:

        @property
        def model(self) -> Network | FactorModel:
            """The model."""

        @property
        def limits(self) -> Limits:
            """The limits of the cost of an answer."""

    def predict(self, cases: Any, targets: Names | None = None) -> CaseAnswers:
        """Return the most probable state of each target in each case.

        The arguments and errors are those of `bnmind.junction.predict`.
        """
        from bnmind.junction.cases.predict import predict

        return predict(self.model, cases, targets, limits=self.limits)

    def predict_proba(self, cases: Any, targets: Names | None = None) -> CaseAnswers:
        """Return the distribution of each target in each case.

        The arguments and errors are those of `bnmind.junction.predict_proba`.
        """
        from bnmind.junction.cases.predict import predict_proba

        return predict_proba(self.model, cases, targets, limits=self.limits)

    def log_likelihood(self, cases: Any) -> CaseAnswers:
        """Return the log-probability of the observed cells of each case, natural logarithms.

        The arguments and errors are those of `bnmind.junction.log_likelihood`.
        """
        from bnmind.junction.cases.predict import log_likelihood

        return log_likelihood(self.model, cases, limits=self.limits)

    def impute(self, cases: Any) -> CaseAnswers:
        """Return the cases with each missing cell filled by its own most probable state.

        The arguments and errors are those of `bnmind.junction.impute`.
        """
        from bnmind.junction.cases.predict import impute

        return impute(self.model, cases, limits=self.limits)

    def complete(self, cases: Any) -> CaseAnswers:
        """Return the cases filled by the most probable completion of each row.

        The arguments and errors are those of `bnmind.junction.complete`.
        """
        from bnmind.junction.cases.completion import complete

        return complete(self.model, cases, limits=self.limits)

    def sample_missing(self, cases: Any, rng: np.random.Generator, draws: int = 1) -> CaseAnswers:
        """Return the cases filled by draws from the joint distribution given each row.

        The arguments and errors are those of `bnmind.junction.sample_missing`.
        """
        from bnmind.junction.cases.completion import sample_missing

        return sample_missing(self.model, cases, rng=rng, draws=draws, limits=self.limits)
