"""Certificates: bounds against the smallest trees, and wrong certificates."""

from __future__ import annotations

import random
from contextlib import suppress
from dataclasses import replace
from itertools import permutations
from pathlib import Path

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from bnmind.errors import CertificateError, InvalidArgumentError, ModelFileError
from bnmind.junction import ExactOrder, InteractionGraph
from bnmind.junction.certificates import (
    Atom,
    Certificate,
    Claim,
    certificate_from_json,
    certificate_to_json,
    prove,
    prove_bound,
    read_certificate,
    write_certificate,
)
from bnmind.junction.certificates.bounds import maximal_cliques
from bnmind.junction.certificates.checker import checked_bound
from bnmind.junction.graphs.elimination_order import measured_order
from tests.wheel import read_wheel


@st.composite
def graphs(draw: st.DrawFn) -> InteractionGraph:
    n = draw(st.integers(1, 6))
    sizes = {f"x{i}": draw(st.integers(1, 4)) for i in range(n)}
    pairs = [(f"x{i}", f"x{j}") for i in range(n) for j in range(i)]
    edges = draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else []
    return InteractionGraph.from_scopes(sizes, edges)


def smallest(graph: InteractionGraph) -> int:
    several = graph.subgraph(sum(1 << v for v in range(graph.n) if graph.sizes[v] > 1))
    return min(
        measured_order(several, order, method="all").total_size
        for order in permutations(range(several.n))
    )


@settings(max_examples=60, deadline=None)
@given(graph=graphs())
def test_bounds_hold_and_are_proven_with_enough_claims(graph: InteractionGraph) -> None:
    best = smallest(graph)
    assert prove_bound(graph, max_claims=1).check(graph) <= best
    assert prove_bound(graph).check(graph) == best


@settings(max_examples=60, deadline=None)
@given(graph=graphs(), data=st.data())
def test_a_mutated_certificate_never_proves_too_much(
    graph: InteractionGraph, data: st.DataObject
) -> None:
    certificate = prove_bound(graph, max_claims=data.draw(st.sampled_from([1, 5, 100])))
    assume(certificate.atoms)
    number = data.draw(st.integers(0, len(certificate.atoms) - 1))
    vertices, claims = certificate.atoms[number]
    place = data.draw(st.integers(0, len(claims) - 1))
    masks = st.integers(0, 2**graph.n - 1)
    claim = data.draw(
        st.one_of(
            st.integers(-9, 99).map(
                lambda more: claims[place]._replace(bound=claims[0].bound + more)
            ),
            masks.map(lambda mask: claims[place]._replace(eliminated=mask)),
            masks.map(lambda mask: claims[place]._replace(choice=mask)),
            st.lists(masks).map(lambda sets: claims[place]._replace(minors=(tuple(sets),))),
        )
    )
    changed = (*claims[:place], claim, *claims[place + 1 :])
    vertices = data.draw(st.one_of(st.just(vertices), masks))
    atoms = list(certificate.atoms)
    atoms[number] = Atom(vertices, changed)
    bound = data.draw(st.integers(0, 3)) + sum(
        next((c.bound for c in atom.claims if not c.eliminated), 0) for atom in atoms
    )
    wrong = replace(certificate, atoms=tuple(atoms), bound=bound)
    try:
        proven = wrong.check(graph)
    except CertificateError:
        return
    assert proven == bound <= smallest(graph)


def random_graph(rng: random.Random) -> InteractionGraph:
    n = rng.randint(7, 10)
    sizes = {f"x{i}": rng.randint(2, 4) for i in range(n)}
    pairs = [(f"x{i}", f"x{j}") for i in range(n) for j in range(i)]
    return InteractionGraph.from_scopes(sizes, [pair for pair in pairs if rng.random() < 0.3])


def test_claims_of_all_kinds_are_right_and_no_wrong_one_proves_too_much() -> None:
    rng = random.Random(3)
    kinds: set[str] = set()
    for _ in range(15):
        graph = random_graph(rng)
        best = ExactOrder()(graph).total_size
        made = prove_bound(graph)
        assert made.check(graph) == best
        assert certificate_from_json(certificate_to_json(made)) == made
        for number, (vertices, claims) in enumerate(made.atoms):
            for place, claim in enumerate(claims):
                kinds |= {f for f in ("choice", "minors", "separator") if getattr(claim, f)}
                some = rng.getrandbits(graph.n) & vertices
                wrong = rng.choice(
                    [
                        claim._replace(bound=claim.bound + rng.randint(1, 9)),
                        claim._replace(choice=some, separator=0),
                        claim._replace(separator=some),
                        claim._replace(eliminated=some),
                        claim._replace(choice=0, separator=0, minors=((some,),)),
                    ]
                )
                atoms = list(made.atoms)
                atoms[number] = Atom(vertices, (*claims[:place], wrong, *claims[place + 1 :]))
                firsts = [next((c.bound for c in a.claims if not c.eliminated), 0) for a in atoms]
                with suppress(CertificateError):
                    assert replace(made, atoms=tuple(atoms), bound=sum(firsts)).check(graph) <= best
    assert kinds == {"choice", "minors", "separator"}


def test_a_best_first_search_proves_the_smallest_size_or_a_bound(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(prove, "_MOST_VERTICES", 0)
    rng = random.Random(8)
    for _ in range(8):
        graph = random_graph(rng)
        best = ExactOrder()(graph).total_size
        first, *bounds = [
            prove_bound(graph, max_claims=most).check(graph) for most in (1, 8, 40, 10_000)
        ]
        assert all(first <= bound <= best for bound in bounds)
        assert bounds[-1] == best


def test_no_more_sets_are_searched_in_depth_than_claims_are_allowed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    graph = InteractionGraph.from_scopes(
        {f"x{i}": 2 for i in range(9)},
        [(f"x{i}", f"x{j}") for i in range(9) for j in range(i) if (i - j) % 9 in (1, 3, 6, 8)],
    )
    best = ExactOrder()(graph).total_size
    whole = prove_bound(graph)
    assert whole.check(graph) == best
    few = prove_bound(graph, max_claims=20)
    assert few.n_claims <= 2 * 20 < whole.n_claims
    assert prove_bound(graph, max_claims=1).check(graph) <= few.check(graph) < best


RING = InteractionGraph.from_scopes(
    {"a": 2, "b": 3, "c": 2, "d": 5}, [("a", "b"), ("b", "c"), ("c", "d"), ("d", "a")]
)


def certificate(*claims: Claim, bound: int = 32, atoms: tuple[int, ...] = (15,)) -> Certificate:
    return Certificate(("a", "b", "c", "d"), tuple([Atom(atom, claims) for atom in atoms]), bound)


def test_claims_that_refer_to_themselves_prove_nothing() -> None:
    """After a, the neighbors b and d are a cover; c is alone on the other side of it."""
    much = 10**9
    around = [0b1010, 0b0101, 0b1010, 0b0101]
    circles = [Claim(1 << v, much, separator=near) for v, near in enumerate(around)]
    with pytest.raises(CertificateError, match="leaves fewer than two components"):
        certificate(Claim(0, much, choice=15), *circles, bound=much).check(RING)


@pytest.mark.parametrize(
    ("wrong", "reason"),
    [
        (certificate(Claim(0, 33), bound=33), "33 is claimed, 32 follows"),
        (
            certificate(Claim(0, 32), bound=33),
            "claims the bound 33; its claims prove 32",
        ),
        (certificate(), "one for the empty set"),
        (certificate(Claim(1, 1)), "one for the empty set"),
        (certificate(Claim(0, 1), Claim(0, 2)), "one claim for each set"),
        (certificate(Claim(0, 12, choice=1)), "the choice is not enclosed by a clique"),
        (certificate(Claim(0, 32, choice=15)), "32 is claimed, 12 follows"),
        (certificate(Claim(0, 20, minors=((5,),))), "not connected or not free"),
        (certificate(Claim(0, 20, minors=((1, 1),))), "not connected or not free"),
        (certificate(Claim(0, 20), Claim(16, 1)), "vertices of other atoms"),
        (certificate(Claim(0, 5), atoms=(7, 8)), "no clique separates atom 1"),
        (certificate(Claim(0, 32), atoms=(15, 15)), "atom 2 is empty, or not in what"),
        (certificate(Claim(0, 32), atoms=()), "the atoms do not cover the graph"),
        (
            replace(certificate(Claim(0, 32)), variables=("a", "b", "c", "e")),
            "other variables",
        ),
    ],
)
def test_wrong_certificates_are_refused_with_the_reason(wrong: Certificate, reason: str) -> None:
    with pytest.raises(CertificateError, match=reason):
        wrong.check(RING)


def test_a_certificate_of_another_graph_is_refused() -> None:
    bound = prove_bound(RING)
    assert bound.check(RING) == 32
    with pytest.raises(CertificateError, match="expected at least two states for every vertex"):
        checked_bound([2, 1], [0b10, 0b01], (Atom(3, (Claim(0, 2),)),))
    path = InteractionGraph.from_scopes(
        {"a": 2, "b": 3, "c": 2, "d": 5}, [("a", "b"), ("b", "c"), ("c", "d")]
    )
    with pytest.raises(CertificateError):
        bound.check(path)
    # The order of the variables does not matter.
    turned = InteractionGraph.from_scopes(
        {"d": 5, "c": 2, "b": 3, "a": 2},
        [("a", "b"), ("b", "c"), ("c", "d"), ("d", "a")],
    )
    assert bound.check(turned) == 32


@settings(max_examples=100, deadline=None)
@given(graph=graphs())
def test_sizes_of_maximal_cliques_sum_up_to_at_most_the_size_of_all_vertices(
    graph: InteractionGraph,
) -> None:
    several = graph.subgraph(sum(1 << v for v in range(graph.n) if graph.sizes[v] > 1))
    near = dict(enumerate(several.neighbors))
    total = sum(several.clique_size(clique) for clique in maximal_cliques(near))
    assert total <= several.clique_size(several.vertices) or not near


@pytest.mark.parametrize(("name", "size"), [("asia", 40), ("alarm", 996), ("hepar2", 2617)])
def test_small_networks_are_proven(name: str, size: int) -> None:
    """Total sizes of T. Korhonen, J. Berg, M. Järvisalo (2019)."""
    network = read_wheel(name)
    sizes = {v.name: v.n_states for v in network.variables}
    graph = InteractionGraph.from_scopes(
        sizes, [[v.name for v in cpd.scope] for cpd in network.cpds]
    )
    assert prove_bound(graph).check(graph) == size


def test_files_hold_certificates(tmp_path: Path) -> None:
    path = tmp_path / "ring.json"
    made = prove_bound(RING)
    write_certificate(made, path)
    assert read_certificate(path) == made
    with pytest.raises(ModelFileError, match="gone"):
        read_certificate(tmp_path / "gone.json")


@pytest.mark.parametrize(
    "text",
    [
        "[]",
        "{}",
        "3",
        '{"schema": "bnmind-certificate"}',
        certificate_to_json(certificate(Claim(0, 32))).replace('"bound": 32', '"bound": "32"'),
        certificate_to_json(certificate(Claim(0, 32))).replace('"after": "0"', '"after": "-1"'),
        certificate_to_json(certificate(Claim(0, 32))).replace('"after": "0"', '"after": "x"'),
        certificate_to_json(certificate(Claim(0, 32))).replace('"version": 1', '"version": 2'),
    ],
)
def test_texts_without_a_certificate_are_refused(text: str) -> None:
    with pytest.raises(ModelFileError, match="certificate"):
        certificate_from_json(text)


def test_the_number_of_claims_must_be_positive() -> None:
    with pytest.raises(InvalidArgumentError, match="at least 1, got 0"):
        prove_bound(RING, max_claims=0)
