"""Models of item response theory by the names that users of mirt and TAM know.

A model says which curve the items have, what is learned of the ability, and which priors apply.
`learn_irt` starts from the shares of the responses and learns a bank of one ability.

References
----------
The names are those of R. P. Chalmers, "mirt: a multidimensional item response theory package for
the R environment", J. Stat. Softw. 2012. The priors of the 3PL and the 4PL are those of M.
Zimowski, E. Muraki, R. Mislevy and R. D. Bock, *BILOG-MG*, 1996, for five alternatives.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bnmind._arguments import checked
from bnmind._messages import counted
from bnmind._values import Value
from bnmind.adaptive.beliefs import MISSING
from bnmind.adaptive.estimates import has_ability
from bnmind.adaptive.formulas import ResponseModel, parameter_vector, with_parameters
from bnmind.adaptive.items.bank import ItemBank, irt_bank
from bnmind.adaptive.items.skill_distributions import AbilityGrid
from bnmind.adaptive.learning.blocks import LearningOptions, Priors
from bnmind.adaptive.learning.learn import Learned, learn
from bnmind.adaptive.models import GradedResponse, Logistic, Nominal, PartialCredit
from bnmind.adaptive.responses import Responses
from bnmind.errors import InvalidModelError, TableError
from bnmind.information import Floats

if TYPE_CHECKING:
    import pandas

IRT_GRID = AbilityGrid.normal(n_points=61, reach=6.0)
"""The default abilities: 61 from −6 to 6, as in mirt."""

_FLAT = 0.2
"""The first slope of an item that falls, as a share, where slopes must be positive."""

_MOST_ITEMS = 5
"""The most items that an error names."""


@dataclass(frozen=True)
class IrtModel(Value):
    """A model of item response theory with one ability."""

    about: str
    """A short description."""
    curve: Callable[[Floats], ResponseModel]
    """Returns the first response model of an item from the shares of its responses."""
    _: KW_ONLY
    most_responses: int | None = None
    """The largest number of responses to an item; None for any number."""
    has_equal_slopes: bool = False
    """Whether all slopes are 1, and the deviation of the ability is learned."""
    priors: Priors = field(default_factory=Priors)
    """The priors of asymptotes and slopes."""

    @classmethod
    @checked
    def of(cls, bank: ItemBank) -> IrtModel:
        """Return the model of a bank of curves.

        It has equal slopes if all slopes are 1, and the priors of the 3PL or the 4PL if there are
        such asymptotes.

        Raises
        ------
        InvalidModelError
            If the bank is not one of curves of an ability.
        """
        if not has_curves(bank):
            raise InvalidModelError(
                ["expected a bank of curves of one ability, or a model of them"]
            )
        gates: list[Any] = [item.gate for item in bank.items]
        curves = [gate for gate in gates if isinstance(gate, Logistic)]
        name = "3PL" if any(gate.lower > 0 for gate in curves) else "2PL"
        name = "4PL" if any(gate.upper < 1 for gate in curves) else name
        equal = all(getattr(gate, "slope", None) == 1 for gate in gates)
        return replace(IRT_MODELS[name], has_equal_slopes=equal)

    @checked
    def start(
        self,
        responses: Responses | pandas.DataFrame | ArrayLike,
        *,
        grid: AbilityGrid | None = None,
    ) -> ItemBank:
        """Return the bank that learning starts from: curves that fit the shares of the responses.

        The curves rise, or fall if the responses to an item fall where those to most others rise.

        Parameters
        ----------
        responses
            The responses; the largest of each item is taken for its best one.
        grid
            The abilities; by default 61 from −6 to 6, as in mirt.

        Raises
        ------
        InvalidModelError
            If an item has more responses than the model allows.
        TableError
            If all responses are above 0, as in a scale from 1 to 5.
        """
        data = Responses.of(responses)
        given = data.codes[data.codes != MISSING]
        if given.size and given.min() > 0 and given.max() > 1:
            raise TableError(
                [
                    "no response is 0; responses count from 0, the worst, so subtract"
                    f" {int(given.min())} from each (--lowest {int(given.min())})"
                ]
            )
        sizes = np.maximum(data.codes.max(axis=0, initial=0) + 1, 2).tolist()
        most = max(sizes) if self.most_responses is None else self.most_responses
        problems = [
            f"item {name} has {n} responses, the model {most}"
            for name, n in zip(data.items, sizes, strict=True)
            if n > most
        ]
        if problems:
            names = [n for n, known in IRT_MODELS.items() if known.most_responses is None]
            more = (
                f"models for more responses are {', '.join(names)}; --ignore leaves out a column"
                " that is no item, and --missing declares a number that stands for a missing"
                " response"
            )
            hidden = len(problems) - _MOST_ITEMS
            others = [f"{counted(hidden, 'other item')} too"] if hidden > 0 else []
            raise InvalidModelError([*problems[:_MOST_ITEMS], *others, more])
        models = []
        for codes, n, fall in zip(data.codes.T, sizes, _falling_items(data), strict=True):
            counts = np.bincount(codes[codes >= 0], minlength=n) + 0.5
            curve = self.curve(counts / counts.sum())
            if fall and not self.has_equal_slopes:
                n_slopes = n - 1 if isinstance(curve, Nominal) else 1
                numbers = parameter_vector(curve)
                numbers[:n_slopes] *= -1.0 if self.priors.slope is None else _FLAT
                curve = with_parameters(curve, numbers)
            models.append(curve)
        return irt_bank(models, grid or IRT_GRID, items=list(data.items))

    @checked
    def options(self, start: ItemBank, options: LearningOptions | None = None) -> LearningOptions:
        """Return the options with which the model is learned.

        The ability stays as it is, or its deviation is learned and slopes are 1 if the model has
        equal slopes. The priors are those of the model unless the options have others.

        Parameters
        ----------
        start
            The bank that `start` made, or a learned bank of one ability to learn anew.
        options
            Other options.

        Examples
        --------
        >>> model = IRT_MODELS["rasch"]
        >>> model.options(model.start([[0, 1], [1, 0]])).scaled
        frozenset({'ability'})
        """
        asked = options or LearningOptions()
        priors = self.priors if asked.priors == Priors() else asked.priors
        abilities = frozenset(start.skills)
        if not self.has_equal_slopes:
            return replace(asked, priors=priors, fixed=abilities.union(asked.fixed))
        bounds = {n: replace(asked.bounds_of(n), slope=(1.0, 1.0)) for n in start.item_names}
        scaled = abilities.union(asked.scaled)
        return replace(asked, priors=priors, bounds=bounds, scaled=scaled)


def _logit(share: float) -> float:
    return math.log(share / (1 - share))


def _logistic(shares: Floats, lower: float = 0.0, upper: float = 1.0) -> Logistic:
    right = (float(shares[-1]) - lower) / (upper - lower)
    return Logistic(1.0, -1.2 * _logit(min(max(right, 0.02), 0.98)), lower, upper)


def _graded(shares: Floats) -> GradedResponse:
    above = np.cumsum(shares[::-1])[::-1][1:]
    return GradedResponse(1.0, tuple(-1.2 * _logit(share) for share in above.tolist()))


def _partial_credit(shares: Floats) -> PartialCredit:
    return PartialCredit(1.0, tuple(np.log(shares[:-1] / shares[1:]).tolist()))


def _nominal(shares: Floats) -> Nominal:
    slopes = np.arange(1, len(shares)) / (len(shares) - 1)
    return Nominal(tuple(slopes.tolist()), tuple(np.log(shares[1:] / shares[0]).tolist()))


_GUESS = Priors(guess=(5.0, 17.0), slope=(0.0, 0.5))
_BOTH = Priors(guess=(5.0, 17.0), slip=(5.0, 17.0), slope=(0.0, 0.5))
_RASCH = IrtModel(
    "equal slopes; the deviation of the ability is learned",
    _logistic,
    most_responses=2,
    has_equal_slopes=True,
)

IRT_MODELS: Mapping[str, IrtModel] = MappingProxyType(
    {
        "rasch": _RASCH,
        "1PL": replace(_RASCH, about="the same model"),
        "2PL": IrtModel("slope and difficulty", _logistic, most_responses=2),
        "3PL": IrtModel(
            "a lower asymptote too; priors",
            lambda shares: _logistic(shares, 0.2),
            most_responses=2,
            priors=_GUESS,
        ),
        "4PL": IrtModel(
            "both asymptotes; priors",
            lambda shares: _logistic(shares, 0.2, 0.95),
            most_responses=2,
            priors=_BOTH,
        ),
        "graded": IrtModel("graded responses (GRM, Samejima)", _graded),
        "pcm": IrtModel(
            "partial credit with equal slopes (Masters)", _partial_credit, has_equal_slopes=True
        ),
        "gpcm": IrtModel("generalized partial credit (Muraki)", _partial_credit),
        "nominal": IrtModel("responses without an order (Bock)", _nominal),
    }
)
"""The models by name."""


def _falling_items(data: Responses) -> NDArray[np.bool_]:
    """Return which items fall in the direction in which the responses of most items rise together.

    It is that of the first principal component of the responses.
    """
    given = data.codes != MISSING
    codes = np.where(given, data.codes, 0).astype(np.float64)
    counts = np.maximum(given.sum(axis=0), 1)
    away = np.where(given, codes - codes.sum(axis=0) / counts, 0.0)
    away /= np.maximum(np.sqrt((away**2).sum(axis=0) / counts), 1e-9)
    loads = np.linalg.eigh(away.T @ away)[1][:, -1]
    falls: NDArray[np.bool_] = loads * (1.0 if loads.sum() >= 0 else -1.0) < 0
    return falls


def has_curves(bank: ItemBank) -> bool:
    """Return whether a bank has one ability, and all its items have curves of it."""
    return has_ability(bank) and all(
        hasattr(item.gate, "fisher_information") for item in bank.items
    )


@checked
def learn_irt(
    responses: Responses | pandas.DataFrame | ArrayLike,
    model: IrtModel,
    *,
    grid: AbilityGrid = IRT_GRID,
    options: LearningOptions | None = None,
    title: str | None = None,
    source: str | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Learned:
    """Learn a bank of one ability from responses alone.

    Parameters
    ----------
    responses
        The responses; see `Responses.of`.
    model
        The model, such as ``IRT_MODELS["2PL"]``.
    grid
        The abilities and their distribution.
    options
        The options of `learn`, to which those of the model are added; see `IrtModel.options`.
    title, source, progress
        As for `learn`.

    Raises
    ------
    InvalidModelError
        If an item has more responses than the model allows.
    TableError
        If the responses are not valid.

    Examples
    --------
    >>> answers = [[0, 0, 0], [0, 0, 1], [1, 0, 0], [1, 1, 0], [1, 0, 1], [1, 1, 1]]
    >>> learn_irt(answers, IRT_MODELS["rasch"]).n_parameters
    4
    """
    data = Responses.of(responses)
    data.require_answers()
    start = model.start(data, grid=grid)
    return learn(
        data,
        start,
        options=model.options(start, options),
        title=title,
        source=source,
        progress=progress,
    )
