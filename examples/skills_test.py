"""An adaptive test of skills, with the very function that chooses guesses in Mastermind.

A small network of skills and exercises with fractions is defined in pgmpy, brought into
bnmind, and compiled once. Then a student is tested: each exercise is the one that
promises most information about all the skills together, and the test ends when every
skill is known well enough.

Run it with ``python examples/skills_test.py``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bnmind.information import Floats, choose_question, entropy
from bnmind.junction import Posterior, compile_plan
from bnmind.pgm import Network
from bnmind.pgm.pgmpy_bridge import from_pgmpy, quiet_pgmpy

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


def channels(network: Network) -> Floats:
    """Return the chance of each answer, ``(exercises, configurations of skills, answers)``."""
    most = max(2 ** len(needed) for needed in EXERCISES.values())
    padded = np.full((len(EXERCISES), most, 2), 0.5)
    for row, (name, needed) in zip(padded, EXERCISES.items(), strict=True):
        item = network.cpd(ITEMS[name]).to_factor().sum_to([ITEMS[name], *needed])
        row[: 2 ** len(needed)] = item.values.real.reshape(2, -1).T
    return padded


def masses(posterior: Posterior, width: int) -> Floats:
    """Return how probable each configuration of the skills is, a row an exercise."""
    rows = np.zeros((len(EXERCISES), width))
    for row, joint in zip(rows, posterior.targets[1:], strict=True):
        row[: joint.values.size] = joint.values.real.ravel()
    return rows


def mastery(posterior: Posterior) -> Floats:
    """Return the probability of each skill."""
    return np.array([posterior.joint(skill).values.real[1] for skill in SKILLS])


def line(exercise: str, told: str, answer: str, posterior: Posterior) -> str:
    """Return a line of the record of the test."""
    left = float(entropy(posterior.targets[0].values.real.ravel()))
    known = [f"{p:{len(skill)}.0%}" for skill, p in zip(SKILLS, mastery(posterior), strict=True)]
    return f"{exercise:8}  {told:5}  {answer:6}  {left:9.2f}  {'  '.join(known)}"


def main() -> None:
    """Test one student, and print it."""
    network = from_pgmpy(network_in_pgmpy())

    # One plan serves the whole test. An answer goes in as a table over its item: ones
    # while it is open, then a one at what was answered.
    plan = compile_plan(
        network,
        targets=[SKILLS, *EXERCISES.values()],
        inputs={item: [item] for item in ITEMS.values()},
    )
    answers = {item: np.ones(2) for item in ITEMS.values()}
    posterior = plan.run({}, answers)
    print(f"{len(network.variables)} variables, {plan.cells} cells in the junction tree\n")
    print(f"{'exercise':8}  {'tells':5}  {'answer':6}  bits left  {'  '.join(SKILLS)}")
    print(line("", "", "", posterior))

    channel = channels(network)
    rng = np.random.default_rng(SEED)
    names, asked = list(EXERCISES), list[int]()
    while len(asked) < len(names):
        # A question is known by the masses of its causes and by its channel, by nothing else.
        remaining = [i for i in range(len(names)) if i not in asked]
        causes = masses(posterior, channel.shape[1])
        choice = choose_question(causes[remaining], channel[remaining])
        item = remaining[choice.question]
        name, told = names[item], choice.information[choice.question]

        # The student answers, with the chance that the skills give.
        cause = int("".join(str(STUDENT[skill]) for skill in EXERCISES[name]), base=2)
        right = rng.random() < channel[item, cause, 1]
        answers[ITEMS[name]] = np.array([0.0, 1.0] if right else [1.0, 0.0])
        asked.append(item)

        posterior = plan.run({}, answers)
        print(line(name, f"{told:.3f}", "right" if right else "wrong", posterior))
        if np.all(np.abs(mastery(posterior) - 0.5) >= SURE - 0.5):
            break

    found = sum((p >= 0.5) == STUDENT[s] for s, p in zip(SKILLS, mastery(posterior), strict=True))
    print(f"\n{len(asked)} of {len(names)} exercises asked; {found} of {len(SKILLS)} skills right")


if __name__ == "__main__":
    main()
