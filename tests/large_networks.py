"""Large networks for tests: random ones, pedigrees, chains, and the files of a competition."""

from __future__ import annotations

import gzip
import os
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest

from bnmind.pgm import CPD, FactorModel, Network, TabularCPD, Variable
from bnmind.pgm.files import read_model

__all__ = [
    "chain_network",
    "competition_answers",
    "competition_model",
    "linkage_network",
    "random_network",
]

ROOT = Path(__file__).parents[1]
COMPETITION = Path(os.environ.get("BNMIND_DATA", ROOT.parent / "shared" / "data")) / "uai2014"
"""Instances of the UAI 2014 inference competition, where they are at hand."""


def random_network(n: int, *, parents: int = 2, seed: int = 0) -> Network:
    """Return binary variables with parents drawn from all variables before them."""
    rng = np.random.default_rng(seed)
    variables = [Variable(f"X{i}", ("0", "1")) for i in range(n)]
    cpds: list[CPD] = []
    for i, child in enumerate(variables):
        chosen = sorted(rng.choice(i, size=min(i, parents), replace=False)) if i else []
        table = rng.random((2,) * (len(chosen) + 1)) + 0.05
        cpds.append(TabularCPD(child, tuple(variables[j] for j in chosen), table / table.sum(0)))
    return Network(tuple(cpds))


def linkage_network(people: int, loci: int, *, alleles: int = 4, seed: int = 0) -> Network:
    """Return a pedigree: alleles, selectors and genotypes of people at several loci.

    A person has two alleles ``G{person}_{locus}{p or m}`` at each locus, and a genotype
    ``F{person}_{locus}``. Those with parents have a selector ``S…`` beside each allele that says
    which of the parent's two it is; selectors of neighboring loci mostly agree.
    """
    rng = np.random.default_rng(seed)
    founders = max(2, people // 4)
    names = tuple(str(a) for a in range(alleles))
    genotypes = tuple(f"{a}{b}" for a in range(alleles) for b in range(a, alleles))
    inherits = np.zeros((alleles, 2, alleles, alleles))
    shows = np.zeros((len(genotypes), alleles, alleles))
    for a in range(alleles):
        for b in range(alleles):
            inherits[a, 0, a, b] = inherits[b, 1, a, b] = 1.0
            shows[genotypes.index(f"{min(a, b)}{max(a, b)}"), a, b] = 1.0
    cpds: list[CPD] = []
    everyone: list[list[tuple[Variable, Variable]]] = []
    for person in range(people):
        couple = sorted(rng.choice(person, size=2, replace=False)) if person >= founders else []
        before: list[Variable | None] = [None, None]
        mine = []
        for locus in range(loci):
            pair = []
            for side in (0, 1):
                allele = Variable(f"G{person}_{locus}{'pm'[side]}", names)
                if couple:
                    selector = Variable(f"S{person}_{locus}{'pm'[side]}", ("0", "1"))
                    last = before[side]
                    table = np.full(2, 0.5) if last is None else np.array([[0.9, 0.1], [0.1, 0.9]])
                    cpds.append(TabularCPD(selector, () if last is None else (last,), table))
                    before[side] = selector
                    parents = (selector, *everyone[couple[side]][locus])
                    cpds.append(TabularCPD(allele, parents, inherits))
                else:
                    share = rng.random(alleles) + 0.1
                    cpds.append(TabularCPD(allele, (), share / share.sum()))
                pair.append(allele)
            cpds.append(TabularCPD(Variable(f"F{person}_{locus}", genotypes), tuple(pair), shows))
            mine.append((pair[0], pair[1]))
        everyone.append(mine)
    return Network(tuple(cpds))


def chain_network(n: int) -> Network:
    """Return a chain of binary variables ``X0``, ``X1``, …"""
    variables = [Variable(f"X{i}", ("0", "1")) for i in range(n)]
    first: list[CPD] = [TabularCPD(variables[0], (), np.array([0.4, 0.6]))]
    step = np.array([[0.7, 0.2], [0.3, 0.8]])
    rest = [TabularCPD(v, (u,), step) for u, v in pairwise(variables)]
    return Network((*first, *rest))


def competition_model(name: str) -> tuple[FactorModel, dict[str, int]]:
    """Return an instance of the UAI 2014 competition with its evidence, or skip the test."""
    if not COMPETITION.is_dir():
        pytest.skip(f"no data in {COMPETITION}")
    with TemporaryDirectory() as folder:
        path = Path(folder, f"{name}.uai")
        path.write_bytes(gzip.decompress((COMPETITION / f"{name}.uai.gz").read_bytes()))
        model = read_model(path)
    numbers = gzip.decompress((COMPETITION / f"{name}.uai.evid.gz").read_bytes()).split()
    found = [int(x) for x in numbers[1:]]
    at = dict(zip(found[::2], found[1::2], strict=True))
    return model, {model.variables[v].name: state for v, state in at.items()}


def competition_answers(name: str) -> list[list[float]]:
    """Return the marginal of every variable of an instance, printed to some six digits."""
    numbers = gzip.decompress((COMPETITION / f"{name}.uai.MAR.gz").read_bytes()).split()[2:]
    answers = []
    while numbers:
        n_states = int(numbers[0])
        answers.append([float(x) for x in numbers[1 : 1 + n_states]])
        numbers = numbers[1 + n_states :]
    return answers
