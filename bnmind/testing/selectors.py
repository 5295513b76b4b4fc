"""The promises of selectors: an allowed item of the best score, live and in a simulation alike."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bnmind._arguments import checked
from bnmind.adaptive import (
    MISSING,
    SELECTORS,
    BatchSelection,
    ItemBank,
    MaximalItems,
    Selection,
    Selector,
    SkillBelief,
    start_belief,
    start_beliefs,
)
from bnmind.errors import BnmindError, NothingToAskError
from bnmind.testing.banks import (
    answers_to,
    live_tests,
    simulated_tests,
    standard_banks,
    turned_banks,
)
from bnmind.testing.promises import Promises
from bnmind.testing.registered import Family, examples

__all__ = ["check_selector"]

_FAMILY = Family(
    "selector",
    room="bnmind.adaptive",
    registry=SELECTORS,
    commands=("test", "simulate", "evaluate"),
)


@checked
def check_selector(
    selector: Selector[SkillBelief] | str,
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
    found = examples(_FAMILY, selector) if isinstance(selector, str) else [selector]
    for one in found:
        promises = Promises("selector", one)
        promises.value()
        promises.has("select", "select_batch")
        fits = [bank for bank in banks or standard_banks() if _fits(promises, one, bank)]
        promises.keep(fits, "it fits a bank", "it refuses banks of skills and of an ability")
        if banks is None and fits[0] is standard_banks()[0]:
            with promises.no_error("it also serves if an item leaves no doubt"):
                certain = standard_banks()[3]
                one.select(start_belief(certain), certain.item_names, rng=np.random.default_rng(0))
        for bank in fits:
            _check_one(promises, one, bank)
            _check_batch(promises, one, bank)
            _check_courses(promises, one, bank, 12 if thorough else 3)
        if banks is None and all(_fits(promises, one, bank) for bank in turned_banks()):
            _check_order_of_skills(promises, one)


def _fits(promises: Promises, selector: Selector[SkillBelief], bank: ItemBank) -> bool:
    try:
        selector.select(start_belief(bank), bank.item_names, rng=np.random.default_rng(0))
    except BnmindError:
        return False
    except Exception as fault:
        promises.broken(
            "it serves a bank, or refuses it with words", f"{bank}: {type(fault).__name__}: {fault}"
        )
    return True


def _check_one(promises: Promises, selector: Selector[SkillBelief], bank: ItemBank) -> None:
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


def _check_order_of_skills(promises: Promises, selector: Selector[SkillBelief]) -> None:
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


def _check_batch(promises: Promises, selector: Selector[SkillBelief], bank: ItemBank) -> None:
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
    promises.keep(isinstance(found, BatchSelection), "it returns a `BatchSelection`")
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
    promises: Promises, selector: Selector[SkillBelief], bank: ItemBank, n: int
) -> None:
    """Whole tests take the same course live and in a simulation."""
    answers = answers_to(bank, n)
    stopper = MaximalItems(4)
    with promises.no_error("it serves in live and in simulated tests"):
        live = live_tests(bank, selector, stopper, answers)
        simulated = simulated_tests(bank, selector, stopper, answers)
    for row, (one, other) in enumerate(zip(live, simulated, strict=True)):
        promises.keep(
            one.asked == other.asked,
            "a simulated test takes the course of the live test",
            f"answers {answers[row].tolist()}: live {' '.join(one.asked)}, simulated"
            f" {' '.join(other.asked)}",
        )
