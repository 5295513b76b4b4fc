"""Classifying examinees by their responses: profiles, skills, and how well they fit.

The *most probable profile* (MAP) is that of all skills together. The most probable level of each
skill by itself (from the EAP, the mean of the posterior) may differ from it. The first makes the
fewest errors in whole profiles, the second in single skills.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bnmind._arguments import check_shape, checked, positions, whole_array
from bnmind._display import Result, Table, finite, frame_html
from bnmind._messages import counted
from bnmind._values import Value, sealed
from bnmind.adaptive.beliefs.ability_estimates import has_ability
from bnmind.adaptive.beliefs.batch_belief import MISSING, BatchBelief
from bnmind.adaptive.beliefs.person_fit import AnswerFit, person_fit
from bnmind.adaptive.beliefs.profile_space import n_profiles
from bnmind.adaptive.beliefs.response_errors import updated_batch_anyway
from bnmind.adaptive.beliefs.start import TABLE_PROFILES, beliefs_given, start_beliefs
from bnmind.adaptive.beliefs.table_batch import TableBatch
from bnmind.adaptive.classification.known_profiles import (
    Agreement,
    agreement,
    read_profiles,
    share_text,
)
from bnmind.adaptive.classification.likelihood_fit import MISFIT, standardized_fit
from bnmind.adaptive.classification.reliability import Reliability, ReliabilitySums
from bnmind.adaptive.items.bank import HasBank, ItemBank, bank_of
from bnmind.adaptive.response_models.base.abilities import ability_values
from bnmind.adaptive.responses.responses import Responses
from bnmind.errors import ImpossibleEvidenceError, InvalidArgumentError
from bnmind.information import Floats

if TYPE_CHECKING:
    import pandas

__all__ = ["Classification", "classify"]

_CELLS = 2**21
"""The size of the posteriors of the examinees computed at once."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Classification(Result, Value):
    """The classification of examinees by a bank. Created by `classify`."""

    bank: ItemBank
    """The bank."""
    responses: Responses
    """The responses, with columns in the order of the bank's items."""
    profiles: NDArray[np.intp]
    """``(examinees, skills)``, the levels of the most probable profile (MAP)."""
    probabilities: Floats
    """``(examinees,)``, the probability of that whole profile."""
    marginals: tuple[Floats, ...]
    """For each skill the probability of each level, ``(examinees, levels)``."""
    entropy: Floats
    """``(examinees,)``, the entropy of all skills jointly, in bits."""
    log_evidence: Floats
    """``(examinees,)``, natural logarithm of the probability of the responses."""
    fit: Floats
    """``(examinees,)``, person fit: the standardized log-likelihood of the responses; see
    `bnmind.adaptive.classification.likelihood_fit`. Below −1.645 it is bad."""
    impossible: NDArray[np.bool_]
    """``(examinees,)``, whether no profile explains all responses. Then each response counts as
    an error with a chance of 2**-40, as in a live session."""
    reliability: Reliability
    """The estimated accuracy and consistency of the classifications."""

    def __repr__(self) -> str:
        accuracy = self.reliability.accuracy
        return (
            f"Classification({counted(len(self), 'examinee')}, accuracy of profiles {accuracy:.3f})"
        )

    def __len__(self) -> int:
        return len(self.responses)

    def to_dict(self) -> dict[str, Any]:
        """Return how well the examinees are classified, as a record for JSON."""
        reliability, means = self.reliability, self.expected.mean(axis=0).tolist()
        pairs = zip(reliability.skills, means, self.eap_reliability.tolist(), strict=True)
        record = {
            "examinees": len(self),
            "log_likelihood": float(self.log_evidence.sum()),
            "accuracy": reliability.accuracy,
            "consistency": reliability.consistency,
            "skills": [
                {
                    "name": row.skill,
                    "mean": mean,
                    "accuracy": row.accuracy,
                    "consistency": row.consistency,
                    "eap_reliability": eap,
                }
                for row, mean, eap in pairs
            ],
            "groups": [
                {
                    "name": name,
                    "examinees": n,
                    "means": dict(zip(self.bank.skills, levels, strict=True)),
                }
                for name, n, levels in self._groups()
            ],
            "misfits": int((self.fit < MISFIT).sum()),
            "impossible": int(self.impossible.sum()),
        }
        return dict(finite(record))

    def _groups(self) -> Iterator[tuple[str, int, list[float]]]:
        """Yield each group, the number of its examinees, and the mean of each skill."""
        groups = np.array(self.responses.groups, dtype=object)
        for name in sorted(set(self.responses.groups)):
            rows = groups == name
            yield name, int(rows.sum()), self.expected[rows].mean(axis=0).tolist()

    def _shown(self) -> Iterator[str | Table]:
        yield (
            f"{counted(len(self), 'examinee')}, {counted(len(self.bank.items), 'item')},"
            f" {counted(len(self.bank.skills), 'skill')};"
            f" {counted(self.responses.n_missing, 'response')} missing."
        )
        if has_ability(self.bank):
            yield (
                f"Mean ability {self.expected.mean():.3f}, mean standard error"
                f" {self.deviations.mean():.3f}, reliability {share_text(self.eap_reliability[0])}."
            )
        else:
            whole = self.reliability
            rows = [
                ["whole profile", "", share_text(whole.accuracy), share_text(whole.consistency)]
            ]
            for row, mean in zip(whole.skills, self.expected.mean(axis=0), strict=True):
                shares = [share_text(row.accuracy), share_text(row.consistency)]
                rows.append([row.skill, f"{mean:.3f}", *shares])
            yield "If the bank holds, the test classifies:"
            yield Table(("", "mean level", "accuracy", "consistency"), rows)
        if self.responses.groups:
            yield "Mean level in each group:"
            yield Table(
                ("group", "examinees", *self.bank.skills),
                [
                    (name or "–", str(n), *(f"{mean:.3f}" for mean in means))
                    for name, n, means in self._groups()
                ],
            )
        misfits = int((self.fit < MISFIT).sum())
        yield f"Person fit is bad (below {MISFIT}) for {counted(misfits, 'examinee')}."
        if self.impossible.any():
            yield (
                f"By the bank, the answers of {counted(int(self.impossible.sum()), 'examinee')} are"
                " impossible together; each of these answers counts as an error with a probability"
                " of 2^-40."
            )

    @cached_property
    def levels(self) -> NDArray[np.intp]:
        """``(examinees, skills)``, the most probable level of each skill by itself."""
        return sealed(np.stack([table.argmax(axis=1) for table in self.marginals], axis=1))

    @cached_property
    def expected(self) -> Floats:
        """``(examinees, skills)``, the expected level of each skill (EAP).

        For a skill with two levels, this is the probability of having it; for an ability, its
        mean.
        """
        columns = [
            table @ _values(self.bank, skill)
            for skill, table in zip(self.bank.skills, self.marginals, strict=True)
        ]
        return sealed(np.stack(columns, axis=1))

    @cached_property
    def deviations(self) -> Floats:
        """``(examinees, skills)``, the standard deviation of each skill's level."""
        columns = []
        for k, (skill, table) in enumerate(zip(self.bank.skills, self.marginals, strict=True)):
            squares = table @ _values(self.bank, skill) ** 2
            columns.append(np.sqrt(np.maximum(squares - self.expected[:, k] ** 2, 0.0)))
        return sealed(np.stack(columns, axis=1))

    @property
    def eap_reliability(self) -> Floats:
        """``(skills,)``, the share of the variance of each level that the expected levels explain.

        It is Var(EAP) / (Var(EAP) + mean posterior variance), the empirical reliability of the
        R package mirt. NaN where nothing varies.
        """
        explained = self.expected.var(axis=0)
        total = explained + (self.deviations**2).mean(axis=0)
        shares = np.full(len(explained), np.nan)
        np.divide(explained, total, out=shares, where=total > 0)
        return sealed(shares)

    @checked
    def person_fit(self, examinee: int) -> tuple[AnswerFit, ...]:
        """Return how surprising each answer of an examinee is, given all other answers.

        Parameters
        ----------
        examinee
            The position of the examinee.
        """
        rows = positions([examinee], len(self), "examinee")
        return person_fit(_given(self.bank, self.responses.codes[rows].astype(np.int16)).alone(0))

    @checked
    def agreement_with(self, levels: ArrayLike | pandas.DataFrame) -> Agreement:
        """Return how often the classifications are the known profiles.

        Parameters
        ----------
        levels
            ``(examinees, skills)``, the positions of the known levels, −1 where unknown; or a
            data frame, which is read as by `read_profiles`.

        Raises
        ------
        InvalidArgumentError
            If a level is neither a position nor −1.
        """
        if hasattr(levels, "columns"):
            frame = cast("pandas.DataFrame", levels)
            levels = read_profiles(frame, self.bank, self.responses.examinees).levels
        known = whole_array(levels, "levels")
        check_shape(known, "levels", self.profiles.shape)
        sizes = np.array([self.bank.variable(skill).n_states for skill in self.bank.skills])
        if known.dtype.kind not in "iub" or np.any((known < MISSING) | (known >= sizes)):
            raise InvalidArgumentError(
                "expected positions of levels, or -1 where a level is not known", levels
            )
        return agreement(self.bank.skills, self.profiles, self.levels, known.astype(np.intp))

    def _repr_html_(self) -> str:
        """Return the first rows as an HTML table, which notebooks display."""
        return frame_html(self.to_frame(), caption=repr(self))

    def to_frame(self) -> pandas.DataFrame:
        """Return a row for each examinee.

        Columns ``examinee``, ``group`` if the responses have groups, ``answers`` (their number),
        ``map_SKILL`` for each skill, ``map_probability``, ``eap_SKILL`` (the expected level: for
        two levels the probability of having the skill), ``level_SKILL`` (the most probable level by
        itself), ``p_SKILL_LEVEL`` for skills of more than two levels, ``entropy`` (bits),
        ``log_likelihood``, ``person_fit``, ``impossible``. For a bank of one ability
        ``map_ABILITY``, ``eap_ABILITY`` and ``sd_ABILITY``.
        """
        import pandas as pd

        skills = self.bank.skills
        states = [np.array(self.bank.variable(skill).states, dtype=object) for skill in skills]
        columns: dict[str, Any] = {"examinee": list(self.responses.examinees)}
        if self.responses.groups:
            columns["group"] = list(self.responses.groups)
        columns["answers"] = (self.responses.codes != MISSING).sum(axis=1)
        for k, skill in enumerate(skills):
            columns[f"map_{skill}"] = states[k][self.profiles[:, k]]
        columns["map_probability"] = self.probabilities
        for k, skill in enumerate(skills):
            columns[f"eap_{skill}"] = self.expected[:, k]
        if has_ability(self.bank):
            columns[f"sd_{skills[0]}"] = self.deviations[:, 0]
        else:
            for k, skill in enumerate(skills):
                columns[f"level_{skill}"] = states[k][self.levels[:, k]]
            for skill, names, table in zip(skills, states, self.marginals, strict=True):
                for level in range(len(names) if len(names) > 2 else 0):
                    columns[f"p_{skill}_{names[level]}"] = table[:, level]
        columns["entropy"] = self.entropy
        columns["log_likelihood"] = self.log_evidence
        columns["person_fit"] = self.fit
        columns["impossible"] = self.impossible
        return pd.DataFrame(columns)


@checked
def classify(
    bank: ItemBank | HasBank,
    responses: Responses | pandas.DataFrame | ArrayLike,
    *,
    progress: Callable[[int, int], None] | None = None,
) -> Classification:
    """Return the most probable profile and the probability of each skill of some examinees.

    Missing responses are left out. An examinee whose responses are impossible according to the
    bank is classified too; see `Classification.impossible`.

    Parameters
    ----------
    bank
        The bank, or what `learn` returns.
    responses
        The responses; see `Responses.of`.
    progress
        Called from time to time with the number of response patterns done and of all.

    Raises
    ------
    TableError
        If the responses do not fit the bank.
    TooLargeError
        If the bank's junction tree is too large.

    Examples
    --------
    >>> bank = ItemBank.from_qmatrix([[1, 0], [0, 1], [1, 1]] * 3, guess=0.2, slip=0.1)
    >>> found = classify(bank, [[1, 0, 0] * 3, [1, 1, 1] * 3])
    >>> found.profiles.tolist(), found.expected.round(2).tolist()
    ([[1, 0], [1, 1]], [[0.99, 0.0], [1.0, 1.0]])
    """
    bank = bank_of(bank)
    if isinstance(responses, Responses) or hasattr(responses, "columns"):
        data = Responses.of(responses, expected=bank.item_names).for_bank(bank)
    else:
        data = Responses.of(responses, items=bank.item_names).for_bank(bank)
    rows, inverse, counts = data.patterns
    size = max(1, _CELLS // min(n_profiles(bank), TABLE_PROFILES))
    sums = ReliabilitySums(bank.skills)
    parts: list[_Part] = []
    for start in range(0, len(rows), size):
        if progress is not None:
            progress(start, len(rows))
        some = slice(start, start + size)
        parts.append(_classified(bank, rows[some], counts[some].astype(np.float64), sums))
    if progress is not None:
        progress(len(rows), len(rows))

    def joined(arrays: list[NDArray[Any]]) -> NDArray[Any]:
        return sealed(np.concatenate(arrays)[inverse])

    return Classification(
        bank=bank,
        responses=data,
        profiles=joined([part.profiles for part in parts]),
        probabilities=joined([part.probabilities for part in parts]),
        marginals=tuple(
            joined([part.marginals[k] for part in parts]) for k in range(len(bank.skills))
        ),
        entropy=joined([part.entropy for part in parts]),
        log_evidence=joined([part.log_evidence for part in parts]),
        fit=joined([part.fit for part in parts]),
        impossible=joined([part.impossible for part in parts]),
        reliability=sums.result(),
    )


@dataclass(frozen=True, eq=False, kw_only=True)
class _Part:
    """The classification of some response patterns."""

    profiles: NDArray[np.intp]
    probabilities: Floats
    marginals: list[Floats]
    entropy: Floats
    log_evidence: Floats
    fit: Floats
    impossible: NDArray[np.bool_]


def _classified(
    bank: ItemBank, rows: NDArray[np.signedinteger[Any]], weights: Floats, sums: ReliabilitySums
) -> _Part:
    beliefs = _given(bank, rows.astype(np.int16))
    best = beliefs.profile()
    marginals = [beliefs.marginal(skill) for skill in bank.skills]
    sums.add(weights, best.probabilities, marginals)
    if isinstance(beliefs, TableBatch):
        sizes = tuple(bank.variable(skill).n_states for skill in bank.skills)
        numbers = np.ravel_multi_index(tuple(best.levels.T), sizes)
        levels = np.stack([table.argmax(axis=1) for table in marginals], axis=1)
        sums.add_posteriors(weights, beliefs.space.skills(beliefs.table), numbers, levels)
    return _Part(
        profiles=best.levels,
        probabilities=best.probabilities,
        marginals=marginals,
        entropy=beliefs.entropy,
        log_evidence=beliefs.log_evidence,
        fit=standardized_fit(bank, rows, best.levels),
        impossible=beliefs.error_chances > 0,
    )


def _given(bank: ItemBank, rows: NDArray[np.int16]) -> BatchBelief:
    """Return the beliefs given the responses, also if some are impossible."""
    try:
        return beliefs_given(bank, rows)
    except ImpossibleEvidenceError:
        beliefs = start_beliefs(bank, len(rows))
    for item in range(rows.shape[1]):
        answers = rows[:, item].astype(np.intp)
        beliefs = updated_batch_anyway(beliefs, np.where(answers < 0, MISSING, item), answers)
    return beliefs


def _values(bank: ItemBank, skill: str) -> Floats:
    """Return the values of the levels: the points of an ability, or the positions."""
    variable = bank.variable(skill)
    return ability_values(variable) if has_ability(bank) else np.arange(float(variable.n_states))
