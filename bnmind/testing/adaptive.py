"""The promises of selectors, stoppers and distributions of skills, and small banks to try them on.

*Selectors* select an allowed item of the best score, live and in a simulation alike. *Stoppers* end
a test for the same reason, live and in a simulation alike. *Distributions of skills* are over all
profiles, parents before children.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bnmind._arguments import checked
from bnmind.adaptive import (
    MISSING,
    SELECTORS,
    SKILL_DISTRIBUTIONS,
    STOPPERS,
    AbilityGrid,
    Design,
    Dina,
    FixedOrder,
    Item,
    ItemBank,
    LearningOptions,
    Logistic,
    MaximalItems,
    Progress,
    RandomItem,
    Responses,
    Selection,
    Selector,
    Sequential,
    Session,
    SimulationOptions,
    Stopper,
    irt_bank,
    learn,
    simulate,
    start_belief,
    start_beliefs,
)
from bnmind.adaptive.items.skill_distributions import ProfileDistribution
from bnmind.adaptive.scores import Selections
from bnmind.adaptive.selectors import generator_of
from bnmind.errors import NothingToAskError
from bnmind.pgm import Variable
from bnmind.testing.promises import Family, Promises, examples

_SEED = 7


@cache
def standard_banks() -> tuple[ItemBank, ...]:
    """Return banks of two skills, of one ability, of certain items, and of many responses."""
    equal = ItemBank.from_qmatrix([*_NEEDS, [1, 1]], guess=0.25, slip=0.25)
    curves = [Logistic(slope, at) for slope, at in ((1, 0), (2, -1), (0.5, 1), (1.5, 0.5))]
    ability = irt_bank(curves, AbilityGrid.normal(n_points=9))
    certain = ItemBank.from_qmatrix(_NEEDS, guess=0.0, slip=0.0)
    return _skills_in_order(0, 1), equal, ability, certain, _many_responses()


def _many_responses() -> ItemBank:
    """Return a bank of items of two, three and four responses, with a skill of three levels."""
    needs = [[2, 0], [1, 1], [0, 1], [2, 1]]
    models = []
    for row, n_steps in zip(needs, (2, 1, 3, 2), strict=True):
        levels = tuple(level for level in row if level)
        errors = ((0.05, 0.02), (0.1, 0.05), (0.2, 0.1))[:n_steps]
        models.append(Sequential(tuple(Dina(*error, required=levels) for error in errors)))
    return ItemBank.from_response_models(needs, models, levels=[3, 2])


@cache
def turned_banks() -> tuple[ItemBank, ItemBank]:
    """Return the same bank twice, with its skills in another order."""
    return _skills_in_order(0, 1), _skills_in_order(1, 0)


_NEEDS = ((1, 0), (1, 1), (0, 1), (1, 0), (0, 1))
_CHANCES = ((0.1, 0.2), (0.3, 0.1), (0.2, 0.05), (0.15, 0.15), (0.05, 0.3))


def _skills_in_order(*order: int) -> ItemBank:
    """Return a bank of two skills, in this order; costs and times differ by the item."""
    items = [
        Item(f"item_{n}", content="xyz"[n % 3], cost=0.1 * (1 + n % 2), time=0.3 + 0.1 * n)
        for n in range(1, 6)
    ]
    return ItemBank.from_qmatrix(
        [[row[skill] for skill in order] for row in _NEEDS],
        guess=[guess for guess, _ in _CHANCES],
        slip=[slip for _, slip in _CHANCES],
        items=items,
        skill_names=[f"skill_{skill + 1}" for skill in order],
    )


class Course(NamedTuple):
    """The course of a test."""

    asked: tuple[str, ...]
    """The items asked, in order."""
    reason: str
    """The reason to stop."""

    def __str__(self) -> str:
        return f"{' '.join(self.asked)} ({self.reason})"


@dataclass(frozen=True, eq=False)
class _DesignOfExaminee(Design):
    """A design with the luck of an examinee of a simulation."""

    number: int = 0

    def rng(self, step: int) -> np.random.Generator:
        """Return the generator of a question; a live test draws as the first examinee."""
        if self.number:
            return generator_of(self.seed, step, examinee=self.number)
        return super().rng(step)


def answers_to(bank: ItemBank, n: int, *, seed: int = 0) -> NDArray[np.intp]:
    """Return random responses to all items, ``(n, items)``; the first two rows are constant.

    Where items are certain, the others are answers of drawn examinees, since they must be possible.

    >>> answers_to(standard_banks()[0], 3).shape
    (3, 5)
    """
    widths = [len(bank.responses(name)) for name in bank.item_names]
    answers = np.random.default_rng(seed).integers(0, widths, (n, len(widths)))
    if any(not np.all(bank.channel(name) > 0) for name in bank.item_names):
        answers = np.array(Responses.drawn(bank, n, seed=seed).codes)
    answers[:1], answers[1:2] = 0, np.array(widths) - 1
    return np.asarray(answers, dtype=np.intp)


def live_tests(
    bank: ItemBank,
    selector: Selector,
    stopper: Stopper | None,
    answers: Sequence[Sequence[int]] | NDArray[np.intp],
) -> list[Course]:
    """Return the course of a live test of each examinee, question by question."""
    courses = []
    for number, row in enumerate(answers):
        design = _DesignOfExaminee(bank, selector, stopper, seed=_SEED, number=number)
        session = Session.start(design, belief=start_belief(bank))
        while not session.stop_reason:
            item = session.next_item()
            session = session.answer(item, int(row[bank.position(item)]))
        courses.append(Course(session.state.asked, session.stop_reason))
    return courses


def simulated_tests(
    bank: ItemBank,
    selector: Selector,
    stopper: Stopper | None,
    answers: NDArray[np.intp],
) -> list[Course]:
    """Return the course of the test of each examinee in one simulation."""
    people = Responses.of(answers, items=bank.item_names)
    options = SimulationOptions(rules=(), seed=_SEED)
    run = simulate(bank, people, {"x": selector}, stopper, options=options).runs[0]
    names = np.array(bank.item_names, dtype=object)
    return [
        Course(tuple(names[row[row != MISSING]]), str(reason))
        for row, reason in zip(run.asked, run.reasons, strict=True)
    ]


_SELECTORS = Family(
    "selector",
    room="bnmind.adaptive",
    registry=SELECTORS,
    commands=("test", "simulate", "evaluate"),
)


@checked
def check_selector(
    selector: Selector | str,
    *,
    banks: Sequence[ItemBank] | None = None,
    thorough: bool = False,
) -> None:
    """Check that a selector keeps the promises of selectors.

    It is immutable, and changes neither the belief nor anything else that it is given. It selects
    one of the allowed items; the order in which they are given does not matter, and luck comes
    from the given generator alone. From nothing it refuses to select. It asks an examinee of a
    simulation what it would ask the same examinee alone, and a simulated test takes the course of
    the live test with the same answers.

    Parameters
    ----------
    selector
        The selector, or the name of a registered one, with an argument or without.
    banks
        The banks to select from; by default small ones of skills, of certain items, of items of
        several responses, and of an ability, those that the selector accepts.
    thorough
        Whether to try more examinees.

    Raises
    ------
    ContractError
        If a promise is broken.
    UnknownNameError
        If no selector has the name.

    Examples
    --------
    >>> from bnmind.adaptive import MinimalEntropy
    >>> check_selector(MinimalEntropy())
    """
    found = examples(_SELECTORS, selector) if isinstance(selector, str) else [selector]
    for one in found:
        promises = Promises("selector", one)
        promises.value()
        promises.has("select", "select_batch")
        fits, in_any_order = _fitting(promises, banks, partial(_selected, one))
        if banks is None and fits[0] is standard_banks()[0]:
            with promises.no_error("it also serves if an item leaves no doubt"):
                certain = standard_banks()[3]
                one.select(start_belief(certain), certain.item_names, rng=np.random.default_rng(0))
        for bank in fits:
            _check_one(promises, one, bank)
            _check_batch(promises, one, bank)
            answers = answers_to(bank, 12 if thorough else 3)
            _check_courses(promises, bank, one, MaximalItems(4), answers)
        if in_any_order:
            _check_order_of_skills(promises, one)


def _selected(selector: Selector, bank: ItemBank) -> object:
    return selector.select(start_belief(bank), bank.item_names, rng=np.random.default_rng(0))


def _fitting(
    promises: Promises, banks: Sequence[ItemBank] | None, serve: Callable[[ItemBank], object]
) -> tuple[list[ItemBank], bool]:
    """Return the banks that a member serves, and whether skills in any order are to be tried."""

    def fits(bank: ItemBank) -> bool:
        promise = "it serves a bank, or refuses it with words"
        return promises.accepts(lambda: serve(bank), promise, f"{bank}")

    found = [bank for bank in banks or standard_banks() if fits(bank)]
    promises.keep(found, "it fits a bank", "it refuses banks of skills and of an ability")
    return found, banks is None and all(fits(bank) for bank in turned_banks())


def _check_one(promises: Promises, selector: Selector, bank: ItemBank) -> None:
    """Check that an allowed item is chosen, by belief and luck alone."""
    belief = start_belief(bank).update(bank.item_names[1], 1)
    allowed = (bank.item_names[3], bank.item_names[0], bank.item_names[2])
    where = f"{bank.item_names[1]} answered, {', '.join(allowed)} allowed"
    working = promises.no_error("it selects from allowed items", where)
    with working, promises.pure(belief, bank, example=where):
        found = selector.select(belief, allowed, rng=np.random.default_rng(1))
    promises.keep(isinstance(found, Selection), "it returns a `Selection`", where)
    promises.keep(
        found.items == tuple(sorted(allowed, key=bank.position)),
        "its selection lists the allowed items in the order of the bank",
        where,
    )
    promises.keep(found.scores.shape == (3,), "each allowed item has a score", where)
    promises.keep(found.item in found.items, "it selects an allowed item", f"{where}: {found.item}")
    promises.keep(set(found.tied) <= set(found.items), "ties are among allowed items", where)
    promises.keep(len(set(found.tied)) == len(found.tied), "each tie is named once", where)
    promises.keep(
        not np.isnan(found.scores).any(),
        "every score is a number, even if nothing is left to learn",
        f"{where}: {found.scores.tolist()}",
    )
    for items in (allowed, allowed[::-1]):
        again = selector.select(belief, items, rng=np.random.default_rng(1))
        promises.keep(
            np.array_equal(again.scores, found.scores),
            "its scores stand in the order of the bank, in whatever order items are given",
            f"{where}: {found.scores.round(6).tolist()}, then {again.scores.round(6).tolist()}",
        )
        promises.keep(
            again.item == found.item,
            "the same belief and luck lead to the same item, in whatever order items are given",
            f"{where}: {found.item}, then {again.item}",
        )
    for item in allowed:
        only = selector.select(belief, [item], rng=np.random.default_rng(1)).item
        promises.keep(only == item, "it selects the only allowed item", f"{item}: {only}")
    promises.refuse(
        lambda: selector.select(belief, (), rng=np.random.default_rng(1)),
        "it refuses to select from no items by a NothingToAskError",
        kinds=NothingToAskError,
    )


def _check_order_of_skills(promises: Promises, selector: Selector) -> None:
    """Check that the same items are selected from a bank with its skills in another order."""
    for answers in ({"item_2": 1}, {"item_2": 1, "item_4": 0}, {"item_1": 1, "item_5": 1}):
        found = []
        for bank in turned_banks():
            belief = start_belief(bank)
            for item, response in answers.items():
                belief = belief.update(item, response)
            items = [name for name in bank.item_names if name not in answers]
            found.append(selector.select(belief, items, rng=np.random.default_rng(1)))
        one, other = found
        promises.keep(
            one.item == other.item
            and np.allclose(one.scores, other.scores, rtol=1e-7, atol=1e-9, equal_nan=True),
            "the order of the skills in the bank does not matter",
            f"after {answers}: {one.item}, then {other.item}",
        )


def _check_batch(promises: Promises, selector: Selector, bank: ItemBank) -> None:
    """Many examinees are asked what each would be asked alone."""
    names, n_items = bank.item_names, len(bank.items)
    answers = [(0, 0), (0, 1), (1, 0), (2, 1), (3, 1), (3, 0)]
    allowed = np.ones((6, n_items), dtype=bool)
    for row, (item, _) in enumerate(answers):
        allowed[row, item] = False
    allowed[5] = False
    luck = np.array([np.random.default_rng(row).random(n_items) for row in range(6)])
    items, responses = np.array(answers).T
    beliefs = start_beliefs(bank, 6).update(items, responses)
    with promises.no_error("it selects for many examinees"), promises.pure(allowed, luck, bank):
        found = selector.select_batch(beliefs, allowed, luck=luck)
    promises.keep(isinstance(found, Selections), "it returns a `Selections`")
    promises.keep(
        found.items.shape == (6,) and found.scores.shape == found.set_aside.shape == (6, n_items),
        "it selects an item for each examinee, and scores all items",
        f"shapes {found.items.shape}, {found.scores.shape}, {found.set_aside.shape}",
    )
    promises.keep(
        found.items[5] == MISSING, "an examinee who may not be asked anything is asked nothing"
    )
    for row, (item, response) in enumerate(answers[:5]):
        belief = start_belief(bank).update(names[item], response)
        may = [name for name, yes in zip(names, allowed[row], strict=True) if yes]
        alone = selector.select(belief, may, rng=np.random.default_rng(row))
        promises.keep(
            names[found.items[row]] == alone.item,
            "among many, an examinee is asked what he or she would be asked alone",
            f"after {names[item]}={response}: {names[found.items[row]]}, alone {alone.item}",
        )


def _check_courses(
    promises: Promises,
    bank: ItemBank,
    selector: Selector,
    stopper: Stopper,
    answers: NDArray[np.intp],
) -> None:
    """Check that whole tests take the same course live and in a simulation."""
    with promises.no_error("it serves in live and in simulated tests"):
        live = live_tests(bank, selector, stopper, answers)
        simulated = simulated_tests(bank, selector, stopper, answers)
    for row, one, other in zip(answers.tolist(), live, simulated, strict=True):
        promises.keep(
            one == other,
            "a simulated test ends where the live test ends, for the same reason and items",
            f"answers {row}: live {one}, simulated {other}",
        )


_STOPPERS = Family(
    "stopper", room="bnmind.adaptive", registry=STOPPERS, commands=("test", "simulate", "evaluate")
)


@checked
def check_stopper(
    stopper: Stopper | str, *, banks: Sequence[ItemBank] | None = None, thorough: bool = False
) -> None:
    """Check that a stopper keeps the promises of stoppers.

    It is immutable, and changes nothing. Its reason is a text in one line, empty while the test
    goes on, and the same each time for the same progress. For many examinees it gives a reason to
    each, the one that it gives to each alone, at every step. A simulated test ends where the live
    test with the same answers ends, whatever items are asked in whatever order.

    Parameters
    ----------
    stopper
        The stopper, or the name of a registered one, with an argument or without.
    banks
        The banks of the tests; by default small ones of skills, of certain items, of items of
        several responses, and of an ability, those that the stopper accepts.
    thorough
        Whether to try more examinees.

    Raises
    ------
    ContractError
        If a promise is broken.
    UnknownNameError
        If no stopper has the name.

    Examples
    --------
    >>> from bnmind.adaptive import EntropyBelow
    >>> check_stopper(EntropyBelow(0.5))
    """
    found = examples(_STOPPERS, stopper) if isinstance(stopper, str) else [stopper]
    for one in found:
        promises = Promises("stopper", one)
        promises.value()
        promises.has("stop", "stop_batch")
        fits, in_any_order = _fitting(promises, banks, partial(_stopped, one))
        for bank in fits:
            for seed in range(3 if thorough else 1):
                _check_steps(promises, one, bank, seed)
            answers = answers_to(bank, 20 if thorough else 4, seed=5)
            for selector in (FixedOrder(), RandomItem()):
                _check_courses(promises, bank, selector, one, answers)
        if in_any_order:
            _check_end_in_any_order(promises, one)


def _stopped(stopper: Stopper, bank: ItemBank) -> str:
    return stopper.stop(start_belief(bank), (), bank.item_names)


def _check_steps(promises: Promises, stopper: Stopper, bank: ItemBank, seed: int) -> None:
    """Check that reasons are texts in one line, and alike live and in a simulation."""
    names, n_items = bank.item_names, len(bank.items)
    answers = answers_to(bank, 4, seed=seed)
    order = np.random.default_rng(seed).permutation(n_items) if seed else np.arange(n_items)
    beliefs = start_beliefs(bank, len(answers))
    alone = [start_belief(bank) for _ in answers]
    for step in range(n_items + 1):
        allowed = np.ones(answers.shape, dtype=bool)
        allowed[:, order[:step]] = False
        sequence = np.tile(order[:step], (len(answers), 1))
        progress = Progress(beliefs, sequence, allowed)
        with promises.no_error("it stops or goes on for many"), promises.pure(allowed, sequence):
            many = stopper.stop_batch(progress)
        promises.keep(
            isinstance(many, np.ndarray) and many.dtype.kind == "U",
            "its reasons for many are an array of texts",
            str(getattr(many, "dtype", type(many).__name__)),
        )
        promises.keep(
            many.shape == (len(answers),), "it gives each examinee a reason", str(many.shape)
        )
        given = [names[i] for i in order[:step]]
        left = tuple(name for name in names if name not in given)
        for row, belief in enumerate(alone):
            where = f"after {', '.join(given) or 'nothing'}, answers {answers[row].tolist()}"
            with promises.no_error("it stops or goes on", where), promises.pure(example=where):
                reason, again = (stopper.stop(belief, given, left) for _ in range(2))
            promises.keep(isinstance(reason, str), "its reason is a text", f"got {reason!r}")
            promises.keep("\n" not in reason, "its reason is in one line", reason)
            promises.keep(again == reason, "it gives the same reason each time", where)
            promises.keep(
                many[row] == reason,
                "among many, an examinee is given the reason that he or she is given alone",
                f"{where}: {str(many[row])!r}, alone {reason!r}",
            )
        if step < n_items:
            item = int(order[step])
            beliefs = beliefs.update(np.full(len(answers), item), answers[:, item])
            alone = [
                belief.update(names[item], int(answer))
                for belief, answer in zip(alone, answers[:, item], strict=True)
            ]


def _check_end_in_any_order(promises: Promises, stopper: Stopper) -> None:
    """Check that tests of a bank with its skills in another order end at the same point."""
    answers = answers_to(turned_banks()[0], 5, seed=3)
    courses = [live_tests(bank, FixedOrder(), stopper, answers) for bank in turned_banks()]
    for row, one, other in zip(answers.tolist(), *courses, strict=True):
        promises.keep(
            one.asked == other.asked,
            "the order of the skills in the bank does not matter",
            f"answers {row}: {len(one.asked)} items, then {len(other.asked)}",
        )


_DISTRIBUTIONS = Family(
    "distribution of skills",
    room="bnmind.adaptive",
    registry=SKILL_DISTRIBUTIONS,
    commands=("learn",),
)
_SKILLS = tuple(Variable.of_integers(name, range(n)) for name, n in (("a", 2), ("b", 3), ("c", 2)))
_NAMED = (Variable("reading", ("novice", "master")), Variable("z", ("none", "some", "all")))
_CHOICES = (_SKILLS, _SKILLS[:1], _SKILLS[::-1], (*_SKILLS, *_NAMED))


@checked
def check_skill_distribution(
    distribution: ProfileDistribution | str, *, skills: Sequence[Variable] | None = None
) -> None:
    """Check that a distribution of skills keeps the promises of such distributions.

    It is immutable. It makes a distribution of each skill, in the order of the skills, after those
    of variables of its own. Parents come before children. All probabilities sum to one, and every
    profile is possible, so that learning can find it. Learning can start with it. The names of the
    skills do not matter.

    Parameters
    ----------
    distribution
        The distribution, or the name of a registered one, with an argument or without.
    skills
        The skills; by default three of two and three levels, and fewer, in several orders.

    Raises
    ------
    ContractError
        If a promise is broken.
    UnknownNameError
        If no distribution has the name.

    Examples
    --------
    >>> from bnmind.adaptive import Independent
    >>> check_skill_distribution(Independent())
    """
    if isinstance(distribution, str):
        for one in examples(_DISTRIBUTIONS, distribution):
            check_skill_distribution(one, skills=skills)
        return
    promises = Promises("distribution of skills", distribution)
    promises.value()
    promises.has("cpds")
    choices = _CHOICES if skills is None else (tuple(skills),)
    for chosen in choices:
        where = "skills " + ", ".join(f"{v.name} of {v.n_states} levels" for v in chosen)
        joint = _joint(promises, distribution, chosen, where)
        renamed = [Variable(f"other {number}", v.states) for number, v in enumerate(chosen)]
        promises.keep(
            np.array_equal(_joint(promises, distribution, renamed, where), joint),
            "the names of the skills do not matter",
            where,
        )
    if skills is None:
        with promises.no_error("learning starts with it"):
            responses = np.random.default_rng(1).integers(0, 2, (12, 4))
            options = LearningOptions(starts=1, max_iterations=2)
            learn(responses, [[1, 0], [0, 1], [1, 1], [1, 0]], skills=distribution, options=options)


def _joint(
    promises: Promises, distribution: ProfileDistribution, skills: Sequence[Variable], where: str
) -> np.ndarray:
    """Return the joint probabilities of the skills and of the variables before them."""
    with promises.no_error("it fits skills of any levels", where), promises.pure(example=where):
        cpds = distribution.cpds(skills)
    own = tuple(cpd.variable for cpd in cpds if cpd.variable not in skills)
    known = (*own, *skills)
    promises.keep(
        [cpd.variable for cpd in cpds] == list(known),
        "variables of its own come first, then the skills in their order",
        where,
    )
    joint = np.ones(())
    for number, cpd in enumerate(cpds):
        promises.keep(
            set(cpd.parents) <= set(known[:number]), "parents come before children", where
        )
        factor = cpd.to_factor()
        with promises.no_error("each of its distributions is one", where):
            rows = np.real(factor.sum_to([v.name for v in cpd.parents]).values)
        promises.keep(
            np.allclose(rows, 1, rtol=0, atol=1e-9),
            "the probabilities of each skill sum to 1, whatever its parents are",
            f"{where}: {cpd.variable.name}",
        )
        axes = [[v.name for v in known].index(v.name) for v in factor.scope]
        shape = [v.n_states if i in axes else 1 for i, v in enumerate(known)]
        joint = joint * np.real(factor.values).transpose(np.argsort(axes)).reshape(shape)
    promises.keep(
        abs(float(joint.sum()) - 1) <= 1e-12, "the probabilities of all profiles sum to 1", where
    )
    promises.keep(np.all(joint > 0), "every profile is possible before learning", where)
    return joint
