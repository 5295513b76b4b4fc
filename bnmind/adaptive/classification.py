"""Classification of examinees from their responses, and agreement with known profiles.

Classifying examinees by their responses: profiles, skills, and how well they fit.

The *most probable profile* (MAP) is that of all skills together. The most probable level of each
skill by itself (from the EAP, the mean of the posterior) may differ from it. The first makes the
fewest errors in whole profiles, the second in single skills.

*Person fit* is the standardized log-likelihood of all responses of an examinee:

=========  =====================================================================
symbol     name here
=========  =====================================================================
α̂          ``levels``, the most probable profile
P_i(x)     the probability of response x to item i, given α̂
l₀         Σ_i ln P_i(x_i), over the items answered
E, V       its mean and variance given α̂: Σ_i Σ_x P ln P, Σ_i [Σ_x P ln² P − (Σ_x P ln P)²]
l_z        (l₀ − E) / √V
=========  =====================================================================

Small values mean responses that fit no profile: about 5 % of the examinees who follow the bank have
a value below −1.645, or fewer, since α̂ is estimated from the same responses.

*Reliability* is how accurately and how consistently a test classifies, estimated from one
administration:

=============  =================================================================================
symbol         name here
=============  =================================================================================
α, α_k         a profile, its level of skill k
P(α | x_n)     the posterior of examinee n
α̂_n            the most probable profile; α̂_{nk} the most probable level of skill k by itself
h(e, α)        ``joint``: (1/N) Σ_n P(α | x_n) [α̂_n = e]
m(α)           Σ_e h(e, α), the mean posterior
P_a            Σ_e h(e, e) = (1/N) Σ_n P(α̂_n | x_n): the chance that a classification is right
P_c            Σ_α Σ_e h(e, α)² / m(α): the chance that two independent administrations of the
               test classify an examinee alike
τ_k            (1/N) Σ_n max_l P(α_k = l | x_n): P_a of one skill
=============  =================================================================================

P_c = Σ_α P(α) Σ_e P(α̂ = e | α)², and h(e, α) / m(α) estimates P(α̂ = e | α). For a skill, e runs
over its levels, and α over the whole profiles, on which the errors depend.

References
----------
H. Huebner and C. Wang, "A note on comparing examinee classification methods for cognitive
diagnosis models", Educ. Psychol. Meas. 2011 (patterns and attributes, MAP and EAP).

F. Drasgow, M. Levine and E. Williams, "Appropriateness measurement with polychotomous item response
models and standardized indices", Br. J. Math. Stat. Psychol. 1985; Y. Liu, J. Douglas and R.
Henson, "Testing person fit in cognitive diagnosis", Appl. Psychol. Meas. 2009; Y. Cui, M. Gierl and
H.-H. Chang, "Estimating classification consistency and accuracy for cognitive diagnostic
assessment", J. Educ. Meas. 2012 (P_a, P_c); W. Wang, L. Song, P. Chen, Y. Meng and S. Ding,
"Attribute-level and pattern-level classification consistency and accuracy indices for cognitive
diagnostic assessment", J. Educ. Meas. 2015 (τ_k, eq. 6); M. Johnson and S. Sinharay, "Measures of
agreement to assess attribute-level classification accuracy and consistency for cognitive diagnostic
assessments", J. Educ. Meas. 2018 (the estimate of P_c from posteriors, also in the R package CDM).
"""

from __future__ import annotations

import math
import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, astuple, dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bnmind._arguments import check_shape, checked, positions, whole_array
from bnmind._display import Result, Table, finite, frame_html, picked, text_of
from bnmind._messages import MOST_FAULTS, counted, first_faults, shown
from bnmind._values import Value, sealed
from bnmind.adaptive.belief_tables import n_profiles
from bnmind.adaptive.beliefs import MISSING, BatchProfiles
from bnmind.adaptive.estimates import (
    TABLE_PROFILES,
    AnswerFit,
    beliefs_given_anyway,
    has_ability,
    person_fit,
)
from bnmind.adaptive.formulas import ability_values
from bnmind.adaptive.items.bank import HasBank, ItemBank, bank_of
from bnmind.adaptive.items.text_tables import (
    TextTable,
    is_row_names,
    level_of,
    names_shown,
    table_given,
)
from bnmind.adaptive.response_tables import is_examinee_name
from bnmind.adaptive.responses import Responses, responses_to
from bnmind.errors import InvalidArgumentError, TableError
from bnmind.information import Floats

if TYPE_CHECKING:
    import pandas

_ID_COLUMNS = ("examinee", "id")


@dataclass(frozen=True)
class SkillAgreement(Value):
    """How often the level of a skill is the known one."""

    skill: str
    """The name of the skill."""
    most_probable_profile: float
    """By the most probable profile (MAP)."""
    marginals: float
    """By the most probable level of the skill by itself (EAP)."""


@dataclass(frozen=True, kw_only=True)
class Agreement(Result, Value):
    """How often classifications are the known profiles."""

    n_examinees: int
    """The examinees whose whole profile is known."""
    pattern_accuracy: float
    """The share whose most probable profile (MAP) is right as a whole."""
    pattern_accuracy_marginals: float
    """The share whose most probable levels, each by itself (EAP), are all right."""
    attribute_accuracy: float
    """The share of right levels in the most probable profiles, over all skills."""
    attribute_accuracy_marginals: float
    """The share of right levels of the skills by themselves."""
    skills: tuple[SkillAgreement, ...]
    """Each skill."""

    def to_dict(self) -> dict[str, Any]:
        """Return the shares as a record for JSON."""
        return dict(finite(asdict(self)))

    def _shown(self) -> Iterator[str | Table]:
        rows = [
            ("whole profile", self.pattern_accuracy, self.pattern_accuracy_marginals),
            ("mean of skills", self.attribute_accuracy, self.attribute_accuracy_marginals),
            *map(astuple, self.skills),
        ]
        examinees = counted(self.n_examinees, "examinee")
        yield f"Shares of right classifications, for {examinees} with a known profile:"
        yield Table.of(rows, {"": "{0[0]}", "MAP": "{0[1]:.3f}", "EAP": "{0[2]:.3f}"})

    __repr__ = text_of


@dataclass(frozen=True, eq=False)
class KnownProfiles(Value):
    """Profiles that are known. Created by `read_profiles`."""

    levels: NDArray[np.intp]
    """``(examinees, skills)``, the positions of the levels; `MISSING` where unknown."""
    notes: tuple[str, ...] = ()
    """How the file was read, where that may surprise."""


@checked
def read_profiles(
    path: str | os.PathLike[str] | pandas.DataFrame, bank: ItemBank, examinees: Sequence[str]
) -> KnownProfiles:
    """Return the profiles in a text file or a data frame.

    Parameters
    ----------
    path
        The file or the data frame: a column for each skill with the names or positions of
        levels, empty or NA where a level is not known. A column such as ``examinee`` or ``id``,
        or a first column of row names as R writes it, names the examinees; other columns are
        ignored. If no column has the name of a skill, and there are as many columns as skills,
        they are matched by position.
    bank
        The bank that names the skills and their levels.
    examinees
        The names of the examinees. Rows are matched with them by name if all names are in
        the file. Otherwise examinees 1, 2, … are the rows with these numbers, and others are
        matched by position.

    Raises
    ------
    ModelFileError
        If the file cannot be read.
    TableError
        If a skill has no column, a level is unknown, rows and examinees do not match, or
        several rows have the name of one examinee.
    """
    table = _headed(table_given("profiles", path), bank, len(examinees))
    columns, ids = _columns(table, bank.skills)
    problems = [*table.uneven]
    if absent := [skill for skill in bank.skills if skill not in columns]:
        what = "skill" if len(absent) == 1 else "skills"
        problems.append(f"there is no column for the {what} {names_shown(absent)}")
    if problems:
        raise TableError(first_faults(problems))
    rows, by_position = _rows_of(examinees, table, ids)
    levels = np.full((len(rows), len(bank.skills)), MISSING, dtype=np.intp)
    for k, skill in enumerate(bank.skills):
        column, states = table.column(columns[skill]), bank.variable(skill).states
        for place, row in enumerate(rows):
            if str(column[row]).strip() in ("", "NA", "nan"):
                continue
            if (level := level_of(column[row], states)) is not None:
                levels[place, k] = level
            elif len(problems) < MOST_FAULTS:
                problems.append(
                    f"expected a level of {skill} among {', '.join(states[:10])} for examinee"
                    f" {examinees[place]}, got {shown(column[row])}"
                )
    if problems:
        raise TableError(problems)
    notes = [*table.notes]
    if by_position and (ids is not None or not all(name.isdecimal() for name in examinees)):
        others = "names other examinees than the responses"
        what = "has no names of examinees" if ids is None else others
        notes.append(f"the file of profiles {what}, so its rows are matched with them by position")
    return KnownProfiles(levels, tuple(notes))


def _headed(table: TextTable, bank: ItemBank, n_examinees: int) -> TextTable:
    """Return a table whose first row is the header, if it names the skills.

    Names such as 1 and 2 look like levels to a reader who does not know the skills.
    """
    if table.header is not None or not table.rows:
        return table
    first = tuple(str(cell).strip() for cell in table.rows[0])
    states = [bank.variable(skill).states for skill in bank.skills]
    strange = [
        name for name in first if name and all(level_of(name, own) is None for own in states)
    ]
    is_one_more = len(table.rows) == n_examinees + 1
    if set(bank.skills) <= set(first):
        names_columns = is_one_more or not {*bank.skills}.isdisjoint(strange)
    else:
        names_columns = is_one_more and bool(strange) and table.n_columns == len(bank.skills)
    return replace(table, header=first, rows=table.rows[1:]) if names_columns else table


def _columns(table: TextTable, skills: Sequence[str]) -> tuple[dict[str, int], int | None]:
    """Return the column of each skill that has one, and that with the names of examinees."""
    header = table.names
    ids = [place for place, name in enumerate(header) if name.lower() in _ID_COLUMNS]
    ids += [place for place, name in enumerate(header) if is_examinee_name(name)]
    if table.header and is_row_names(header[0]) and len(header) > len(skills):
        ids.append(0)
    ids = [place for place in ids if header[place] not in skills][:1]
    found = {skill: header.index(skill) for skill in skills if skill in header}
    rest = [place for place in range(len(header)) if place not in ids]
    if not found and len(rest) == len(skills):
        found = dict(zip(skills, rest, strict=True))
    return found, ids[0] if ids else None


def _rows_of(
    examinees: Sequence[str], table: TextTable, ids: int | None
) -> tuple[Sequence[int], bool]:
    """Return the row of each examinee, and whether rows are matched by position."""
    names, n = table.texts(ids), len(table.rows)
    place_of, count = {name: row for row, name in enumerate(names)}, Counter(names)
    if ids is not None and count.keys() >= {*examinees}:
        if faults := first_faults(
            f"expected one row for examinee {shown(name)}, got {count[name]}"
            for name in dict.fromkeys(examinees)
            if count[name] > 1
        ):
            raise TableError(faults)
        return [place_of[name] for name in examinees], False
    numbers = [int(name) for name in examinees if name.isdecimal()]
    if len(numbers) == len(examinees) and 1 <= min(numbers) <= max(numbers) <= n:
        return [number - 1 for number in numbers], True
    if n != len(examinees):
        whom = "the examinee" if len(examinees) == 1 else f"each of the {len(examinees)} examinees"
        raise TableError(
            [
                f"expected a row for {whom}, or a column examinee"
                f" with their names; got {counted(n, 'row')} without these names"
            ]
        )
    return range(n), True


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
    `bnmind.adaptive.classification`. Below −1.645 it is bad."""
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
            **picked(reliability, "accuracy", "consistency"),
            "skills": [
                picked(row, "accuracy", "consistency", name="skill")
                | {"mean": mean, "eap_reliability": eap}
                for row, mean, eap in pairs
            ],
            "groups": list(self._groups()),
            "misfits": int((self.fit < MISFIT).sum()),
            "impossible": int(self.impossible.sum()),
        }
        return dict(finite(record))

    def _groups(self) -> Iterator[dict[str, Any]]:
        """Yield each group with the number of its examinees, and the mean of each skill."""
        groups = np.array(self.responses.groups, dtype=object)
        for name in sorted(set(self.responses.groups)):
            rows = groups == name
            means = zip(self.bank.skills, self.expected[rows].mean(axis=0).tolist(), strict=True)
            yield {"name": name, "examinees": int(rows.sum()), "means": dict(means)}

    def _shown(self) -> Iterator[str | Table]:
        yield (
            f"{counted(len(self), 'examinee')}, {counted(len(self.bank.items), 'item')},"
            f" {counted(len(self.bank.skills), 'skill')};"
            f" {counted(self.responses.n_missing, 'response')} missing."
        )
        if has_ability(self.bank):
            yield (
                f"Mean ability {self.expected.mean():.3f}, mean standard error"
                f" {self.deviations.mean():.3f}, reliability {self.eap_reliability[0]:.3f}."
            )
        else:
            whole = self.reliability
            means = ["", *(f"{mean:.3f}" for mean in self.expected.mean(axis=0))]
            rows = zip(
                ("whole profile", *self.bank.skills), means, (whole, *whole.skills), strict=True
            )
            columns = {"accuracy": "{0[2].accuracy:.3f}", "consistency": "{0[2].consistency:.3f}"}
            yield "If the bank holds, the test classifies:"
            yield Table.of(rows, {"": "{0[0]}", "mean level": "{0[1]}", **columns})
        if self.responses.groups:
            yield "Mean level in each group:"
            groups = [
                (
                    one["name"] or "–",
                    str(one["examinees"]),
                    *map("{:.3f}".format, one["means"].values()),
                )
                for one in self._groups()
            ]
            yield Table(("group", "examinees", *self.bank.skills), groups)
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
        return sealed(self._moments(1))

    @cached_property
    def deviations(self) -> Floats:
        """``(examinees, skills)``, the standard deviation of each skill's level."""
        return sealed(np.sqrt(np.maximum(self._moments(2) - self.expected**2, 0.0)))

    def _moments(self, power: int) -> Floats:
        """Return the means of powers of each level: of the points of an ability, or positions."""
        means = []
        for skill, table in zip(self.bank.skills, self.marginals, strict=True):
            values = np.arange(float(table.shape[1]))
            if has_ability(self.bank):
                values = ability_values(self.bank.variable(skill))
            means.append(table @ values**power)
        return np.stack(means, axis=1)

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
        return person_fit(beliefs_given_anyway(self.bank, self.responses.codes[rows]).alone(0))

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
        is_known, shares = known != MISSING, []
        sizes = np.array([is_known.all(axis=1).sum(), is_known.sum(), *is_known.sum(axis=0)])
        for found in (self.profiles, self.levels):
            right = found == known  # never where the level is not known
            hits = np.array([right.all(axis=1).sum(), right.sum(), *right.sum(axis=0)])
            nothing = np.full(len(sizes), np.nan)
            shares.append(np.divide(hits, sizes, out=nothing, where=sizes > 0).tolist())
        profiles, marginals = shares
        skills = map(SkillAgreement, self.bank.skills, profiles[2:], marginals[2:])
        return Agreement(
            n_examinees=int(sizes[0]),
            pattern_accuracy=profiles[0],
            pattern_accuracy_marginals=marginals[0],
            attribute_accuracy=profiles[1],
            attribute_accuracy_marginals=marginals[1],
            skills=tuple(skills),
        )

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
    data = responses_to(bank, responses).for_bank(bank)
    rows, inverse, counts = data.patterns
    size = max(1, _CELLS // min(n_profiles(bank), TABLE_PROFILES))
    joints: _Joints = [{} for _ in range(1 + len(bank.skills))]
    parts: list[dict[str, Any]] = []
    for start in range(0, len(rows), size):
        if progress is not None:
            progress(start, len(rows))
        some = slice(start, start + size)
        parts.append(_classified(bank, rows[some], counts[some], joints))
    if progress is not None:
        progress(len(rows), len(rows))

    def joined(arrays: Sequence[NDArray[Any]]) -> NDArray[Any]:
        return sealed(np.concatenate(arrays)[inverse])

    marginals = [joined(of) for of in zip(*(part.pop("marginals") for part in parts), strict=True)]
    found = {name: joined([part[name] for part in parts]) for name in parts[0]}
    whole, *each = map(_consistency, joints or [{}] * (1 + len(bank.skills)))
    skills = (
        SkillReliability(skill, float(table.max(axis=1).mean()), consistency)
        for skill, table, consistency in zip(bank.skills, marginals, each, strict=True)
    )
    reliability = Reliability(float(found["probabilities"].mean()), whole, tuple(skills))
    return Classification(
        bank=bank, responses=data, marginals=tuple(marginals), reliability=reliability, **found
    )


def _classified(
    bank: ItemBank,
    rows: NDArray[np.signedinteger[Any]],
    counts: NDArray[np.intp],
    joints: _Joints,
) -> dict[str, Any]:
    """Return the fields of a `Classification` for some response patterns."""
    beliefs = beliefs_given_anyway(bank, rows)
    best = beliefs.profile()
    marginals = [beliefs.marginal(skill) for skill in bank.skills]
    posteriors = beliefs.table
    if joints and posteriors is not None:  # without other hidden variables, whose axes come last
        n = math.prod([bank.variable(skill).n_states for skill in bank.skills])
        posteriors = posteriors.reshape(len(rows), n, posteriors.shape[1] // n).sum(axis=-1)
        _add_examinees(joints, best, marginals, posteriors * counts[:, None])
    return {
        "profiles": best.levels,
        "probabilities": best.probabilities,
        "marginals": marginals,
        "entropy": beliefs.entropy,
        "log_evidence": beliefs.log_evidence,
        "fit": _standardized_fit(bank, rows, best.levels),
        "impossible": beliefs.error_chance > 0,
    }


# --- Person fit -----------------------------------------------------------------------------------

MISFIT = -1.645
"""Below this an examinee's responses fit badly: the 5 % point of a normal distribution."""

_LEAST = 1e-12
"""Replaces a probability of zero, so that its logarithm is finite."""


def _standardized_fit(
    bank: ItemBank, responses: NDArray[np.signedinteger[Any]], levels: NDArray[np.intp]
) -> Floats:
    """Return l_z of each examinee, ``(examinees,)``; NaN if no response is uncertain.

    Parameters
    ----------
    bank
        The bank. Items that depend on more than skills are left out.
    responses
        ``(examinees, items)``, `MISSING` where there is none.
    levels
        ``(examinees, skills)``, the most probable profiles.
    """
    place = {skill: column for column, skill in enumerate(bank.skills)}
    deviation, variance = np.zeros(len(responses)), np.zeros(len(responses))
    for number, name in enumerate(bank.item_names):
        cause = bank.cause(name)
        if not set(cause) <= set(place):
            continue
        sizes = [bank.variable(skill).n_states for skill in cause]
        columns = tuple(levels[:, place[skill]] for skill in cause)
        rows = np.ravel_multi_index(columns, sizes)
        channel = bank.channel(name)
        logs = np.log(np.maximum(channel, _LEAST))
        mean = (channel * logs).sum(axis=1)
        spread = (channel * logs**2).sum(axis=1) - mean**2
        given = responses[:, number] != MISSING
        own = logs[rows, np.maximum(responses[:, number], 0)]
        deviation += np.where(given, own - mean[rows], 0.0)
        variance += np.where(given, np.maximum(spread[rows], 0.0), 0.0)
    fit = np.full(len(responses), np.nan)
    np.divide(deviation, np.sqrt(variance), out=fit, where=variance > _LEAST)
    return fit


# --- Reliability ----------------------------------------------------------------------------------

_MOST_CELLS = 2**25
"""The limit of the cells of h; for more the consistency is not computed."""


@dataclass(frozen=True)
class SkillReliability(Value):
    """How reliably one skill is classified."""

    skill: str
    """The name of the skill."""
    accuracy: float
    """The chance that the most probable level is the true one."""
    consistency: float
    """The chance that two administrations find the same level; NaN if not computed."""


@dataclass(frozen=True)
class Reliability(Value):
    """How reliably a test classifies, if the bank holds."""

    accuracy: float
    """The chance that the most probable profile is the true one."""
    consistency: float
    """The chance that two administrations find the same profile; NaN if not computed."""
    skills: tuple[SkillReliability, ...]
    """Each skill by itself."""


_Joints: TypeAlias = list[dict[int, Floats]]
"""h of the whole profile, then of each skill: a row of profiles for each classification.

Empty if there would be too many cells.
"""


def _add_examinees(
    joints: _Joints, best: BatchProfiles, marginals: Sequence[Floats], masses: Floats
) -> None:
    """Add some examinees to h.

    Parameters
    ----------
    joints
        h so far.
    best
        The most probable profiles.
    marginals
        For each skill ``(examinees, levels)``.
    masses
        ``(examinees, profiles)``: the posterior of each, times the number of such examinees.
    """
    sizes = [table.shape[1] for table in marginals]
    whole = np.ravel_multi_index(tuple(best.levels.T), sizes)
    classes = [whole, *(table.argmax(axis=1) for table in marginals)]
    for joint, found in zip(joints, classes, strict=True):
        for one in np.unique(found).tolist():
            joint[one] = joint.get(one, 0.0) + masses[found == one].sum(axis=0)
    if len(joints[0]) * masses.shape[1] > _MOST_CELLS:
        joints.clear()


def _consistency(joint: Mapping[int, Floats]) -> float:
    """Return P_c of one h, which is not scaled; NaN if it is empty."""
    if not joint:
        return float("nan")
    table = np.stack(list(joint.values()))
    mean = table.sum(axis=0)
    shares = np.divide(table**2, mean, out=np.zeros_like(table), where=mean > 0)
    return float(shares.sum() / mean.sum())
