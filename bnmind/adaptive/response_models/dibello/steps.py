"""DiBello models with a link of item response theory: graded responses, or partial credit.

An expert describes an item by the slopes and difficulties of item response theory. Each level of a
skill has an effective ability, a combination function makes one ability of those of the skills, and
a link function makes chances of it.

References
----------
R. Almond, L. DiBello, F. Jenkins, R. Mislevy, D. Senturk, L. Steinberg and D. Yan, "Models for
conditional probability tables in educational assessment", AISTATS 2001 (DiBello-Samejima); R.
Almond, "An IRT-based parameterization for conditional probability tables", BMAW 2015.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from bnmind._arguments import checked
from bnmind._messages import counted, shown
from bnmind._values import Value
from bnmind.adaptive.response_models.base.model import check_item, refuse_large, table
from bnmind.adaptive.response_models.base.parameters import Number, Scale
from bnmind.adaptive.response_models.dibello.combination import (
    Combination,
    Numbers,
    Scales,
    effective_abilities,
    flat,
    one_for_each,
)
from bnmind.adaptive.response_models.dibello.link import Link
from bnmind.errors import InvalidModelError
from bnmind.pgm import TabularCPD, Variable

__all__ = ["DiBello"]


@dataclass(frozen=True)
class DiBello(Value):
    """An expert's model: slopes and difficulties, a combination function and a link.

    Parameters
    ----------
    slopes
        The slope α of each skill, positive, or one number for all; or a tuple with such an
        entry for each response but the first. Offset functions have one slope.
    difficulties
        For each response but the first, the difficulty β of the step to it; or one number,
        for two responses. For offset functions each is a number for all skills or a tuple
        with one for each.
    combination
        The combination function, or one for each response but the first.
    link
        The link function.

    Raises
    ------
    InvalidModelError
        If a slope is not positive, or lengths differ.

    Notes
    -----
    CPTtools orders responses from the best to the worst and gives logarithms of slopes. Here
    the worst is first, as everywhere in bnmind, and slopes are not logarithms.

    Examples
    --------
    >>> from bnmind.adaptive.response_models.base.model import response_channel
    >>> skill = Variable("algebra", ("low", "medium", "high"))
    >>> item = DiBello(slopes=1.0, difficulties=(-0.5, 1.0), link=Link.GRADED_RESPONSE)
    >>> response_channel(item, [skill]).round(3).tolist()
    [[0.689, 0.277, 0.034], [0.299, 0.546, 0.154], [0.076, 0.438, 0.486]]
    """

    slopes: Scale | tuple[Scales, ...]
    difficulties: Number | tuple[Numbers, ...]
    combination: Combination | tuple[Combination, ...] = Combination.COMPENSATORY
    link: Link = Link.PARTIAL_CREDIT

    _error = InvalidModelError

    def __post_init__(self) -> None:
        if not isinstance(self.difficulties, list | tuple):
            self._set(difficulties=(self.difficulties,))
        super().__post_init__()

    def _faults(self) -> Iterator[str]:
        n = self.n_responses - 1
        if n < 1:
            yield "expected at least one difficulty, got ()"
        if not flat(self.slopes):
            yield f"expected at least one slope, got {shown(self.slopes)}"
        if isinstance(self.combination, tuple) and len(self.combination) != n:
            yield (
                f"expected {counted(n, 'combination function')}, one for each difficulty, got"
                f" {len(self.combination)}"
            )
        if self._has_slopes_for_each_step and len(self.slopes) != n:  # type: ignore[arg-type]
            yield (
                f"expected slopes for {counted(n, 'response')}, one entry for each difficulty, got"
                f" {shown(self.slopes)}"
            )

    @property
    def _has_slopes_for_each_step(self) -> bool:
        return isinstance(self.slopes, tuple) and any(isinstance(x, tuple) for x in self.slopes)

    @property
    def n_responses(self) -> int:
        """The number of difficulties plus one."""
        assert isinstance(self.difficulties, tuple)
        return len(self.difficulties) + 1

    @classmethod
    @checked
    def samejima(
        cls,
        slopes: float | tuple[float, ...],
        difficulty: float,
        increments: tuple[float, ...] = (),
        *,
        combination: Combination = Combination.COMPENSATORY,
    ) -> DiBello:
        """Return the DiBello-Samejima model: graded responses around one difficulty.

        Parameters
        ----------
        slopes
            The slope of each skill, or one for all.
        difficulty
            The difficulty in the middle of the steps.
        increments
            The distances between successive difficulties, from the worst responses to the best;
            at least 0.
        combination
            The combination function, none with offsets.

        Raises
        ------
        InvalidModelError
            If an increment is negative, or the combination has offsets of its own.

        Examples
        --------
        >>> DiBello.samejima(1.0, 0.5, (1.0,)).difficulties
        (0.0, 1.0)
        """
        if combination.is_offset:
            raise InvalidModelError([f"expected a function without offsets, got {combination}"])
        if not all(step >= 0 for step in increments):
            raise InvalidModelError([f"expected increments of at least 0, got {increments}"])
        places = np.cumsum([0.0, *increments])
        middle = places[-1] / 2
        difficulties = tuple((difficulty + places - middle).tolist())
        return cls(slopes, difficulties, combination, Link.GRADED_RESPONSE)

    @checked
    def cpd(self, item: Variable, parents: Sequence[Variable]) -> TabularCPD:
        """Return the distribution of an item, or of a skill, given skills.

        The states of each variable are from the lowest level to the highest.
        """
        check_item(item, self.n_responses)
        refuse_large(item, parents)
        assert isinstance(self.difficulties, tuple)
        n = len(self.difficulties)
        abilities = effective_abilities([v.n_states for v in parents])
        combinations = self.combination
        each = combinations if isinstance(combinations, tuple) else (combinations,) * n
        columns = []
        for step, (combination, difficulty) in enumerate(zip(each, self.difficulties, strict=True)):
            slopes = self.slopes
            if self._has_slopes_for_each_step:
                slopes = slopes[step]  # type: ignore[index]
            k, offset = len(parents), combination.is_offset
            columns.append(
                combination.effective(
                    abilities,
                    one_for_each("slopes", slopes, item, 1 if offset else k),
                    one_for_each("difficulties", difficulty, item, k if offset else 1),
                )
            )
        return table(item, parents, self.link.chances(np.stack(columns, axis=1)).T)
