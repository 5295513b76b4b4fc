"""An adaptive test of skills, with the very function that chooses guesses in Mastermind.

A small network of skills and exercises with fractions is defined in pgmpy and becomes an
item bank. Then a student is tested: each exercise is the one that promises most
information about all the skills together, and the test ends when every skill is known
well enough. `choose_question` sees masses and channels only, as it does in Mastermind; the
selector of adaptive tests says the same.

Run it with ``python examples/skills_test.py``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bnmind.adaptive import (
    Item,
    ItemBank,
    MinimalEntropy,
    SkillBelief,
    SkillsCertain,
    start_belief,
)
from bnmind.information import choose_question
from bnmind.pgm.formats import quiet_pgmpy

SKILLS = ("addition", "denominator", "multiplication", "canceling")

# What each exercise needs; it is solved with chance 0.9 by those who have all of it, and
# with chance 0.1 by the others.
EXERCISES = {
    "1/7+2/7": ["addition"],
    "1/2+1/3": ["addition", "denominator"],
    "1/6+1/3": ["addition", "denominator", "canceling"],
    "1/2*3/5": ["multiplication"],
    "3/4*2/9": ["multiplication", "canceling"],
    "6/8": ["canceling"],
    "2/5+1/4": ["addition", "denominator"],
    "2/3*1/7": ["multiplication"],
    "10/15": ["canceling"],
}
ITEMS = {name: f"item{number}" for number, name in enumerate(EXERCISES, start=1)}

STUDENT = {"addition": 1, "denominator": 0, "multiplication": 1, "canceling": 1}
SEED = 2
SURE = 0.85


def network_in_pgmpy() -> Any:
    """Return the network as people define it in pgmpy."""
    with quiet_pgmpy():  # it warns of its own future when imported
        from pgmpy.factors.discrete import TabularCPD
        from pgmpy.models import DiscreteBayesianNetwork

    # Who finds common denominators has mostly learned to add before.
    arcs = [("addition", "denominator")]
    arcs += [(skill, ITEMS[name]) for name, needed in EXERCISES.items() for skill in needed]
    model = DiscreteBayesianNetwork(arcs)
    model.add_cpds(
        TabularCPD("addition", 2, [[0.3], [0.7]]),
        TabularCPD("denominator", 2, [[0.9, 0.4], [0.1, 0.6]], ["addition"], [2]),
        TabularCPD("multiplication", 2, [[0.4], [0.6]]),
        TabularCPD("canceling", 2, [[0.5], [0.5]]),
    )
    for name, needed in EXERCISES.items():
        solved = np.full(2 ** len(needed), 0.1)
        solved[-1] = 0.9
        model.add_cpds(TabularCPD(ITEMS[name], 2, [1 - solved, solved], needed, [2] * len(needed)))
    return model


def line(exercise: str, told: str, answer: str, belief: SkillBelief) -> str:
    """Return a line of the record of the test."""
    known = [f"{belief.marginal(skill)[1]:{len(skill)}.0%}" for skill in SKILLS]
    return f"{exercise:8}  {told:5}  {answer:6}  {belief.entropy:9.2f}  {'  '.join(known)}"


def main() -> None:
    """Test one student, and print it."""
    bank = ItemBank.from_network(
        network_in_pgmpy(), SKILLS, [Item(ITEMS[name], text=name) for name in EXERCISES]
    )
    belief = start_belief(bank)
    print(f"{len(bank.items)} exercises, {len(bank.skills)} skills, {belief.entropy:.2f} bits\n")
    print(f"{'exercise':8}  {'tells':5}  {'answer':6}  bits left  {'  '.join(SKILLS)}")
    print(line("", "", "", belief))

    rng, selector, enough = np.random.default_rng(SEED), MinimalEntropy(), SkillsCertain(SURE)
    while len(belief.responses) < len(bank.items):
        # A question is known by the masses of its causes and by its channel, by nothing else.
        left = [name for name in bank.item_names if name not in belief.responses]
        choice = choose_question(belief.masses(left), bank.channels(left))
        item = left[choice.question]
        assert item == selector.select(belief, left).item

        # The student answers, with the chance that the skills give.
        levels = [STUDENT[skill] for skill in bank.cause(item)]
        cause = int(np.ravel_multi_index(levels, (2,) * len(levels)))
        right = rng.random() < bank.channel(item)[cause, 1]
        belief = belief.update(item, int(right))
        told = f"{choice.information[choice.question]:.3f}"
        print(line(bank.item(item).text, told, "right" if right else "wrong", belief))
        if reason := enough.stop(belief, tuple(belief.responses)):
            print(f"\nEnough: {reason}.")
            break

    found = sum((belief.marginal(skill)[1] >= 0.5) == STUDENT[skill] for skill in SKILLS)
    asked = len(belief.responses)
    print(f"{asked} of {len(bank.items)} exercises asked; {found} of {len(SKILLS)} skills right")


if __name__ == "__main__":
    main()
