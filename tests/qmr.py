"""Random networks of the kind of QMR-DT: diseases, and findings that are noisy-or of them."""

from __future__ import annotations

import numpy as np

from bnmind.pgm import CPD, Network, TabularCPD, Variable, noisy_or

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
