"""Conversion from and to the models of pyAgrum and networkx, and the Markov networks of pgmpy."""

from bnmind.pgm.bridges.networkx_bridge import from_networkx, moral_graph, to_networkx
from bnmind.pgm.bridges.pgmpy_markov import factors_from_pgmpy, factors_to_pgmpy
from bnmind.pgm.bridges.pyagrum_bridge import (
    factors_from_pyagrum,
    factors_to_pyagrum,
    from_pyagrum,
    to_pyagrum,
)
from bnmind.pgm.formats.pgmpy_bridge import from_pgmpy, to_pgmpy

__all__ = [
    "factors_from_pgmpy",
    "factors_from_pyagrum",
    "factors_to_pgmpy",
    "factors_to_pyagrum",
    "from_networkx",
    "from_pgmpy",
    "from_pyagrum",
    "moral_graph",
    "to_networkx",
    "to_pgmpy",
    "to_pyagrum",
]
