"""Relational Mastermind: a game of several guesses as a network of binary variables.

M. Chavira, A. Darwiche and M. Jaeger (*Compiling relational Bayesian networks for exact inference*,
International Journal of Approximate Reasoning 42, 2006) generate networks of Mastermind from a
relational model with the program Primula. Their instances are named ``mastermind_CC_GG_PP`` by
the numbers of colors, guesses and pegs. All variables are binary and have at most two parents,
and nearly all are deterministic.

This module builds such networks anew, for benchmarks and for the files of other programs. The
authors of the compiler ACE list these statistics of the original ``03_08_03``: 1,220 variables, of
which 1,166 deterministic, 2,068 arcs, 27 roots, 48 leaves, 108 parameters other than 0 and 1. They
determine two parts of the network, which are reconstructed here:

* *Choices.* Each peg of the code and of a guess takes its color in a chain: color 1 with
  probability 1/k, otherwise color 2 with 1/(k − 1), and so on. The chain has k − 1 random
  variables, one of them a root. A variable says whether a color up to c is chosen.
* *Replies.* Each guess has two leaves for each peg: at least m black pegs, at least m white pegs.

The statistics do not determine the circuit between the two, which is our own. It is smaller: the
network of ``03_08_03`` has 804 variables.

=======================================  =====================================================
variable                                 is true if
=======================================  =====================================================
``code_i_c``, ``guess_g_j_c``            peg i of the code, peg j of guess g, has color c
``code_i_upto_c``, ``guess_g_j_upto_c``  it has a color from 1 to c
``both_g_i_j_c``                         peg i of the code and peg j of guess g have color c
``same_g_i_j_upto_c``, ``same_g_i_j``    they have the same color, from 1 to c, of any color
``miss_g_i``                             peg i is not a black peg
``apart_g_i_j``, ``open_g_i_j``          same color, i ≠ j, and j is no black peg; nor is i
``unused_g_i_j``                         peg i of the code has no match among the pegs before j
``free_g_i_j``                           ``open_g_i_j`` and ``unused_g_i_j``
``unmatched_g_i_j``                      peg j of the guess has no match among the pegs before i
``pair_g_i_j``                           pegs i and j match, which gives a white peg
``used_g_i_j``, ``matched_g_i_j``        i matches a peg up to j; j matches a peg up to i
``black_g_m_j``, ``white_g_m_j``         at least m black (white) pegs among 1 … j
``black_g_m_and_j``, …                   one at j, and at least m − 1 before
=======================================  =====================================================

Matching is greedy, peg by peg; it finds the most white pegs, since pegs match if and only if they
have the same color.

`write_game` writes a game as files in the format of the UAI competitions:

========================  ====================================================================
file                      content
========================  ====================================================================
``game.uai``              the network; its names are in ``game.uai.json``
``game.uai.evid``         the guesses and replies
``game.uai.MAR``          the answer: the distribution of every variable given the evidence
``game.uai.PR``           the answer: log₁₀ of the probability of the evidence
========================  ====================================================================
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from bnmind._arguments import checked
from bnmind._messages import counted
from bnmind.errors import InvalidArgumentError
from bnmind.information import Floats
from bnmind.junction import compile_model
from bnmind.mastermind import Board, Turn, reply
from bnmind.pgm import Distribution, Network, TabularCPD, Variable
from bnmind.pgm.competition import evidence_to_uai, log_evidence_to_uai, marginals_to_uai
from bnmind.pgm.files import write_model

_STATES = ("no", "yes")
_AND = ((0.0, 0.0), (0.0, 1.0))
_OR = ((0.0, 1.0), (1.0, 1.0))
_NOT = (1.0, 0.0)


@checked
def relational_network(board: Board, n_guesses: int) -> Network:
    """Return the network of a game: binary variables with at most two parents.

    Parameters
    ----------
    board
        A board with repeats and at least two pegs.
    n_guesses
        The number of guesses, at least one.

    Raises
    ------
    InvalidArgumentError
        If the board has no repeats or one peg, or there are no guesses.

    Examples
    --------
    >>> from bnmind.mastermind import Board
    >>> network = relational_network(Board(pegs=3, colors=3), 8)
    >>> len(network.variables), max(len(cpd.parents) for cpd in network.cpds)
    (804, 2)
    """
    if not board.repeats or board.pegs < 2:
        raise InvalidArgumentError(
            f"expected a board with repeats and at least two pegs, got {board}", board
        )
    if n_guesses < 1:
        raise InvalidArgumentError(f"expected at least one guess, got {n_guesses}", n_guesses)
    gates = _Gates()
    code = [gates.choice(f"code_{i}", board.colors) for i in range(1, board.pegs + 1)]
    for number in range(1, n_guesses + 1):
        _add_guess(gates, number, code, board.colors)
    return Network(tuple(gates.cpds))


class RelationalSize(NamedTuple):
    """The size of a network, in the numbers by which the literature describes these networks."""

    variables: int
    """The number of variables."""
    deterministic: int
    """Variables that are functions of their parents."""
    arcs: int
    """The number of arcs."""
    roots: int
    """Variables without parents."""
    leaves: int
    """Variables without children."""

    def __str__(self) -> str:
        return (
            f"{counted(self.variables, 'variable')}, {self.deterministic:,} deterministic,"
            f" {counted(self.arcs, 'arc')}, {counted(self.roots, 'root')}, {self.leaves:,} leaves"
        )


@checked
def relational_size(network: Network) -> RelationalSize:
    """Return the size of a network.

    Parameters
    ----------
    network
        The network.

    Examples
    --------
    >>> from bnmind.mastermind import Board
    >>> print(relational_size(relational_network(Board(pegs=3, colors=3), 8)))
    804 variables, 750 deterministic, 1,428 arcs, 27 roots, 48 leaves
    """
    inner = {parent.name for cpd in network.cpds for parent in cpd.parents}
    tables = [cpd.to_tabular().values for cpd in network.cpds]
    return RelationalSize(
        len(tables),
        sum(bool(np.isin(table, (0.0, 1.0)).all()) for table in tables),
        sum(len(cpd.parents) for cpd in network.cpds),
        sum(not cpd.parents for cpd in network.cpds),
        sum(cpd.variable.name not in inner for cpd in network.cpds),
    )


class _Gates:
    """A circuit under construction: a binary variable for each gate."""

    def __init__(self) -> None:
        self.cpds: list[TabularCPD] = []
        self._variables: dict[str, Variable] = {}

    def add(self, name: str, parents: Sequence[str], true: object) -> str:
        """Add a variable that is true with these probabilities given its parents."""
        variable = Variable(name, _STATES)
        chances = np.asarray(true, dtype=np.float64)
        scope = tuple(self._variables[parent] for parent in parents)
        self.cpds.append(TabularCPD(variable, scope, np.stack([1 - chances, chances])))
        self._variables[name] = variable
        return name

    def both(self, name: str, first: str, second: str) -> str:
        return self.add(name, (first, second), _AND)

    def either(self, name: str, first: str | None, second: str) -> str:
        """Add a disjunction; without a first variable it is the second one."""
        return second if first is None else self.add(name, (first, second), _OR)

    def negation(self, name: str, parent: str) -> str:
        return self.add(name, (parent,), _NOT)

    def choice(self, peg: str, n_colors: int) -> list[str]:
        """Add the color of a peg, uniform, as a chain; return a variable for each color."""
        chosen = [self.add(f"{peg}_1", (), 1 / n_colors)]
        earlier = chosen[0]
        for color in range(2, n_colors):
            rest = n_colors - color + 1
            chosen.append(self.add(f"{peg}_{color}", (earlier,), (1 / rest, 0.0)))
            earlier = self.either(f"{peg}_upto_{color}", earlier, chosen[-1])
        return [*chosen, self.negation(f"{peg}_{n_colors}", earlier)]

    def counts(self, word: str, number: int, terms: Sequence[str]) -> None:
        """Add "at least m of the terms" for every m; those over all terms are leaves."""
        so_far = [terms[0]]
        for j, term in enumerate(terms[1:], start=2):
            name = [f"{word}_{number}_{m}_{j}" for m in range(1, j + 1)]
            longer = [self.either(name[0], so_far[0], term)]
            for m in range(2, j):
                exact = self.both(f"{word}_{number}_{m}_and_{j}", so_far[m - 2], term)
                longer.append(self.either(name[m - 1], so_far[m - 1], exact))
            longer.append(self.both(name[j - 1], so_far[-1], term))
            so_far = longer


def _add_guess(gates: _Gates, number: int, code: Sequence[Sequence[str]], n_colors: int) -> None:
    """Add a guess, its comparison with the code, and its reply."""
    pegs = range(1, len(code) + 1)
    guess = [gates.choice(f"guess_{number}_{j}", n_colors) for j in pegs]
    same: dict[tuple[int, int], str] = {}
    for i in pegs:
        for j in pegs:
            place = f"{number}_{i}_{j}"
            alike: str | None = None
            for color in range(1, n_colors + 1):
                colors = code[i - 1][color - 1], guess[j - 1][color - 1]
                suffix = f"_upto_{color}" if color < n_colors else ""
                term = gates.both(f"both_{place}_{color}", *colors)
                alike = gates.either(f"same_{place}{suffix}", alike, term)
            assert alike is not None  # as there are colors
            same[i, j] = alike
    gates.counts("black", number, [same[i, i] for i in pegs])
    gates.counts("white", number, _matches(gates, number, same, len(code)))


def _matches(
    gates: _Gates, number: int, same: Mapping[tuple[int, int], str], n_pegs: int
) -> list[str]:
    """Match pegs of equal color that are no black pegs; return whether each of the guess is."""
    pegs = range(1, n_pegs + 1)
    miss = {i: gates.negation(f"miss_{number}_{i}", same[i, i]) for i in pegs}
    used: dict[int, str] = {}
    white: list[str] = []
    for j in pegs:
        matched: str | None = None
        for i in pegs:
            if i == j:
                continue
            place = f"{number}_{i}_{j}"
            apart = gates.both(f"apart_{place}", same[i, j], miss[j])
            pair = gates.both(f"open_{place}", apart, miss[i])
            if i in used:
                unused = gates.negation(f"unused_{place}", used[i])
                pair = gates.both(f"free_{place}", pair, unused)
            if matched is not None:
                unmatched = gates.negation(f"unmatched_{place}", matched)
                pair = gates.both(f"pair_{place}", pair, unmatched)
            if any(later != i for later in range(j + 1, n_pegs + 1)):
                used[i] = gates.either(f"used_{place}", used.get(i), pair)
            matched = gates.either(f"matched_{place}", matched, pair)
        assert matched is not None  # as there are at least two pegs
        white.append(matched)
    return white


@checked
def random_turns(board: Board, n_guesses: int, *, rng: np.random.Generator) -> tuple[Turn, ...]:
    """Return random guesses and their true replies for a random code.

    The code and the guesses are drawn uniformly and independently from all codes with repeats.

    Parameters
    ----------
    board
        The board.
    n_guesses
        The number of guesses, at least 0.
    rng
        The source of random numbers.

    Raises
    ------
    InvalidArgumentError
        If the number of guesses is negative.

    Examples
    --------
    >>> import numpy as np
    >>> turns = random_turns(Board(3, 3), 2, rng=np.random.default_rng(1))
    >>> [(turn.guess, str(turn.reply)) for turn in turns]
    [((3, 1, 1), '0b1w'), ((3, 3, 1), '0b1w')]
    """
    if n_guesses < 0:
        raise InvalidArgumentError(
            f"expected a number of guesses of at least 0, got {n_guesses}", n_guesses
        )
    codes = rng.integers(1, board.colors + 1, size=(n_guesses + 1, board.pegs))
    secret, *guesses = [tuple(row) for row in codes.tolist()]
    return tuple([Turn(guess, reply(guess, secret)) for guess in guesses])


@checked
def relational_evidence(board: Board, turns: Sequence[Turn]) -> dict[str, str]:
    """Return the evidence of a game for `relational_network`: all guesses, and all replies.

    Parameters
    ----------
    board
        The board of the network.
    turns
        The guesses in order, with their replies.

    Raises
    ------
    InvalidArgumentError
        If a guess is not a code of the board.
        If a reply is impossible on the board.

    Examples
    --------
    >>> from bnmind.mastermind import Reply
    >>> evidence = relational_evidence(Board(2, 2), [Turn((1, 2), Reply(0, 2))])
    >>> evidence["guess_1_1_1"], evidence["black_1_1_2"], evidence["white_1_2_2"]
    ('yes', 'no', 'yes')
    """
    evidence: dict[str, str] = {}
    for number, turn in enumerate(turns, start=1):
        guess = board.checked(turn.guess)
        if turn.reply not in board.true_replies:
            raise InvalidArgumentError(
                f"expected a reply that occurs on the board {board}, got {turn.reply} for guess"
                f" {number}",
                turn.reply,
            )
        for j, chosen in enumerate(guess, start=1):
            for color in range(1, board.colors + 1):
                evidence[f"guess_{number}_{j}_{color}"] = _word(color == chosen)
        for word, pegs in (("black", turn.reply.black), ("white", turn.reply.white)):
            for m in range(1, board.pegs + 1):
                evidence[f"{word}_{number}_{m}_{board.pegs}"] = _word(m <= pegs)
    return evidence


@checked
def code_targets(board: Board) -> tuple[str, ...]:
    """Return the variables of the code, peg by peg, color by color.

    Parameters
    ----------
    board
        The board.

    Examples
    --------
    >>> code_targets(Board(2, 2))
    ('code_1_1', 'code_1_2', 'code_2_1', 'code_2_2')
    """
    pegs, colors = range(1, board.pegs + 1), range(1, board.colors + 1)
    return tuple([f"code_{i}_{color}" for i in pegs for color in colors])


@checked
def code_probabilities(board: Board, posterior: Mapping[str, Distribution]) -> Floats:
    """Return the probability of each color of each peg of the code, ``(pegs, colors)``.

    Parameters
    ----------
    board
        The board of the network.
    posterior
        The posterior of `code_targets`.
    """
    probabilities = [posterior[name]["yes"] for name in code_targets(board)]
    return np.array(probabilities).reshape(board.pegs, board.colors)


def _word(is_true: bool) -> str:
    return "yes" if is_true else "no"


@checked
def write_game(board: Board, turns: Sequence[Turn], path: str | os.PathLike[str]) -> None:
    """Write the files of a game: the network, the evidence, and the exact answers.

    Parameters
    ----------
    board
        A board with repeats and at least two pegs.
    turns
        The guesses with their replies, at least one.
    path
        The file of the network, which ends in ``.uai``. The other names add to this name.

    Raises
    ------
    ImpossibleEvidenceError
        If no code fits all replies.
    """
    network = relational_network(board, len(turns))
    evidence = relational_evidence(board, turns)
    free = [v.name for v in network.variables if v.name not in evidence]
    posterior = compile_model(network).posterior(free, evidence)
    marginals = {
        v.name: posterior[v.name].probabilities
        if v.name not in evidence
        else np.eye(v.n_states)[v.index(evidence[v.name])]
        for v in network.variables
    }
    write_model(network, path)
    texts = {
        ".evid": evidence_to_uai(evidence, network.variables),
        ".MAR": marginals_to_uai(marginals, network.variables),
        ".PR": log_evidence_to_uai(posterior.log_evidence),
    }
    for suffix, text in texts.items():
        Path(f"{path}{suffix}").write_text(text)
