"""Random networks of the kind of QMR-DT: diseases, and findings that are noisy-or of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from bnmind.pgm import CPD, Network, NoisyMaximum, TabularCPD, Variable, noisy_or

_BITS = 1_000
"""The binary digits of the numbers of `quickscore`."""

_MANY = 8
"""The number of positive findings of a disease that is taken state by state."""

_SMALL = 16
"""The number of positive findings whose table is small, so that no disease is taken so."""

NO_YES = ("no", "yes")


def qmr_network(
    n_diseases: int, n_findings: int, rng: np.random.Generator, *, n_arcs: int | None = None
) -> Network:
    """Return a network of diseases ``d0``, … and findings ``f0``, ….

    As in QMR-DT, a finding has about eleven causes on average, some have only one and some more
    than a hundred, the links have one of five strengths, and findings occur without any disease
    with a small probability.

    Parameters
    ----------
    n_diseases, n_findings
        The numbers of variables.
    rng
        The random generator.
    n_arcs
        The approximate number of arcs; by default eleven for each finding.
    """
    mean = (n_arcs or 11 * n_findings) / n_findings
    diseases = [Variable(f"d{i}", NO_YES) for i in range(n_diseases)]
    prior = 10.0 ** rng.uniform(-3, -1.3, n_diseases)
    cpds: list[CPD] = [
        TabularCPD(v, (), np.array([1 - p, p])) for v, p in zip(diseases, prior, strict=True)
    ]
    # The mean of a log-normal distribution is exp(μ + σ²/2).
    counts = np.round(rng.lognormal(np.log(mean) - 0.5, 1.0, n_findings))
    for j, count in enumerate(np.clip(counts, 1, n_diseases).astype(int).tolist()):
        parents = [diseases[i] for i in np.sort(rng.choice(n_diseases, count, replace=False))]
        strengths = rng.choice([0.025, 0.2, 0.5, 0.8, 0.985], count)
        leak = float(10.0 ** rng.uniform(-3, -2))
        cpds.append(noisy_or(Variable(f"f{j}", NO_YES), parents, strengths, leak))
    return Network(tuple(cpds))


def qmr_evidence(
    network: Network, n_positive: int, rng: np.random.Generator, *, per_disease: int | None = None
) -> dict[str, str]:
    """Return a state of each finding: some are positive, and all others negative.

    Parameters
    ----------
    network
        A network by `qmr_network`.
    n_positive
        The number of positive findings.
    rng
        The random generator.
    per_disease
        The number of positive findings that share a disease; by default findings are drawn
        independently.
    """
    findings = [cpd for cpd in network.cpds if not isinstance(cpd, TabularCPD)]
    names = [cpd.variable.name for cpd in findings]
    positive: dict[str, None] = {}
    if per_disease is None:
        positive = dict.fromkeys(rng.choice(names, n_positive, replace=False).tolist())
    diseases = [cpd.variable for cpd in network.cpds if isinstance(cpd, TabularCPD)]
    while len(positive) < n_positive:
        disease = diseases[rng.integers(len(diseases))]
        caused = [cpd.variable.name for cpd in findings if disease in cpd.parents]
        rng.shuffle(caused)
        positive |= dict.fromkeys(caused[:per_disease])
    chosen = set(list(positive)[:n_positive])
    return {name: "yes" if name in chosen else "no" for name in names}


def quickscore(
    network: Network, evidence: Mapping[str, str], given: Sequence[str] = ()
) -> Fraction:
    """Return the probability of evidence on all findings, and of the diseases ``given``.

    A positive finding is the difference of two products, as in Quickscore (Heckerman, *A tractable
    inference algorithm for diagnosing multiple diseases*, UAI 1989): one for the leak and the
    diseases, and one everywhere. The sum over diseases is taken before the differences, in numbers
    of three hundred digits. This is the slow twin of a sweep.
    """
    one = 1 << _BITS

    def fixed(number: float) -> int:
        numerator, denominator = float(number).as_integer_ratio()
        return numerator * one // denominator

    prior = {c.variable.name: c.values for c in network.cpds if isinstance(c, TabularCPD)}
    absent = {name: fixed(p[0]) for name, p in prior.items()}
    present = {name: fixed(p[1]) for name, p in prior.items()}
    factors: dict[str, list[tuple[str, int]]] = {name: [] for name in prior}
    leaks = {}
    total = one
    for cpd in network.cpds:
        if not isinstance(cpd, NoisyMaximum):
            continue
        leak, *links = cpd.contributions
        finding = cpd.variable.name
        if evidence[finding] == "yes":
            leaks[finding] = fixed(leak[0, 0])
        else:
            total = total * fixed(leak[0, 0]) >> _BITS
        for v, link in zip(cpd.parents, links, strict=True):
            if finding in leaks:
                factors[v.name].append((finding, fixed(link[0, 1])))
            else:
                present[v.name] = present[v.name] * fixed(link[0, 1]) >> _BITS
    for name in given:
        absent[name] = 0
    return Fraction(_sum(total, leaks, factors, (absent, present)), one)


def _sum(
    total: int,
    leaks: dict[str, int],
    links: dict[str, list[tuple[str, int]]],
    prior: tuple[dict[str, int], dict[str, int]],
) -> int:
    """Return the sum over diseases, which have weights ``prior`` if absent and if present.

    Diseases of many positive findings are taken state by state, which keeps the tables small.
    """
    absent, present = prior
    one = 1 << _BITS
    most = max(links, key=lambda name: len(links[name]), default=None)
    if most is not None and len(links[most]) > _MANY and len(leaks) > _SMALL:
        rest = {name: mine for name, mine in links.items() if name != most}
        more = leaks | {name: leaks[name] * factor >> _BITS for name, factor in links[most]}
        return _sum(total * absent[most] >> _BITS, leaks, rest, prior) + _sum(
            total * present[most] >> _BITS, more, rest, prior
        )
    table: NDArray[np.object_] = np.array(total, dtype=object)
    opened: list[str] = []
    waiting = dict(links)
    left = set(leaks)
    while left:
        # The finding whose diseases open the fewest others comes next.
        prices = [(len(_with(name, waiting).difference(opened)), name) for name in left]
        finding = min(prices)[1]
        left.remove(finding)
        for disease in [d for d, some in waiting.items() if finding in dict(some)]:
            mine = waiting.pop(disease)
            new = [name for name, _ in mine if name not in opened]
            for name in new:
                table = np.stack([table, table * leaks[name] >> _BITS], axis=-1)
            opened += new
            weight: NDArray[np.object_] = np.full((1,) * table.ndim, present[disease], dtype=object)
            for name, factor in mine:
                shape = [2 if name == other else 1 for other in opened]
                weight = weight * np.array([one, factor], dtype=object).reshape(shape) >> _BITS
            table = table * (weight + absent[disease]) >> _BITS
        if finding not in opened:
            # Its leak alone explains it.
            table = table * (one - leaks[finding]) >> _BITS
            continue
        axis = opened.index(finding)
        opened.remove(finding)
        table = np.take(table, 0, axis=axis) - np.take(table, 1, axis=axis)
    result = int(table)
    for disease in waiting:
        result = result * (absent[disease] + present[disease]) >> _BITS
    return result


def _with(finding: str, links: Mapping[str, Sequence[tuple[str, int]]]) -> set[str]:
    """Return the findings of all diseases that have a finding."""
    findings = [{name for name, _ in mine} for mine in links.values()]
    return set().union(*[mine for mine in findings if finding in mine])
