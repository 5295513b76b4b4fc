"""Engines that are asked for all single posteriors of a network, in one form.

Each is made from a network, which is not timed. Its `first` answers with planning,
compiling and whatever else must be done; its `again` answers for other states of the
same evidence variables, with what it kept. Marginals come one by one, so that an
engine that computes one at a time can be stopped on the way.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Protocol

import numpy as np

from bnmind.information import Floats
from bnmind.pgm import Network
from tests.wheel import pyagrum_network, state_names

__all__ = ["ENGINES", "MORE_ENGINES", "Engine"]


class Engine(Protocol):
    """An engine with a network in it."""

    def first(self, findings: Mapping[str, int], targets: Sequence[str]) -> Iterator[Floats]:
        """Yield the marginal of each target given state positions of the evidence."""
        ...

    def again(self, findings: Mapping[str, int], targets: Sequence[str]) -> Iterator[Floats]:
        """Yield them for other states of the variables that `first` was given."""
        ...

    def sizes(self) -> dict[str, int]:
        """Return how large what was planned is, once `first` was asked."""
        ...


class Bnmind:
    """Ours: a compiled plan."""

    def __init__(self, network: Network) -> None:
        from bnmind.junction import compile_plan

        self._compile, self._network = compile_plan, network
        self._plan: Any = None

    def first(self, findings: Mapping[str, int], targets: Sequence[str]) -> Iterator[Floats]:
        self._plan = self._compile(
            self._network, evidence=list(findings), targets=[[name] for name in targets]
        )
        return self.again(findings, targets)

    def again(self, findings: Mapping[str, int], targets: Sequence[str]) -> Iterator[Floats]:
        posterior = self._plan.run(state_names(self._network, findings))
        return (posterior.marginals[name] for name in targets)

    def sizes(self) -> dict[str, int]:
        return {"cells": self._plan.total_size}


class _Pyagrum:
    """One of pyAgrum's engines."""

    engine = ""
    threads = 1

    def __init__(self, network: Network) -> None:
        import pyagrum as gum

        gum.setNumberOfThreads(self.threads)
        gum.initRandom(1)
        self._type, self._network = getattr(gum, self.engine), pyagrum_network(network)
        self._made: Any = None

    def first(self, findings: Mapping[str, int], targets: Sequence[str]) -> Iterator[Floats]:
        self._made = self._type(self._network)
        self._made.setEvidence(dict(findings))
        return self._answer(targets)

    def again(self, findings: Mapping[str, int], targets: Sequence[str]) -> Iterator[Floats]:
        for name, position in findings.items():
            self._made.chgEvidence(name, position)
        return self._answer(targets)

    def _answer(self, targets: Sequence[str]) -> Iterator[Floats]:
        self._made.makeInference()
        return (self._made.posterior(name).toarray() for name in targets)

    def sizes(self) -> dict[str, int]:
        return {}


class PyagrumLazy(_Pyagrum):
    """LazyPropagation; new findings keep the messages that do not depend on them."""

    engine = "LazyPropagation"


class PyagrumShafer(_Pyagrum):
    """ShaferShenoyInference; new findings keep its junction tree."""

    engine = "ShaferShenoyInference"


class PyagrumLazyThreads(PyagrumLazy):
    """The same with a thread for each core, as pyAgrum has it unless told otherwise."""

    threads = os.cpu_count() or 1


class PyagrumElimination(_Pyagrum):
    """VariableElimination, one target after the other."""

    engine = "VariableElimination"


class PgmpyElimination:
    """VariableElimination in its default order, one target after the other; it keeps nothing."""

    def __init__(self, network: Network) -> None:
        from bnmind.pgm.formats import pgmpy_object, quiet_pgmpy, to_pgmpy

        self._quiet, self._network, self._model = quiet_pgmpy, network, to_pgmpy(network)
        self._type = pgmpy_object("pgmpy.inference", "VariableElimination")

    def first(self, findings: Mapping[str, int], targets: Sequence[str]) -> Iterator[Floats]:
        evidence = state_names(self._network, findings)
        with self._quiet():
            engine = self._type(self._model)
            for name in targets:
                found = engine.query([name], evidence=evidence, show_progress=False)
                yield np.asarray(found.values, dtype=np.float64)

    def again(self, findings: Mapping[str, int], targets: Sequence[str]) -> Iterator[Floats]:
        raise NotImplementedError

    def sizes(self) -> dict[str, int]:
        return {}


ENGINES: dict[str, Callable[[Network], Engine]] = {
    "bnmind": Bnmind,
    "pyagrum-lazy": PyagrumLazy,
    "pyagrum-shafer": PyagrumShafer,
    "pyagrum-elimination": PyagrumElimination,
    "pgmpy-elimination": PgmpyElimination,
}
"""By the name that results are kept under; each has one thread."""

MORE_ENGINES: dict[str, Callable[[Network], Engine]] = {"pyagrum-lazy-threads": PyagrumLazyThreads}
"""Measured only where they are asked for."""
