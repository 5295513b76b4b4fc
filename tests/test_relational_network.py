"""The relational network against the rules of the game, enumeration and published statistics."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.relational_network import (
    code_probabilities,
    code_targets,
    random_turns,
    relational_evidence,
    relational_network,
)
from bnmind.errors import InvalidArgumentError
from bnmind.junction import compile_model
from bnmind.mastermind import Board, Channel, Reply, TableBelief, Turn, reply
from bnmind.pgm import Network


def simulated(network: Network, choices: dict[str, bool]) -> dict[str, bool]:
    """Return the value of every variable of the network, given those of the pegs."""
    values: dict[str, bool] = {}
    for cpd in network.cpds:
        name = cpd.variable.name
        parents = tuple(int(values[parent.name]) for parent in cpd.parents)
        chance = float(cpd.to_tabular().values[(1, *parents)])
        values[name] = choices[name] if 0 < chance < 1 else chance == 1
        assert name not in choices or values[name] == choices[name]
    return values


def colors_of(peg: str, color: int, n_colors: int) -> dict[str, bool]:
    return {f"{peg}_{c}": c == color for c in range(1, n_colors + 1)}


@pytest.mark.parametrize(("pegs", "colors"), [(2, 2), (2, 4), (3, 2), (3, 3), (4, 2)])
def test_the_circuit_computes_the_reply_to_every_guess_for_every_code(
    pegs: int, colors: int
) -> None:
    network = relational_network(Board(pegs, colors), 1)
    codes = list(itertools.product(range(1, colors + 1), repeat=pegs))
    for code, guess in itertools.product(codes, codes):
        choices: dict[str, bool] = {}
        for i in range(pegs):
            choices |= colors_of(f"code_{i + 1}", code[i], colors)
            choices |= colors_of(f"guess_1_{i + 1}", guess[i], colors)
        values = simulated(network, choices)
        counted = [
            sum(values[f"{word}_1_{m}_{pegs}"] for m in range(1, pegs + 1))
            for word in ("black", "white")
        ]
        assert tuple(counted) == reply(guess, code)


def belief_after(board: Board, turns: tuple[Turn, ...]) -> TableBelief:
    belief = TableBelief.start(Channel.exact(board))
    for turn in turns:
        belief = belief.update(turn.guess, turn.reply)
    return belief


@settings(max_examples=5, deadline=None)
@given(
    shape=st.sampled_from([(2, 2), (2, 3), (3, 2)]),
    n_guesses=st.integers(1, 2),
    seed=st.integers(0, 2**32 - 1),
)
def test_posteriors_equal_those_of_an_enumeration_of_codes(
    shape: tuple[int, int], n_guesses: int, seed: int
) -> None:
    board = Board(*shape)
    turns = random_turns(board, n_guesses, rng=np.random.default_rng(seed))
    engine = compile_model(relational_network(board, n_guesses))
    posterior = engine.posterior(list(code_targets(board)), relational_evidence(board, turns))
    belief = belief_after(board, turns)
    np.testing.assert_allclose(
        code_probabilities(board, posterior), belief.codes.marginals(), rtol=0, atol=1e-12
    )
    chance = belief.codes.possible_codes() / board.n_codes ** (n_guesses + 1)
    assert posterior.log_evidence == pytest.approx(np.log(chance), abs=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize(("colors", "pegs"), [(3, 3), (10, 3)])
def test_games_of_eight_guesses_are_exact(colors: int, pegs: int) -> None:
    board = Board(pegs, colors)
    turns = random_turns(board, 8, rng=np.random.default_rng(1))
    engine = compile_model(relational_network(board, 8))
    posterior = engine.posterior(list(code_targets(board)), relational_evidence(board, turns))
    np.testing.assert_allclose(
        code_probabilities(board, posterior),
        belief_after(board, turns).codes.marginals(),
        rtol=0,
        atol=1e-12,
    )


def test_choices_and_leaves_agree_with_the_statistics_of_the_original_network() -> None:
    """mastermind_03_08_03 in ACE's list: 27 roots, 54 random nodes, 48 leaves, 2 parents at most.

    ACE counts 108 parameters other than 0 and 1, of which 81 are distinct within their tables.
    """
    network = relational_network(Board(pegs=3, colors=3), 8)
    cpds = [cpd.to_tabular() for cpd in network.cpds]
    inner = {parent.name for cpd in cpds for parent in cpd.parents}
    parameters = [cpd.values[(cpd.values > 0) & (cpd.values < 1)] for cpd in cpds]
    assert {v.n_states for v in network.variables} == {2}
    assert max(len(cpd.parents) for cpd in cpds) == 2
    assert sum(not cpd.parents for cpd in cpds) == 27
    assert sum(cpd.variable.name not in inner for cpd in cpds) == 48
    assert sum(len(others) > 0 for others in parameters) == 54
    assert sum(len(others) for others in parameters) == 108
    assert sum(len(set(others.round(12).tolist())) for others in parameters) == 81


@pytest.mark.parametrize("colors", [3, 7])
@pytest.mark.parametrize("pegs", [3, 4, 5])
def test_the_size_follows_the_documented_formula(colors: int, pegs: int) -> None:
    rows, comparisons, replies = 9 * pegs, pegs**2 * (2 * colors - 1), 2 * pegs * (5 * pegs - 8)
    network = relational_network(Board(pegs, colors), 8)
    assert len(network.variables) == rows * (2 * colors - 2) + 8 * (comparisons + replies)


def test_invalid_arguments_are_refused() -> None:
    board = Board(3, 3)
    with pytest.raises(InvalidArgumentError, match="with repeats and at least two pegs, got 3x4"):
        relational_network(Board(3, 4, repeats=False), 8)
    with pytest.raises(InvalidArgumentError, match="at least two pegs, got 1x4"):
        relational_network(Board(1, 4), 8)
    with pytest.raises(InvalidArgumentError, match="at least one guess, got 0"):
        relational_network(board, 0)
    with pytest.raises(InvalidArgumentError, match="got -1"):
        random_turns(board, -1, rng=np.random.default_rng(0))
    with pytest.raises(InvalidArgumentError):
        relational_evidence(board, [Turn((1, 2, 4), Reply(0, 0))])
    with pytest.raises(InvalidArgumentError, match="got 2b1w for guess 1"):
        relational_evidence(board, [Turn((1, 2, 3), Reply(2, 1))])
