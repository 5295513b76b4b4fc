"""How far our junction trees are from proven lower bounds of their total size.

Usage: ``python -m benchmarks.certificates [NETWORK ...] [--claims N]``

For each network, the total size of the best tree that the default search finds, the bound of
`prove_bound` with at most about N claims, and the processor's seconds to prove and to check it.
Every certificate is checked before its row is printed.
"""

from __future__ import annotations

import argparse
import time

from bnmind.junction import InteractionGraph, junction_tree
from bnmind.junction.certificates import prove_bound
from tests.wheel import NAMES, read_wheel


def main() -> None:
    """Print a row of a table for each network."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", default=NAMES, metavar="NETWORK")
    parser.add_argument("--claims", type=int, default=30_000, metavar="N")
    options = parser.parse_args()
    print("| network | variables | best tree | bound | ratio | claims | prove, s | check, s |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    for name in options.names:
        network = read_wheel(name)
        sizes = {v.name: v.n_states for v in network.variables}
        scopes = [[v.name for v in cpd.scope] for cpd in network.cpds]
        graph = InteractionGraph.from_scopes(sizes, scopes)
        best = junction_tree(network).total_size
        start = time.process_time()
        certificate = prove_bound(graph, max_claims=options.claims)
        proven = time.process_time()
        bound = certificate.check(graph)
        checked = time.process_time()
        ratio = "1 (proven)" if bound == best else f"{best / bound:.3g}"
        print(
            f"| {name} | {graph.n:,} | {best:,} | {bound:,} | {ratio} | {certificate.n_claims:,} |"
            f" {proven - start:.2f} | {checked - proven:.2f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
