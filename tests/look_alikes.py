"""Small models like those of the UAI 2014 inference competition, as texts of its file formats.

Each family returns the numbers of states, the factors, and the evidence, from a seed. The texts are
written here, and not by the package.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import combinations, product
from types import MappingProxyType
from typing import NamedTuple, TypeAlias

import numpy as np

from bnmind.information import Floats

__all__ = ["FAMILIES", "LookAlike", "evidence_text", "model_text"]


_Factors: TypeAlias = list[tuple[tuple[int, ...], Floats]]


class LookAlike(NamedTuple):
    """A model of variables 0, 1, …, and findings."""

    sizes: list[int]
    factors: _Factors
    evidence: dict[int, int]


def model_text(model: LookAlike) -> str:
    """Return the model in the format of the competitions."""
    lines = ["MARKOV", str(len(model.sizes)), " ".join(map(str, model.sizes))]
    lines.append(str(len(model.factors)))
    lines += [" ".join(map(str, [len(scope), *scope])) for scope, _ in model.factors]
    for _, table in model.factors:
        lines += ["", str(table.size), " ".join(map(repr, table.ravel().tolist()))]
    return "\n".join(lines) + "\n"


def evidence_text(model: LookAlike) -> str:
    """Return the evidence in the format of the competitions."""
    pairs = [f"{v} {state}" for v, state in model.evidence.items()]
    return " ".join([str(len(pairs)), *pairs]) + "\n"


def _grid(rng: np.random.Generator) -> LookAlike:
    """An Ising model with strong couplings of both signs."""
    n = int(rng.integers(3, 7))
    number = np.arange(n * n).reshape(n, n)
    pairs = [*zip(number[:, :-1].ravel(), number[:, 1:].ravel(), strict=True)]
    pairs += zip(number[:-1].ravel(), number[1:].ravel(), strict=True)
    factors: _Factors = [((v,), np.exp(rng.normal(0, 1, 2))) for v in range(n * n)]
    for a, b in pairs:
        coupling = rng.normal(0, 5)
        factors.append(((int(a), int(b)), np.exp([[coupling, -coupling], [-coupling, coupling]])))
    evidence = {int(v): int(rng.integers(2)) for v in rng.permutation(n * n)[: n // 2]}
    return LookAlike([2] * (n * n), factors, evidence)


def _linkage(rng: np.random.Generator, n_people: int = 7, n_loci: int = 2) -> LookAlike:
    """A pedigree: two genes and two selectors of each person at each locus; tables of zeros."""
    n_alleles = int(rng.integers(2, 4))
    parents = {child: tuple(map(int, rng.permutation(child)[:2])) for child in range(3, n_people)}
    sizes: list[int] = []
    factors: _Factors = []
    evidence: dict[int, int] = {}

    def new(n: int) -> int:
        sizes.append(n)
        return len(sizes) - 1

    inherited = np.zeros((n_alleles, n_alleles, 2, n_alleles))
    for a, b in product(range(n_alleles), repeat=2):
        inherited[a, b, 0, a] = inherited[a, b, 1, b] = 1
    theta = 0.1
    before: dict[tuple[int, int], int] = {}
    for _ in range(n_loci):
        frequencies = rng.dirichlet(np.ones(n_alleles))
        genes: dict[tuple[int, int], int] = {}
        for person in range(n_people):
            for side in range(2):
                gene = genes[person, side] = new(n_alleles)
                if person not in parents:
                    factors.append(((gene,), frequencies))
                    continue
                parent = parents[person][side]
                selector = new(2)
                if (person, side) in before:
                    change = np.array([[1 - theta, theta], [theta, 1 - theta]])
                    factors.append(((before[person, side], selector), change))
                else:
                    factors.append(((selector,), np.array([0.5, 0.5])))
                before[person, side] = selector
                scope = (genes[parent, 0], genes[parent, 1], selector, gene)
                factors.append((scope, inherited))
            # The unordered pair of alleles is observed in some people.
            pairs = list(combinations(range(n_alleles + 1), 2))
            phenotype = new(len(pairs))
            table = np.zeros((n_alleles, n_alleles, len(pairs)))
            for a, b in product(range(n_alleles), repeat=2):
                table[a, b, pairs.index((min(a, b), max(a, b) + 1))] = 1
            factors.append(((genes[person, 0], genes[person, 1], phenotype), table))
            if person >= n_people - 2:
                # Heterozygous in the first two alleles: possible for any parents' alleles only
                # sometimes, so the evidence may be impossible.
                evidence[phenotype] = int(rng.integers(len(pairs)))
    return LookAlike(sizes, factors, evidence)


def _pedigree(rng: np.random.Generator) -> LookAlike:
    """A larger pedigree with one locus."""
    return _linkage(rng, n_people=11, n_loci=1)


def _relational(rng: np.random.Generator) -> LookAlike:
    """Two kinds of interchangeable variables, each pair of them with the same factor."""
    n, m = int(rng.integers(4, 8)), int(rng.integers(4, 8))
    pair, one = np.exp(rng.normal(0, 1, (2, 2))), np.exp(rng.normal(0, 1, 2))
    factors: _Factors = [((i, n + j), pair) for i in range(n) for j in range(m)]
    factors += [((i,), one) for i in range(n)]
    return LookAlike([2] * (n + m), factors, {0: 1} if rng.random() < 0.5 else {})


def _alchemy(rng: np.random.Generator) -> LookAlike:
    """A Markov logic network: smoking is contagious among friends, and causes cancer."""
    n = int(rng.integers(2, 4))
    smokes, cancer = range(n), range(n, 2 * n)
    friends = {pair: 2 * n + k for k, pair in enumerate(product(range(n), repeat=2))}
    causes = np.full((2, 2), np.exp(1.5))
    causes[1, 0] = 1.0
    alike = np.full((2, 2, 2), np.exp(1.1))
    alike[1, 0, 1] = alike[1, 1, 0] = 1.0
    factors: _Factors = [((smokes[i], cancer[i]), causes) for i in range(n)]
    factors += [((f, i, j), alike) for (i, j), f in friends.items() if i != j]
    evidence = {friends[0, 1]: 1, cancer[0]: int(rng.integers(2))}
    return LookAlike([2] * (2 * n + n * n), factors, evidence)


def _dbn(rng: np.random.Generator) -> LookAlike:
    """Two slices; each variable of the second depends on all of the first."""
    n = int(rng.integers(4, 8))
    factors: _Factors = [((i,), rng.dirichlet(np.ones(2))) for i in range(n)]
    for i in range(n):
        table = rng.dirichlet(np.ones(2), 2**n).reshape((2,) * (n + 1))
        factors.append(((*range(n), n + i), table))
    evidence = {n + int(i): int(rng.integers(2)) for i in rng.permutation(n)[: n // 2]}
    return LookAlike([2] * (2 * n), factors, evidence)


def _segmentation(rng: np.random.Generator) -> LookAlike:
    """Regions of a picture with labels, and Potts factors between neighbors."""
    n, k = int(rng.integers(10, 16)), int(rng.integers(3, 8))
    factors: _Factors = [((v,), np.exp(rng.normal(0, 3, k))) for v in range(n)]
    for v in range(1, n):
        for u in range(max(0, v - 3), v):
            if rng.random() < 0.6:
                factors.append(((u, v), np.where(np.eye(k) > 0, 1.0, np.exp(-rng.random()))))
    return LookAlike([k] * n, factors, {})


def _object_detection(rng: np.random.Generator) -> LookAlike:
    """All pairs of a few variables with many states, and factors of very different sizes."""
    n, k = int(rng.integers(4, 6)), int(rng.integers(4, 9))
    factors: _Factors = [((v,), np.exp(rng.normal(0, 20, k))) for v in range(n)]
    factors += [((u, v), np.exp(rng.normal(-20, 10, (k, k)))) for u, v in combinations(range(n), 2)]
    return LookAlike([k] * n, factors, {})


def _csp(rng: np.random.Generator) -> LookAlike:
    """Constraints of three variables, nearly as many as make the problem impossible."""
    n, k = int(rng.integers(8, 13)), 3
    factors: _Factors = []
    for _ in range(2 * n):
        scope = tuple(map(int, rng.permutation(n)[:3]))
        factors.append((scope, (rng.random((k,) * 3) < 0.75).astype(float)))
    return LookAlike([k] * n, factors, {})


def _protein(rng: np.random.Generator) -> LookAlike:
    """Side chains with numbers of states from 1 to 30, and energies that reach 10^±100."""
    sizes = rng.integers(1, 31, int(rng.integers(6, 10))).tolist()
    factors: _Factors = [((v,), np.exp(-rng.exponential(30, k))) for v, k in enumerate(sizes)]
    for v in range(1, len(sizes)):
        u = int(rng.integers(max(0, v - 2), v))
        table = np.exp(-rng.exponential(60, (sizes[u], sizes[v])))
        table[rng.random(table.shape) < 0.1] = 0.0
        factors.append(((u, v), table))
    return LookAlike(sizes, factors, {})


def _promedus(rng: np.random.Generator) -> LookAlike:
    """A medical network: noisy-or findings, as chains of tables of three binary variables."""
    n_causes, n_findings = int(rng.integers(5, 9)), int(rng.integers(5, 10))
    sizes = [2] * n_causes
    factors: _Factors = [((i,), np.array([0.97, 0.03])) for i in range(n_causes)]
    evidence = {}
    for _ in range(n_findings):
        last = None
        for cause in map(int, rng.permutation(n_causes)[:3]):
            sizes.append(2)
            here, link = len(sizes) - 1, float(rng.random())
            if last is None:
                factors.append(((cause, here), np.array([[1, 0], [1 - link, link]])))
            else:
                table = np.array([[[1, 0], [0, 1]], [[1 - link, link], [0, 1]]])
                factors.append(((cause, last, here), table))
            last = here
        assert last is not None
        evidence[last] = int(rng.random() < 0.4)
    return LookAlike(sizes, factors, evidence)


FAMILIES: Mapping[str, Callable[[np.random.Generator], LookAlike]] = MappingProxyType(
    {
        "Grids": _grid,
        "linkage": _linkage,
        "Pedigree": _pedigree,
        "relational": _relational,
        "Alchemy": _alchemy,
        "DBN": _dbn,
        "Segmentation": _segmentation,
        "ObjectDetection": _object_detection,
        "CSP": _csp,
        "ProteinFolding": _protein,
        "Promedus": _promedus,
    }
)
