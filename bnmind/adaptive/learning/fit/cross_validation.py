"""Cross-validation: the likelihood of examinees under models learned from the others."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bnmind._arguments import checked
from bnmind._messages import counted
from bnmind._values import Value
from bnmind._workers import results_of
from bnmind.adaptive.beliefs.start import beliefs_given
from bnmind.adaptive.items.bank import ItemBank
from bnmind.adaptive.items.qmatrix import QMatrix
from bnmind.adaptive.items.skill_distributions import ProfileDistribution
from bnmind.adaptive.learning.inputs import learning_inputs
from bnmind.adaptive.learning.learn import Learned, learn
from bnmind.adaptive.learning.parameters.options import LearningOptions
from bnmind.adaptive.response_models.base import ResponseModel
from bnmind.adaptive.response_models.dina import Dina
from bnmind.adaptive.responses.folds import fold_numbers
from bnmind.adaptive.responses.responses import Responses
from bnmind.errors import ImpossibleEvidenceError
from bnmind.information import Floats
from bnmind.pgm import Network

if TYPE_CHECKING:
    import pandas

__all__ = ["CrossValidation", "cross_validate"]


@dataclass(frozen=True, eq=False)
class CrossValidation(Value):
    """Banks learned without each fold, with the likelihoods of the folds."""

    responses: Responses
    """All responses, with columns in the order of the banks' items."""
    folds: NDArray[np.intp]
    """``(examinees,)``, the fold of each examinee."""
    learned: tuple[Learned, ...]
    """The result of learning without each fold."""

    def __repr__(self) -> str:
        return (
            f"CrossValidation({counted(len(self.learned), 'fold')}:"
            f" log-likelihood {self.log_likelihood:.2f})"
        )

    @property
    def banks(self) -> tuple[ItemBank, ...]:
        """The bank learned without each fold."""
        return tuple(one.bank for one in self.learned)

    @cached_property
    def log_likelihoods(self) -> Floats:
        """Natural logarithm of the probability of each examinee's responses, ``(examinees,)``.

        The bank is that learned from other folds. Minus infinity for a probability of zero.
        """
        values = np.empty(len(self.responses))
        for fold, bank in enumerate(self.banks):
            rows = np.flatnonzero(self.folds == fold)
            values[rows] = _log_evidence(bank, self.responses.codes[rows])
        values.setflags(write=False)
        return values

    @property
    def log_likelihood(self) -> float:
        """The sum of `log_likelihoods`; larger is better."""
        return float(self.log_likelihoods.sum())


@checked
def cross_validate(
    responses: Responses | pandas.DataFrame | ArrayLike,
    model: ItemBank | QMatrix | pandas.DataFrame | ArrayLike,
    *,
    gate: str | Callable[..., ResponseModel] = Dina,
    skills: ProfileDistribution | Network | None = None,
    options: LearningOptions | None = None,
    folds: int = 10,
    fold_seed: int = 1,
    progress: Callable[[int, int], None] | None = None,
) -> CrossValidation:
    """Return a bank for each fold, learned from all examinees of the other folds.

    Parameters
    ----------
    responses, model, gate, skills, options
        As for `learn`; the workers of the options get a fold each.
    folds, fold_seed
        As for `fold_numbers`: the fold of each examinee is
        ``default_rng(fold_seed).permutation(examinees) % folds``.
    progress
        Called after every fold with the number of learned folds and of all folds.

    Raises
    ------
    TableError
        As for `learn`, and if nobody outside of a fold answered an item.
    """
    bank, data = learning_inputs(responses, model, gate, skills)
    numbers = fold_numbers(len(data), folds=folds, seed=fold_seed)
    asked = options or LearningOptions()
    # A fold is one task, so its starts are not distributed once more.
    alone = asked if asked.workers == 1 else replace(asked, workers=1)
    tasks = [
        partial(learn, data.take(numbers != fold), bank, options=alone) for fold in range(folds)
    ]
    learned: list[Learned] = []
    for one in results_of(tasks, asked.workers):
        learned.append(one)
        if progress is not None:
            progress(len(learned), folds)
    return CrossValidation(data, numbers, tuple(learned))


def _log_evidence(bank: ItemBank, codes: NDArray[np.signedinteger]) -> Floats:
    try:
        return beliefs_given(bank, codes).log_evidence
    except ImpossibleEvidenceError:
        if len(codes) == 1:
            return np.array([-np.inf])
        return np.concatenate([_log_evidence(bank, row[None]) for row in codes])
