"""The networks of the R package bnRep (M. Leonelli, 2025), through engines and by pyAgrum."""

from __future__ import annotations

import gzip
import json
import math
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from bnmind.junction import compile_model
from bnmind.pgm import Network, TabularCPD, Variable
from tests.data_sets import data_set
from tests.wheel import pyagrum_network, sample

ROUNDING = 1e-6
"""How much a row may miss a sum of one; it is then normalized."""


def bnrep_networks(folder: Path) -> Iterator[tuple[str, Network | None]]:
    """Yield all networks by name; None for those whose tables are not distributions."""
    for path in sorted(folder.glob("*.json.gz")):
        nodes = json.loads(gzip.decompress(path.read_bytes()))["nodes"]
        variables = {node["name"]: Variable(node["name"], tuple(node["states"])) for node in nodes}
        cpds = []
        for node in nodes:
            scope = [variables[name] for name in (node["name"], *node["parents"])]
            values = np.array(node["prob"], dtype=float).reshape([v.n_states for v in scope])
            sums = values.sum(axis=0)
            if np.isnan(values).any() or np.abs(sums - 1).max() > ROUNDING:
                break
            cpds.append(TabularCPD(scope[0], tuple(scope[1:]), values / sums))
        name = path.name.removesuffix(".json.gz")
        yield name, Network(tuple(cpds)) if len(cpds) == len(nodes) else None


def compare(network: Network, draws: int) -> None:
    """Compare all posteriors, and one alone, with pyAgrum's under several pieces of evidence."""
    import pyagrum

    engine = compile_model(network)
    lazy = pyagrum.LazyPropagation(pyagrum_network(network))
    rng = np.random.default_rng(1)
    cases = sample(network, {v.name: rng.random(draws) for v in network.variables})
    names = [v.name for v in network.variables]
    for draw in range(draws):
        n_observed = 0 if draw == 0 else max(1, len(names) // 5)
        observed = [str(name) for name in rng.choice(names, n_observed, replace=False)]
        positions = {name: int(cases[name][draw]) for name in observed}
        states = {
            v.name: v.states[positions[v.name]] for v in network.variables if v.name in positions
        }
        lazy.setEvidence(positions)
        lazy.makeInference()
        answer = engine.posterior(evidence=states)
        for name in answer:
            expected = lazy.posterior(name).toarray()
            np.testing.assert_allclose(answer[name].probabilities, expected, atol=1e-12, rtol=0)
            if draw == draws - 1 or len(names) < 10:
                alone = engine.posterior(name, states)[name].probabilities
                np.testing.assert_allclose(alone, expected, atol=1e-12, rtol=0)
        if observed and answer:
            evidence = math.log(lazy.evidenceProbability())
            assert answer.log_evidence == pytest.approx(evidence, abs=1e-9)


@pytest.mark.slow
def test_all_networks_of_bnrep_are_answered() -> None:
    pytest.importorskip("pyagrum")
    networks = dict(bnrep_networks(data_set("bnrep")))
    assert len(networks) == 97
    asked = [network for network in networks.values() if network is not None]
    assert len(asked) == 95  # two have tables with NaN, as R writes them
    for network in asked:
        compare(network, 2)
