"""The promises of stoppers: a test ends for the same reason, live and in a simulation alike."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bnmind._arguments import checked
from bnmind.adaptive import (
    STOPPERS,
    BatchProgress,
    FixedOrder,
    ItemBank,
    Progress,
    RandomItem,
    Stopper,
    start_belief,
    start_beliefs,
)
from bnmind.errors import BnmindError
from bnmind.testing.banks import (
    answers_to,
    live_tests,
    simulated_tests,
    standard_banks,
    turned_banks,
)
from bnmind.testing.promises import Promises
from bnmind.testing.registered import Family, examples

__all__ = ["check_stopper"]

_FAMILY = Family(
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
    found = examples(_FAMILY, stopper) if isinstance(stopper, str) else [stopper]
    for one in found:
        promises = Promises("stopper", one)
        promises.value()
        promises.has("stop", "stop_batch")
        fits = [bank for bank in banks or standard_banks() if _fits(promises, one, bank)]
        promises.keep(fits, "it fits a bank", "it refuses banks of skills and of an ability")
        for bank in fits:
            for seed in range(3 if thorough else 1):
                _check_steps(promises, one, bank, seed)
            _check_courses(promises, one, bank, 20 if thorough else 4)
        if banks is None and all(_fits(promises, one, bank) for bank in turned_banks()):
            _check_order_of_skills(promises, one)


def _fits(promises: Promises, stopper: Stopper, bank: ItemBank) -> bool:
    try:
        stopper.stop(Progress(start_belief(bank), (), bank.item_names))
    except BnmindError:
        return False
    except Exception as fault:
        promises.broken(
            "it serves a bank, or refuses it with words", f"{bank}: {type(fault).__name__}: {fault}"
        )
    return True


def _check_steps(promises: Promises, stopper: Stopper, bank: ItemBank, seed: int) -> None:
    """Check that reasons are texts in one line, and alike live and in a simulation."""
    names, n_items = bank.item_names, len(bank.items)
    answers = answers_to(bank, 4, seed=seed)
    order = np.random.default_rng(seed).permutation(n_items) if seed else np.arange(n_items)
    beliefs = start_beliefs(bank, len(answers))
    alone = [start_belief(bank) for _ in answers]
    for step in range(n_items + 1):
        asked = np.zeros(answers.shape, dtype=bool)
        asked[:, order[:step]] = True
        sequence = np.tile(order[:step], (len(answers), 1))
        progress = BatchProgress(beliefs, asked, ~asked, sequence)
        with promises.no_error("it stops or goes on for many"), promises.pure(asked, sequence):
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
            one = Progress(belief, tuple(given), left)
            with promises.no_error("it stops or goes on", where), promises.pure(example=where):
                reason, again = stopper.stop(one), stopper.stop(one)
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


def _check_order_of_skills(promises: Promises, stopper: Stopper) -> None:
    """Check that tests of a bank with its skills in another order end at the same point."""
    answers = answers_to(turned_banks()[0], 5, seed=3)
    courses = [live_tests(bank, FixedOrder(), stopper, answers) for bank in turned_banks()]
    for row, one, other in zip(answers.tolist(), *courses, strict=True):
        promises.keep(
            one.asked == other.asked,
            "the order of the skills in the bank does not matter",
            f"answers {row}: {len(one.asked)} items, then {len(other.asked)}",
        )


def _check_courses(promises: Promises, stopper: Stopper, bank: ItemBank, n: int) -> None:
    """Whole tests end at the same point live and in a simulation, for the same reason."""
    answers = answers_to(bank, n, seed=5)
    for selector in (FixedOrder(), RandomItem()):
        with promises.no_error("it serves in live and in simulated tests"):
            live = live_tests(bank, selector, stopper, answers)
            simulated = simulated_tests(bank, selector, stopper, answers)
        for row, (one, other) in enumerate(zip(live, simulated, strict=True)):
            promises.keep(
                one == other,
                "a simulated test ends where the live test ends, for the same reason",
                f"answers {answers[row].tolist()}: live after {len(one.asked)} items,"
                f" {one.reason!r}, simulated after {len(other.asked)}, {other.reason!r}",
            )
