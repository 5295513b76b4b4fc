r"""Relative fit: information criteria and likelihood-ratio tests of learned banks.

==================  ======================================================================
symbol              name here
==================  ======================================================================
L, p, N             the likelihood, the number of parameters, the number of examinees
AIC, BIC            2 p − 2 ln L; p ln N − 2 ln L
CAIC, SABIC         p (ln N + 1) − 2 ln L; p ln((N + 2) / 24) − 2 ln L
==================  ======================================================================

References
----------
H. Akaike, 1974; G. Schwarz, 1978; H. Bozdogan, Psychometrika 1987 (CAIC); S. Sclove, Psychometrika
1987 (the sample-size adjusted BIC).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bnmind._arguments import checked
from bnmind._display import frame_html
from bnmind._values import Value
from bnmind.adaptive.learning.learn import Learned
from bnmind.errors import InvalidArgumentError

if TYPE_CHECKING:
    import pandas

__all__ = ["ComparedModel", "Comparison", "LikelihoodRatio", "compare_models", "likelihood_ratio"]


@dataclass(frozen=True, kw_only=True)
class ComparedModel(Value):
    """The relative fit of a model."""

    name: str
    """The name that was given to the model."""
    log_likelihood: float
    """Natural logarithm of the probability of all responses."""
    n_parameters: int
    """The number of free parameters, p."""
    aic: float
    """Akaike's criterion, −2 ln L + 2 p; smaller is better."""
    bic: float
    """The Bayesian criterion, −2 ln L + p ln N for N examinees."""
    caic: float
    """The consistent criterion of Akaike, −2 ln L + p (ln N + 1)."""
    sabic: float
    """The Bayesian criterion adjusted for the sample size: ln((N + 2) / 24) in place of ln N."""


@dataclass(frozen=True)
class Comparison(Value):
    """Models of the same responses. Created by `compare_models`."""

    models: tuple[ComparedModel, ...]
    """The models."""

    @property
    def best_by_aic(self) -> str:
        """The name of the model with the smallest AIC."""
        return min(self.models, key=lambda model: model.aic).name

    @property
    def best_by_bic(self) -> str:
        """The name of the model with the smallest BIC."""
        return min(self.models, key=lambda model: model.bic).name

    def _repr_html_(self) -> str:
        """Return the first rows as an HTML table, which notebooks display."""
        return frame_html(self.to_frame(), caption="Models compared")

    def to_frame(self) -> pandas.DataFrame:
        """Return the models as rows."""
        import pandas as pd

        rows: list[dict[str, Any]] = [vars(model).copy() for model in self.models]
        return pd.DataFrame(rows).set_index("name")

    def __repr__(self) -> str:
        width = max(12, *(len(model.name) for model in self.models))
        lines = [
            f"{'model':{width}} {'log-likelihood':>14} {'parameters':>10} {'AIC':>10} {'BIC':>10}"
        ]
        lines += [
            f"{m.name:{width}} {m.log_likelihood:14.2f} {m.n_parameters:10}"
            f" {m.aic:10.1f} {m.bic:10.1f}"
            for m in self.models
        ]
        return "\n".join(lines)


@checked
def compare_models(models: Mapping[str, Learned]) -> Comparison:
    """Compare models that were learned from the same responses.

    Parameters
    ----------
    models
        Learned banks by the names under which they are compared, at least one.

    Raises
    ------
    InvalidArgumentError
        If there is no model, or they were learned from different responses.

    Examples
    --------
    >>> from bnmind.adaptive import Dino, Examinees, ItemBank, learn
    >>> q = [[1, 0], [0, 1], [1, 1], [1, 1]]
    >>> seen = Examinees.drawn(ItemBank.from_qmatrix(q, 0.1, 0.1), 500, seed=1).responses
    >>> compare_models({"DINA": learn(seen, q), "DINO": learn(seen, q, gate=Dino)}).best_by_bic
    'DINA'
    """
    first = next(iter(models.values()), None)
    if first is None:
        raise InvalidArgumentError("expected at least one model, got none", models)
    rows = []
    for name, learned in models.items():
        _check_same(first, learned, name)
        n, p, likelihood = len(learned.responses), learned.n_parameters, learned.log_likelihood
        rows.append(
            ComparedModel(
                name=str(name),
                log_likelihood=likelihood,
                n_parameters=p,
                aic=learned.aic,
                bic=learned.bic,
                caic=p * (math.log(n) + 1) - 2 * likelihood,
                sabic=p * math.log((n + 2) / 24) - 2 * likelihood,
            )
        )
    return Comparison(tuple(rows))


@dataclass(frozen=True, kw_only=True)
class LikelihoodRatio(Value):
    """A test of a model against a larger one that contains it."""

    statistic: float
    """Twice the difference of the log-likelihoods."""
    degrees: int
    """The degrees of freedom: the difference of the numbers of parameters."""
    p_value: float
    """The probability of at least this statistic if the smaller model is true."""


@checked
def likelihood_ratio(smaller: Learned, larger: Learned) -> LikelihoodRatio:
    """Test a model against a larger one that contains it.

    Parameters
    ----------
    smaller
        The learned bank that the larger one contains.
    larger
        The learned bank with more parameters.

    Raises
    ------
    InvalidArgumentError
        If the models were learned from different responses, or the larger one has no more
        parameters.
    """
    from scipy.stats import chi2

    _check_same(smaller, larger, "the larger model")
    degrees = larger.n_parameters - smaller.n_parameters
    if degrees < 1:
        raise InvalidArgumentError(
            f"expected the larger model to have more parameters than the smaller one, got"
            f" {larger.n_parameters} and {smaller.n_parameters}",
            degrees,
        )
    statistic = max(2 * (larger.log_likelihood - smaller.log_likelihood), 0.0)
    return LikelihoodRatio(
        statistic=statistic, degrees=degrees, p_value=float(chi2.sf(statistic, degrees))
    )


def _check_same(first: Learned, other: Learned, name: object) -> None:
    """Raise if two models were learned from different responses."""
    one, two = first.responses, other.responses
    same = set(one.items) == set(two.items) and len(one) == len(two)
    if same:
        order = [two.items.index(item) for item in one.items]
        same = bool(np.array_equal(one.codes, two.codes[:, order]))
    if not same:
        raise InvalidArgumentError(
            f"expected models of the same responses, but {name} was learned from others", name
        )
