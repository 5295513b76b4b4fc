"""Look at what a network believes: before and after findings, as tables and as pictures.

The network is that of Lauritzen & Spiegelhalter, *Local computations with probabilities on
graphical structures* (1988): shortness of breath, and what it may come from.

    python examples/network_views.py
    python examples/network_views.py --write docs/images
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from bnmind.junction import compile_plan
from bnmind.pgm import FunctionalCPD, Maximum, Network, TabularCPD, Variable
from bnmind.views import BeliefView, belief_view, network_view, side_by_side

STATES = ("no", "yes")


def table(variable: Variable, parents: Sequence[Variable], yes: ArrayLike) -> TabularCPD:
    """Return a distribution from the probabilities of "yes", an axis for each parent."""
    chance = np.asarray(yes)
    return TabularCPD(variable, tuple(parents), np.array([1 - chance, chance]))


def chest_clinic() -> Network:
    """Return the network."""
    asia, smoker, tuberculosis, cancer, bronchitis, either, xray, dyspnea = (
        Variable(name, STATES)
        for name in (
            "visit_to_Asia",
            "smoker",
            "tuberculosis",
            "lung_cancer",
            "bronchitis",
            "either",
            "abnormal_X-ray",
            "dyspnea",
        )
    )
    return Network(
        (
            table(asia, [], 0.01),
            table(smoker, [], 0.5),
            table(tuberculosis, [asia], [0.01, 0.05]),
            table(cancer, [smoker], [0.01, 0.1]),
            table(bronchitis, [smoker], [0.3, 0.6]),
            FunctionalCPD(either, (tuberculosis, cancer), Maximum()),
            table(xray, [either], [0.05, 0.98]),
            table(dyspnea, [either, bronchitis], [[0.1, 0.8], [0.7, 0.9]]),
        )
    )


def believe(network: Network, findings: Mapping[str, str]) -> BeliefView:
    """Return a view of all the variables, given findings on some."""
    asked = [[v.name] for v in network.variables if v.name not in findings]
    plan = compile_plan(network, evidence=findings, targets=asked)
    return belief_view(network, plan.run(findings), evidence=findings)


def main() -> None:
    """Print tables, and write pictures if asked to."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", type=Path, metavar="FOLDER", help="write the pictures there")
    folder = parser.parse_args().write

    network = chest_clinic()
    print(network_view(network).text(width=64))

    short_of_breath = believe(network, {"dyspnea": "yes"})
    print(f"\nSomebody is short of breath.\n\n{short_of_breath.text(width=64)}")

    seen = believe(network, {"dyspnea": "yes", "abnormal_X-ray": "yes"})
    both = side_by_side(short_of_breath, seen, titles=("dyspnea", "and X-ray"))
    causes = ["tuberculosis", "lung_cancer", "bronchitis"]
    print(f"\nAn X-ray is abnormal too.\n\n{both.text(width=64, names=causes)}")

    if folder is not None:
        pictures = {
            "network": network_view(network).svg(),
            "belief": seen.svg(),
            "side-by-side": both.svg(),
        }
        for name, picture in pictures.items():
            (folder / f"views-{name}.svg").write_text(picture, encoding="utf-8")


if __name__ == "__main__":
    main()
