"""Item banks: skills and items as one Bayesian network."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bnmind._arguments import checked, checked_if_it_fails
from bnmind._display import MOST_ROWS, table_html
from bnmind._messages import close_names, counted, did_you_mean, shown
from bnmind._values import Value, sealed, told
from bnmind.adaptive.formulas import ResponseModel
from bnmind.adaptive.items.item import (
    Certainty,
    Item,
    certainty_faults,
    deviations,
    mean_table,
    with_table,
)
from bnmind.adaptive.items.qmatrix import QMatrix, bank_parts, models_for, skill_cpds
from bnmind.adaptive.items.skill_distributions import ABILITY, AbilityGrid, ProfileDistribution
from bnmind.adaptive.models import Logistic, gate_of
from bnmind.adaptive.skill_models import Dina
from bnmind.errors import InvalidArgumentError, InvalidModelError, UnknownNameError
from bnmind.information import Floats
from bnmind.pgm import CPD, FunctionalCPD, Network, Variable
from bnmind.pgm.variable import format_label

if TYPE_CHECKING:
    import pandas

# --- The faults of an item bank: names, structure, and response models ----------------------------

_CHECKED_CELLS = 2**16
"""Tables of more cells are not compared with their response models."""


def _faults_of(
    network: Network, skills: Sequence[str], items: Sequence[Item], labels: Sequence[str]
) -> list[str]:
    """Return all faults of the parts of a bank; if names are wrong, only those."""
    return (
        _name_faults(network, skills, items, labels)
        or _structure_faults(network, skills, items)
        or [fault for item in items for fault in _model_faults(network.cpd(item.name), item)]
    )


def _name_faults(
    network: Network, skills: Sequence[str], bank_items: Sequence[Item], labels: Sequence[str]
) -> list[str]:
    """Return a fault for each name that is unknown, repeated or missing."""
    items = [item.name for item in bank_items]
    known = {v.name: v for v in network.variables}
    both = (("skill", skills), ("item", items))
    problems = [
        f"the {kind} {name} occurs more than once"
        for kind, names in both
        for name in sorted(name for name, count in Counter(names).items() if count > 1)
    ]
    problems += [
        f"{name} cannot be both a skill and an item" for name in sorted({*skills} & {*items})
    ]
    problems += [
        f"the network has no variable for {kind} {name}{_meant(name, known)}"
        for kind, names in both
        for name in names
        if name not in known
    ]
    if len(labels) != len(skills):
        problems.append(f"expected {len(skills)} labels of skills, got {len(labels)}")
    problems += [f"a bank needs at least one {kind}" for kind, names in both if not names]
    are_items = frozenset(items)
    problems += [
        f"{other}, an enemy of {item.name}, is not an item"
        for item in bank_items
        for other in item.enemies
        if other not in are_items
    ]
    return problems


def _meant(name: str, known: Iterable[str]) -> str:
    """Return the question whether a similar variable is meant; empty if there is none."""
    question = did_you_mean(close_names(name, known))
    return f"; {question}" if question else ""


def _structure_faults(
    network: Network, skills: Sequence[str], bank_items: Sequence[Item]
) -> list[str]:
    """Return a fault for each item or skill in a wrong place of the network."""
    items = [item.name for item in bank_items]
    problems = [
        f"item {name} must not have children, but has {children[-1]}"
        for name in items
        if (children := network.children(name))
    ]
    problems += [
        f"{name} needs at least two {what}, got {network.variable(name).n_states}"
        for what, names in (("levels", skills), ("responses", items))
        for name in names
        if network.variable(name).n_states < 2
    ]
    below, measured = set(network.descendants(skills)), set(network.ancestors(items))
    problems += [f"item {name} depends on no skill" for name in items if name not in below]
    problems += [f"no item depends on skill {name}" for name in skills if name not in measured]
    return problems


def _model_faults(cpd: CPD, item: Item) -> list[str]:
    """Return what is wrong with an item: its choices, its response model, or its certainty.

    Its distribution must be that of the response model.
    """
    states = cpd.variable.states
    strange = [text for text, response in item.choices if response not in states]
    if strange:
        return [
            f"the choice {strange[0]} of item {item.name} must count as one of its responses:"
            f" {', '.join(states)}"
        ]
    if not (item.gate is None or cpd.n_cells > _CHECKED_CELLS or isinstance(cpd, FunctionalCPD)):
        try:
            expected = item.gate.cpd(cpd.variable, cpd.parents)
        except InvalidModelError as fault:
            return list(fault.problems)
        if expected is not cpd and not np.allclose(
            expected.to_factor().values, cpd.to_factor().values, rtol=0, atol=1e-9
        ):
            return [
                f"the distribution of {item.name} is not that of its response model {item.gate}"
            ]
    return list(certainty_faults(item, cpd))


# --- Item banks: a network in which some variables are skills and some are items ------------------

_STACKED_CELLS = 2**20
"""All channels are stored in one padded array if it has at most this many cells."""


@dataclass(frozen=True, eq=False)
class ItemBank(Value):
    """Items, the skills that they measure, and the network that relates them.

    Parameters
    ----------
    network
        A network with a variable for each skill and each item. Items are leaves with any
        number of responses, the worst first. All other variables are hidden, like skills.
    skills
        The names of the skills.
    items
        The items; each has a variable of the same name.
    title, source
        The title of the bank, and the origin of its parameters.
    labels
        The full names of the skills, in the order of ``skills``; default their names.

    Raises
    ------
    InvalidModelError
        If a name is unknown or repeated, an item has children or depends on no skill, no
        item depends on a skill, an enemy is unknown, or an item's distribution differs
        from its response model. All faults are reported at once.

    Examples
    --------
    >>> bank = ItemBank.from_qmatrix([[1, 0], [1, 1]], guess=0.2, slip=0.1)
    >>> bank
    ItemBank(2 items, 2 skills)
    >>> bank.cause("item_2"), bank.channel("item_2")[:, 1].tolist()
    (('skill_1', 'skill_2'), [0.2, 0.2, 0.2, 0.9])
    """

    network: Network
    skills: tuple[str, ...]
    items: tuple[Item, ...]
    title: str = field(default="", kw_only=True)
    source: str = field(default="", kw_only=True)
    labels: tuple[str, ...] = field(default=(), kw_only=True)

    _error = InvalidModelError

    def __post_init__(self) -> None:
        super().__post_init__()
        self._set(labels=self.labels or self.skills)

    def _faults(self) -> list[str]:
        return _faults_of(self.network, self.skills, self.items, self.labels or self.skills)

    @classmethod
    @checked
    def from_network(
        cls,
        model: Any,
        skills: Iterable[str | int],
        items: Iterable[Item | str | int] | None = None,
    ) -> ItemBank:
        """Return the bank of a network, given the names of its skills and items.

        Parameters
        ----------
        model
            A `Network`, or a model of pgmpy.
        skills
            The names of the skills.
        items
            The items, or their names; default all leaves that are not skills.
        """
        if not isinstance(model, Network):
            from bnmind.pgm.formats.pgmpy_bridge import from_pgmpy

            model = from_pgmpy(model)
        named = tuple(map(format_label, skills))
        if items is None:
            parents = {v.name for cpd in model.cpds for v in cpd.parents}
            items = [v.name for v in model.variables if v.name not in parents | set(named)]
        bank_items = tuple(i if isinstance(i, Item) else Item(format_label(i)) for i in items)
        return cls(model, named, bank_items)

    @classmethod
    @checked
    def from_qmatrix(
        cls,
        q_matrix: QMatrix | ArrayLike | pandas.DataFrame,
        guess: ArrayLike = 0.2,
        slip: ArrayLike = 0.1,
        gate: str | Callable[..., ResponseModel] = Dina,
        *,
        skills: ProfileDistribution | Network | None = None,
        levels: int | Sequence[int] = 2,
        items: Sequence[Item | str | int] | None = None,
        skill_names: Sequence[str | int] | None = None,
    ) -> ItemBank:
        """Return a bank of items with two responses, from the skills that each item needs.

        Parameters
        ----------
        q_matrix
            ``(items, skills)`` of 0 and 1; for skills with more levels, the required
            level. The names are taken from a data frame: its columns, and its index or a
            column ``item``.
        guess, slip
            The probability of a right response without the required skills, and of a
            wrong response with them; one number, or one for each item.
        gate
            The response model: `Dina`, `Dino`, `Acdm`, `Llm`, `Rrum`, `NoisyAnd` or another
            class that is registered for Q-matrices; its name, such as ``"gdina"``; or a function
            of guess and slip.
        skills
            The distribution of the skills; default `Saturated`, uniform. A network must
            have variables named as the skills.
        levels
            The number of levels of the skills: one number, or one for each.
        items
            The items or their names, in the order of the rows.
        skill_names
            The names of the skills, in the order of the columns.

        Raises
        ------
        InvalidModelError
            If an item needs no skill, no item needs a skill, names are repeated, or a
            parameter is out of range; the message names row and column.
        """
        q = QMatrix.of(q_matrix, items=items, skills=skill_names)
        cpds = skill_cpds(q, skills, levels)
        models = models_for(q, cpds, gate_of(gate), guess=guess, slip=slip)
        return cls(*bank_parts(q, models, cpds))

    @classmethod
    @checked
    def from_response_models(
        cls,
        q_matrix: QMatrix | ArrayLike | pandas.DataFrame,
        response_models: Sequence[ResponseModel],
        *,
        skills: ProfileDistribution | Network | None = None,
        levels: int | Sequence[int] = 2,
        items: Sequence[Item | str | int] | None = None,
        skill_names: Sequence[str | int] | None = None,
    ) -> ItemBank:
        """Return a bank in which each item has a response model of its own.

        As `from_qmatrix`, but with ``response_models``, one for each row of the Q-matrix.
        Models determine the required levels and the number of responses themselves.

        Parameters
        ----------
        q_matrix
            ``(items, skills)``, the level that each item needs of each skill; 0 for none.
        response_models
            The response model of each item.
        skills
            The distribution of the skills; saturated and uniform if None.
        levels
            The number of levels of each skill; the fewest that fit if None.
        items
            The names of the items; all if None.
        skill_names
            The names of the skills.
        """
        q = QMatrix.of(q_matrix, items=items, skills=skill_names)
        return cls(*bank_parts(q, response_models, skill_cpds(q, skills, levels)))

    def __repr__(self) -> str:
        title = f"{self.title}: " if self.title else ""
        skills = counted(len(self.skills), "skill")
        return f"ItemBank({title}{counted(len(self.items), 'item')}, {skills})"

    def _repr_html_(self) -> str:
        """Return the first items and what they need as an HTML table, which notebooks display."""
        first = self.items[:MOST_ROWS]
        rows = [(item.name, ", ".join(self.cause(item.name)), item.content) for item in first]
        heads = ("item", "skills", "content")
        return table_html(heads, rows, caption=repr(self), n_rows=len(self.items))

    @checked
    def with_title(self, title: str, source: str = "") -> ItemBank:
        """Return this bank with a title, and the source of its parameters.

        Parameters
        ----------
        title
            A title, for reports.
        source
            Where the parameters are from.

        Examples
        --------
        >>> ItemBank.from_qmatrix([[1, 0], [1, 1]]).with_title("Fractions")
        ItemBank(Fractions: 2 items, 2 skills)
        """
        return replace(self, title=title, source=source)

    def averaged(self) -> ItemBank:
        """Return a bank whose items have the mean of their tables over uncertain parameters.

        Selection and posteriors with this bank carry the uncertainty of the parameters, exactly
        if the parameters of different items are independent. Items without a certainty do not
        change. A curve becomes a table, so selectors by Fisher information cannot be used.

        Examples
        --------
        >>> from bnmind.adaptive import TableCertainty
        >>> item = Item("a", certainty=TableCertainty([[9, 3], [1, 1]], (0, 1)))
        >>> bank = ItemBank.from_qmatrix([[1]], 0.2, 0.0, items=[item])
        >>> bank.averaged().channel("a").tolist()
        [[0.75, 0.25], [0.5, 0.5]]
        """
        changed = {}
        for item in self.items:
            if item.certainty is not None:
                cpd = self.network.cpd(item.name)
                changed[item.name] = with_table(item, cpd, mean_table(item, cpd))
        return with_tables(self, changed) if changed else self

    @checked
    def with_certainties(self, certainties: Mapping[str, Certainty]) -> ItemBank:
        """Return a bank that knows how sure the parameters of some items are.

        Parameters
        ----------
        certainties
            The certainties of some items, by name; those of other items stay.

        Raises
        ------
        UnknownNameError
            If the bank has no such item.
        InvalidModelError
            If a certainty does not fit its item.
        """
        items = list(self.items)
        for name, certainty in certainties.items():
            place = self.position(name)
            items[place] = replace(items[place], certainty=certainty)
        return replace(self, items=tuple(items))

    @cached_property
    def item_names(self) -> tuple[str, ...]:
        """The names of the items, in order."""
        return tuple(item.name for item in self.items)

    @cached_property
    def _place(self) -> dict[str, int]:
        return {name: place for place, name in enumerate(self.item_names)}

    @cached_property
    def _states(self) -> tuple[tuple[str, ...], ...]:
        return tuple(self.network.variable(name).states for name in self.item_names)

    def position(self, item: str) -> int:
        """Return the position of an item in ``items``; raises `UnknownNameError`.

        Parameters
        ----------
        item
            The name of an item.

        Raises
        ------
        UnknownNameError
            If the bank has no such item.
        InvalidArgumentError
            If the name is not text.
        """
        try:
            return self._place[item]
        except (KeyError, TypeError):
            # Selection calls this for every item, so the types are checked only here.
            if isinstance(item, str):
                raise UnknownNameError("item", item, self.item_names) from None
            raise InvalidArgumentError(
                f"ItemBank.position: expected item to be text, got {told(item)}", item
            ) from None

    @checked_if_it_fails
    def item(self, name: str) -> Item:
        """Return the item with the name `name`."""
        return self.items[self.position(name)]

    @checked_if_it_fails
    def variable(self, name: str) -> Variable:
        """Return the variable of the skill or the item `name`."""
        return self.network.variable(name)

    @checked_if_it_fails
    def responses(self, item: str) -> tuple[str, ...]:
        """Return the names of the responses to the item `item`, the worst first."""
        return self._states[self.position(item)]

    @checked_if_it_fails
    def response(self, item: str, response: int | str) -> int:
        """Return the position of a `response` to an `item`, given by position or by name.

        Raises
        ------
        InvalidArgumentError
            If the item has no such response.
        """
        states = self._states[self.position(item)]
        if isinstance(response, str) and response in states:
            return states.index(response)
        is_position = isinstance(response, int | np.integer) and not isinstance(response, bool)
        if is_position and 0 <= int(response) < len(states):
            return int(response)
        raise InvalidArgumentError(
            f"expected a response to {item} among {', '.join(states)}, got {shown(response)}",
            response,
        )

    @checked_if_it_fails
    def enemies(self, item: str) -> frozenset[str]:
        """Return the items that must not be asked in the same test as `item`.

        Enemies are mutual: one of the two needs to name the other.
        """
        own = self.item(item).enemies
        return frozenset({*own, *(other.name for other in self.items if item in other.enemies)})

    @cached_property
    def hidden(self) -> tuple[Variable, ...]:
        """The skills, then the other hidden variables on which skills or items depend."""
        others = {*self.network.ancestors((*self.skills, *self.item_names))}
        others -= {*self.skills, *self.item_names}
        skills = (self.network.variable(name) for name in self.skills)
        return (*skills, *(v for v in self.network.variables if v.name in others))

    def hidden_network(self) -> Network:
        """Return the network of the hidden variables alone."""
        return Network(tuple(self.network.cpd(v.name) for v in self.hidden))

    @cached_property
    def _causes(self) -> tuple[tuple[str, ...], ...]:
        order = {v.name: place for place, v in enumerate(self.hidden)}
        causes = []
        for name in self.item_names:
            parents = (v.name for v in self.network.cpd(name).parents)
            causes.append(tuple(sorted(parents, key=order.__getitem__)))
        return tuple(causes)

    @checked_if_it_fails
    def cause(self, item: str) -> tuple[str, ...]:
        """Return the parents of `item`, in the order of `hidden`."""
        return self._causes[self.position(item)]

    @cached_property
    def causes(self) -> tuple[tuple[str, ...], ...]:
        """The distinct sets of parents, in the order of the first items that have them."""
        return tuple(dict.fromkeys(self._causes))

    @cached_property
    def cause_numbers(self) -> NDArray[np.intp]:
        """The index of each item's cause in `causes`, ``(items,)``."""
        place = {cause: number for number, cause in enumerate(self.causes)}
        return sealed(np.array([place[cause] for cause in self._causes], dtype=np.intp))

    @checked_if_it_fails
    def n_configurations(self, cause: Sequence[str]) -> int:
        """Return the number of configurations of the variables `cause`."""
        return math.prod(self.network.variable(name).n_states for name in cause)

    @cached_property
    def item_channels(self) -> tuple[Floats, ...]:
        """The channel of each item, by its position; see `channel`."""
        channels = []
        for name, cause in zip(self.item_names, self._causes, strict=True):
            table = np.real(self.network.cpd(name).to_factor().sum_to((name, *cause)).values)
            channels.append(sealed(np.ascontiguousarray(table.reshape(len(table), -1).T)))
        return tuple(channels)

    @checked_if_it_fails
    def channel(self, item: str) -> Floats:
        """Return the chance of each response to `item`, ``(parent configurations, responses)``.

        The rows sum to one; the last variable of `cause` changes fastest.
        """
        return self.item_channels[self.position(item)]

    @checked_if_it_fails
    def channels(self, items: Sequence[str] | None = None) -> Floats:
        """Return the channels of `items`, by default all, ``(items, configurations, responses)``.

        Items with fewer configurations or responses than others are padded with zeros.
        """
        if items is None:
            items = self.item_names
        positions = [self.position(name) for name in items]
        if self._stack is not None:
            height, width = self._shapes[positions].max(axis=0, initial=1)
            return self._stack[positions, :height, :width]
        return _stacked([self.item_channels[position] for position in positions])

    @cached_property
    def _shapes(self) -> NDArray[np.intp]:
        return np.array([channel.shape for channel in self.item_channels], dtype=np.intp)

    @cached_property
    def _stack(self) -> Floats | None:
        """All channels, padded; None if the array would be too large."""
        cells = len(self.items) * int(np.prod(self._shapes.max(axis=0)))
        return _stacked(self.item_channels) if cells <= _STACKED_CELLS else None

    @cached_property
    def q_matrix(self) -> NDArray[np.bool_]:
        """Whether an item depends on a skill directly, ``(items, skills)``.

        That is, the skill is a parent, or an ancestor with no other skill between.
        """
        reached: dict[str, NDArray[np.bool_]] = dict(
            zip(self.skills, np.eye(len(self.skills), dtype=bool), strict=True)
        )
        rows = {}
        for cpd in self.network.cpds:  # parents before children
            name, nothing = cpd.variable.name, np.zeros(len(self.skills), dtype=bool)
            rows[name] = np.logical_or.reduce([nothing, *(reached[v.name] for v in cpd.parents)])
            reached.setdefault(name, rows[name])
        return sealed(np.array([rows[name] for name in self.item_names]))


def _stacked(channels: Sequence[Floats]) -> Floats:
    """Return channels in one array padded with zeros, ``(items, configurations, responses)``."""
    shape = np.max([channel.shape for channel in channels], axis=0)
    padded = np.zeros((len(channels), *shape))
    for row, channel in zip(padded, channels, strict=True):
        row[: channel.shape[0], : channel.shape[1]] = channel
    return padded


def with_tables(bank: ItemBank, changed: Mapping[str, tuple[Item, CPD]]) -> ItemBank:
    """Return a bank in which some items have other properties and another distribution."""
    items = tuple(changed[i.name][0] if i.name in changed else i for i in bank.items)
    cpds = {cpd.variable.name: cpd for cpd in bank.network.cpds}
    cpds |= {name: cpd for name, (_, cpd) in changed.items()}
    return replace(bank, network=Network(tuple(cpds.values())), items=items)


class HasBank(Protocol):
    """What has a bank, such as the result of `learn`."""

    @property
    def bank(self) -> ItemBank:
        """The bank."""


def bank_of(source: ItemBank | HasBank) -> ItemBank:
    """Return a bank, or the bank of what has one."""
    return source if isinstance(source, ItemBank) else source.bank


def cause_order(bank: ItemBank, item: str) -> NDArray[np.intp]:
    """Return the place of each configuration of `ItemBank.cause` in the order of the network."""
    parents = bank.network.cpd(item).parents
    places = np.arange(np.prod([v.n_states for v in parents], dtype=np.intp))
    table = places.reshape([v.n_states for v in parents])
    names = [v.name for v in parents]
    return table.transpose([names.index(name) for name in bank.cause(item)]).reshape(-1)


def table_deviations(bank: ItemBank, item: str) -> Floats:
    """Return how the channel of an item deviates, ``(directions, configurations, responses)``.

    The covariance of the cells is the sum over the directions of the products of their entries.
    An item without a certainty has no direction. Configurations are as in `ItemBank.channel`.
    """
    found = deviations(bank.item(item), bank.network.cpd(item))
    ordered: Floats = found[:, cause_order(bank, item)]
    return ordered


# --- Items that measure one ability ---------------------------------------------------------------
#
# The order of parameters (a, b, c, d) and D = 1 are those of catsim; its item arrays can be used.
# The curves are `Logistic` and `GradedResponse`, in `bnmind.adaptive.models`.


def _curve(number: int, curve: Any) -> ResponseModel:
    """Return a curve, or that of the parameters in a row."""
    if isinstance(curve, ResponseModel):
        return curve
    try:
        row = np.asarray(curve, dtype=np.float64)
    except (ValueError, TypeError):
        row = np.zeros(0)
    if row.ndim != 1 or not 2 <= len(row) <= 5:
        words = "expected response_models to be curves, or rows of 2 to 5 numbers"
        raise InvalidModelError([f"{words}, got {shown(curve)}"])
    try:
        return Logistic(*row[:4].tolist())
    except InvalidModelError as fault:
        raise InvalidModelError(f"{one}, in row {number}" for one in fault.problems) from fault


@checked
def irt_bank(
    response_models: Sequence[ResponseModel] | ArrayLike,
    grid: AbilityGrid | None = None,
    *,
    items: Sequence[Item | str] | None = None,
    ability: str = ABILITY,
) -> ItemBank:
    """Return the bank of items that measure one ability.

    Parameters
    ----------
    response_models
        The curve of each item: `Logistic`, `GradedResponse`, or a class of your own. Or
        ``(items, 2 to 5)``, the parameters of logistic curves as in catsim: discrimination a,
        difficulty b, and optionally pseudo-guessing c and upper asymptote d. A fifth column,
        catsim's exposure rates, is ignored.
    grid
        The abilities; default ``AbilityGrid.normal()``.
    items
        The items or their names, in the order of the response models.
    ability
        The name of the latent variable.

    Raises
    ------
    InvalidModelError
        If a parameter is out of range; the message names the row.

    Examples
    --------
    >>> bank = irt_bank([[1.2, -0.5], [0.8, 1.0]])
    >>> bank.item("item_2").gate
    Logistic(slope=0.8, difficulty=1.0, lower=0.0, upper=1.0)
    >>> bank.channel("item_1").shape
    (81, 2)
    """
    is_list = isinstance(response_models, Sequence)
    curves: Any = response_models if is_list else np.atleast_1d(np.asarray(response_models))
    models = [_curve(number, curve) for number, curve in enumerate(curves, 1)]
    network = (grid or AbilityGrid.normal()).network(ability)
    return ItemBank.from_response_models(
        np.ones((len(models), 1), dtype=np.intp),
        models,
        skills=network,
        items=items,
        skill_names=[ability],
    )
