"""Vomlel's Bayesian network of Mastermind: its stages, its figures, and the beliefs of its nodes.

Jiří Vomlel, *Bayesian networks in Mastermind* (2004), sections 3 and 4.

=======================  =====================================================
paper                    variable here
=======================  =====================================================
H_j, T_j, j = 1 … n      ``H1`` …, ``T1`` …: the code and the guess, states 1 … k
P_j = δ(T_j, H_j)        ``P1`` …, eq. (1)
P = Σ_j P_j              ``P``: black pegs, eq. (2)
C_i = Σ_j δ(H_j, i)      ``C1`` …, eq. (3), for each color i = 1 … k
G_i = Σ_j δ(T_j, i)      ``G1`` …, eq. (4)
M_i = min(C_i, G_i)      ``M1`` …, eq. (5)
C = Σ_i M_i − P          ``C``: white pegs, eq. (6)
P′, C′                   ``P_reported``, ``C_reported``: the reported numbers
B                        ``B``: the auxiliary variable of section 4
=======================  =====================================================

The network differs from the paper in two points. C is ΣM_i − P modulo n + 1, which is equal
wherever the network has positive probability, and a proper table everywhere. And C′ also
depends on P′ if the channel does not distort the two numbers independently.

`node_beliefs`: given the guess, all variables are functions of the code, so no junction tree is
needed: this holds for any belief about the code, also for one after replies, in which the pegs
depend on each other.

Jiří Vomlel, *Bayesian networks in Mastermind* (2004), equations (1) to (6).

The figures of the paper, with the variables in its order: figure 1 is the full network, figure 2
the network after the guess is inserted, figure 3 the graph after the table of C is replaced and the
parents are joined (stages 1 to 3), and figure 4 the junction tree.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bnmind._arguments import checked, number_array
from bnmind._display import Result, Table
from bnmind._values import Value
from bnmind.errors import InvalidArgumentError, TooLargeError
from bnmind.information import Floats
from bnmind.junction import JunctionTree, OrderFinder, junction_tree
from bnmind.junction.reduction import possible_states
from bnmind.mastermind.board import Board
from bnmind.mastermind.channel import Channel
from bnmind.pgm import (
    CPD,
    Addition,
    Equality,
    FactorModel,
    FunctionalCPD,
    Minimum,
    Network,
    TabularCPD,
    Variable,
)
from bnmind.pgm.tabular import DEFAULT_CELLS
from bnmind.rank_one import factorize
from bnmind.views.draw import percent
from bnmind.views.figures import Node, draw_rows, draw_tree

# --- Vomlel's Bayesian network of Mastermind, in all its stages -----------------------------------


REPORTS = ("P_reported", "C_reported")
"""The names of P′ and C′."""

WON = "won"
"""The state of P′ and C′ after the code-maker has truthfully ended the game."""


def code_variables(board: Board) -> tuple[Variable, ...]:
    """Return H_1, …, H_n.

    Parameters
    ----------
    board
        The board.
    """
    return _colored("H", board)


@checked
def evidence_of_guess(guess: Sequence[int]) -> dict[str, str]:
    """Return the evidence T_1 = t_1, …, T_n = t_n.

    Parameters
    ----------
    guess
        A code, colors 1..k.
    """
    return {f"T{j}": str(color) for j, color in enumerate(guess, 1)}


@checked
def vomlel_network(
    board: Board,
    *,
    channel: Channel | None = None,
    prior: ArrayLike | None = None,
    arc: bool = True,
) -> Network:
    """Return the network of figure 1.

    Parameters
    ----------
    board
        Any board. Without repeats, the prior is uniform over the codes of the board; the guess
        is unrestricted.
    channel
        The channel that reports P′ and C′. Without a channel, the network has no P′ and C′.
    prior
        The prior of the code: ``(pegs, colors)``, independent for each peg, or the joint,
        ``(colors,) * pegs``. Entries are not negative; the function normalizes them. Uniform
        by default.
    arc
        Whether to include the arc P → C. Without it C is ΣM_i, as in the comparison of
        section 4; that network is not a model of the game.

    Raises
    ------
    InvalidArgumentError
        If the prior has a wrong shape, negative entries, or no positive entry.
    TooLargeError
        If the board has no repeats and the joint of the pegs would have too many entries.
    """
    n, k = board.pegs, board.colors
    counts = range(n + 1)
    h, t = code_variables(board), _colored("T", board)
    hits = tuple(Variable.of_integers(f"P{j}", range(2)) for j in range(1, n + 1))
    in_code, in_guess, matched = (
        tuple(Variable.of_integers(f"{letter}{i}", counts) for i in range(1, k + 1))
        for letter in "CGM"
    )
    black, white = Variable.of_integers("P", counts), Variable.of_integers("C", counts)
    up, down = tuple(counts), tuple(-i for i in counts)
    cpds: list[CPD] = [*_prior_cpds(board, h, prior)]
    cpds += [TabularCPD(v, (), np.full(k, 1 / k)) for v in t]
    cpds += [FunctionalCPD(p, (t[j], h[j]), Equality()) for j, p in enumerate(hits)]
    cpds.append(FunctionalCPD(black, hits, Addition(((0, 1),) * n, n + 1)))
    for i in range(k):
        is_color = tuple(int(color == i) for color in range(k))
        count = Addition((is_color,) * n, n + 1)
        cpds.append(FunctionalCPD(in_code[i], h, count))
        cpds.append(FunctionalCPD(in_guess[i], t, count))
        cpds.append(FunctionalCPD(matched[i], (in_code[i], in_guess[i]), Minimum()))
    if arc:
        total = Addition((*((up,) * k), down), n + 1)
        cpds.append(FunctionalCPD(white, (*matched, black), total))
    else:
        cpds.append(FunctionalCPD(white, matched, Addition((up,) * k, n + 1)))
    if channel is not None:
        cpds += _report_cpds(board, channel, black, white)
    return Network(tuple(cpds))


@dataclass(frozen=True, eq=False, kw_only=True)
class Stage(Result, Value):
    """A stage of the paper's construction: the network and its junction tree.

    Stage 1 is the full network. Stage 2 is the network after the guess is inserted, without T
    and G. Stage 3 replaces the table of C by its factorization with B. Stage 4 is the junction
    tree, ``tree``.
    """

    number: int
    """1 to 4."""
    board: Board
    """The board."""
    guess: tuple[int, ...] | None
    """The guess that was inserted, colors from 1; None at stage 1."""
    arc: bool
    """Whether the network has the arc P → C."""
    model: Network | FactorModel
    """The network of the stage."""
    order: OrderFinder | None = None
    """The finder of the elimination order; the default one if None."""

    @cached_property
    def tree(self) -> JunctionTree:
        """The smallest junction tree found, of the model without P′ and C′."""
        present = {v.name for v in self.model.variables}
        return junction_tree(
            self.model, without=[name for name in REPORTS if name in present], order=self.order
        )

    def __str__(self) -> str:
        guess = f", guess {self.board.format(self.guess)}" if self.guess else ""
        arc = "" if self.arc else ", without the arc P → C"
        return f"Stage {self.number} of Vomlel's network, {self.board}{guess}{arc}\n{self.tree}"

    def to_dict(self) -> dict[str, Any]:
        """Return the sizes of the junction tree as a record."""
        tree, board = self.tree, self.board
        return {
            "stage": self.number,
            "board": {"pegs": board.pegs, "colors": board.colors, "repeats": board.repeats},
            "guess": None if self.guess is None else board.format(self.guess),
            "arc": self.arc,
            "total_size": tree.total_size,
            "largest": tree.largest,
            "proven": tree.order.proven,
            "method": tree.order.method,
            "order": list(tree.order.variables),
            "cliques": [{"variables": list(c.variables), "size": c.size} for c in tree.cliques],
        }

    def _shown(self) -> Iterator[str | Table]:
        yield str(self)


@checked
def stage(
    board: Board,
    number: int,
    *,
    guess: Sequence[int] | None = None,
    arc: bool = True,
    channel: Channel | None = None,
    nodes: str = "unity",
    order: OrderFinder | None = None,
) -> Stage:
    """Return a stage of the paper's construction.

    Parameters
    ----------
    board
        Any board.
    number
        1, 2 or 3.
    guess
        The guess to insert at stages 2 and 3; by default the first colors in order. Sizes do
        not depend on it.
    arc, channel
        As for `vomlel_network`.
    nodes
        The nodes of the factorization at stage 3; see `bnmind.rank_one.rank_one_form`.
    order
        The method that finds an elimination order.

    Raises
    ------
    InvalidArgumentError
        If the number is not 1, 2 or 3.
        If the guess is not a code of the board.
    """
    if number not in (1, 2, 3):
        raise InvalidArgumentError(f"expected stage 1, 2 or 3, got {number!r}", number)
    model: Network | FactorModel = vomlel_network(board, channel=channel, arc=arc)
    if number == 1:
        return Stage(number=1, board=board, guess=None, arc=arc, model=model, order=order)
    if guess is None:
        guess = tuple(j % board.colors + 1 for j in range(board.pegs))
    code = board.code(board.index(guess))
    assert isinstance(model, Network)
    model = model.given(evidence_of_guess(code))
    if number == 3:
        model = factorize(model, "C", nodes=nodes, name="B")
    return Stage(number=number, board=board, guess=code, arc=arc, model=model, order=order)


@checked
def reduced_to_guess(
    board: Board, guess: Sequence[int], *, channel: Channel | None = None
) -> Network:
    """Return stage 2 without the states that the guess makes impossible.

    M_i keeps g_i + 1 states. The M_i of colors that do not occur in the guess are constant. The
    function removes them and their C_i, which then influence nothing.

    Parameters
    ----------
    board
        The board.
    guess
        A code, colors 1..k.
    channel
        The channel of the replies; true replies if None.
    """
    network = stage(board, 2, guess=guess, channel=channel).model
    assert isinstance(network, Network)
    domains = {v.name: tuple(range(v.n_states)) for v in network.variables}
    possible = possible_states(network.cpds, domains, keep=REPORTS)
    network = network.restrict(possible)
    present = {v.name for v in network.variables}
    idle = [
        f"C{i}" for i in range(1, board.colors + 1) if f"C{i}" in present and f"M{i}" not in present
    ]
    return network.without(idle)


def _colored(letter: str, board: Board) -> tuple[Variable, ...]:
    colors = range(1, board.colors + 1)
    return tuple(Variable.of_integers(f"{letter}{j}", colors) for j in range(1, board.pegs + 1))


def _prior_cpds(board: Board, h: tuple[Variable, ...], prior: ArrayLike | None) -> list[TabularCPD]:
    """Return P(H_1), P(H_2 | H_1), … of a prior; without parents if the pegs are independent."""
    n, k = board.pegs, board.colors
    if prior is None and board.repeats:
        prior = np.ones((n, k))
    elif prior is None:
        if k**n > DEFAULT_CELLS:
            raise TooLargeError(
                f"expected a joint of at most {DEFAULT_CELLS:,} cells, got {k**n:,} of the board"
                f" {board}, whose pegs depend on each other",
                needed=k**n,
                budget=DEFAULT_CELLS,
            )
        prior = np.zeros((k,) * n)
        prior[tuple(board.codes.T.astype(np.intp) - 1)] = 1.0
    weights = number_array(prior, "the prior")
    if weights.shape not in ((n, k), (k,) * n):
        raise InvalidArgumentError(
            f"expected a prior of shape {(n, k)} or {(k,) * n}, got {weights.shape}", prior
        )
    if not np.all((weights >= 0) & np.isfinite(weights)):
        raise InvalidArgumentError("expected a prior of non-negative numbers", prior)
    # On the board 2x2 both shapes are equal; rows that sum to one are then marginals.
    independent = weights.shape == (n, k) and (n != 2 or k != 2 or _is_marginals(weights))
    if independent:
        sums = weights.sum(axis=1, keepdims=True)
        if not np.all(sums > 0):
            raise InvalidArgumentError("expected a possible color for every peg", prior)
        return [TabularCPD(v, (), row) for v, row in zip(h, weights / sums, strict=True)]
    if not weights.sum() > 0:
        raise InvalidArgumentError("expected a code of positive probability", prior)
    cpds = []
    for j in range(n):
        joint = weights.sum(axis=tuple(range(j + 1, n)))
        table = np.moveaxis(joint, -1, 0)
        sums = table.sum(axis=0)
        # The distribution after an impossible beginning is arbitrary.
        table = np.where(sums > 0, table / np.where(sums > 0, sums, 1.0), 1 / k)
        cpds.append(TabularCPD(h[j], h[:j], table))
    return cpds


def _is_marginals(weights: Floats) -> bool:
    return bool(np.allclose(weights.sum(axis=1), 1.0))


def _report_cpds(
    board: Board, channel: Channel, black: Variable, white: Variable
) -> list[TabularCPD]:
    """Return P(P′ | P) and P(C′ | C) if they suffice, else P(P′ | P, C) and P(C′ | P′, P, C).

    A pair P, C that is not a true reply has probability zero; its reports are uniform.
    """
    n = board.pegs
    states = [str(i) for i in range(n + 1)] + ([WON] if channel.ends else [])
    reported_black, reported_white = (Variable(name, tuple(states)) for name in REPORTS)
    size = len(states)
    joint = np.full((n + 1, n + 1, size, size), np.nan)  # [P, C, P′, C′]
    for true, row in zip(board.true_replies, channel.matrix, strict=True):
        joint[true] = 0.0
        for report, chance in zip(channel.reports, row, strict=False):
            joint[true][report] = chance
        if channel.ends:
            joint[true][-1, -1] = row[-1]
    apart = _apart(joint)
    if apart is not None:
        return [
            TabularCPD(reported_black, (black,), apart[0].T),
            TabularCPD(reported_white, (white,), apart[1].T),
        ]
    joint = np.where(np.isnan(joint), 1 / size**2, joint)
    first = joint.sum(axis=3)  # [P, C, P′]
    safe = np.where(first > 0, first, 1.0)[..., None]
    second = np.where(first[..., None] > 0, joint / safe, 1 / size)  # [P, C, P′, C′]
    return [
        TabularCPD(reported_black, (black, white), np.moveaxis(first, 2, 0)),
        TabularCPD(reported_white, (reported_black, black, white), second.transpose(3, 2, 0, 1)),
    ]


def _apart(joint: Floats) -> tuple[Floats, Floats] | None:
    """Return Q(P′ | P) and Q(C′ | C) if the reports depend on nothing else, else None."""
    possible = ~np.isnan(joint[:, :, 0, 0])
    tables = []
    for summed_axis, true_axis in ((3, 0), (2, 1)):
        # The axes of the rows are P or C, the other of these, and the report.
        rows = np.moveaxis(joint.sum(axis=summed_axis), true_axis, 0)
        table = np.full((len(rows), rows.shape[2]), 1 / rows.shape[2])
        for i, row in enumerate(rows):
            seen = row[~np.isnan(row[:, 0])]
            if len(seen):
                table[i] = seen[0]
        tables.append(table)
    product = np.einsum("pa,cb->pcab", *tables)
    same = np.allclose(product[possible], joint[possible], rtol=0.0, atol=1e-12)
    return (tables[0], tables[1]) if same else None


# --- The distribution of every variable of Vomlel's network, from the probability of each code ----


@checked
def node_beliefs(
    channel: Channel,
    guess: Sequence[int],
    *,
    codes: NDArray[np.uint8],
    weights: Floats,
) -> dict[str, Floats]:
    """Return the distribution of each variable before the reply to a guess, by name.

    Parameters
    ----------
    channel
        The channel that will report the reply; P′ and C′ follow from it.
    guess
        Colors 1..k, one for each peg.
    codes
        ``(codes, pegs)``: all codes of the board, or a sample of them.
    weights
        ``(codes,)``: the probability of each code, up to a constant factor.

    Returns
    -------
    dict[str, Floats]
        H, T, P_j, C_i, G_i, M_i, P, C, and P′ and C′, named as in `vomlel_network`. The auxiliary
        variable B has no distribution.

    Raises
    ------
    InvalidArgumentError
        If the guess is not a code of the board.
        If the weights are not one non-negative number for each code, with a positive sum.

    Examples
    --------
    >>> from bnmind.mastermind import Board
    >>> board = Board(2, 3)
    >>> found = node_beliefs(
    ...     Channel.exact(board), (1, 2), codes=board.codes, weights=np.ones(9)
    ... )
    >>> found["C1"].round(3).tolist(), found["P"].round(3).tolist()
    ([0.444, 0.444, 0.111], [0.444, 0.444, 0.111])
    """
    board = channel.board
    guessed = board.code(board.index(guess))
    n, k = board.pegs, board.colors
    shares = np.asarray(number_array(weights, "the weights"), dtype=np.float64)
    if shares.shape != (len(codes),) or not shares.sum() > 0 or shares.min() < 0:
        raise InvalidArgumentError(
            "expected one non-negative weight for each code, and a positive sum", weights
        )
    shares = shares / shares.sum()

    def share(values: NDArray[np.intp], states: int) -> Floats:
        return np.asarray(np.bincount(values, weights=shares, minlength=states), dtype=np.float64)

    found: dict[str, Floats] = {}
    matched = np.zeros(len(codes), dtype=np.intp)
    for j, color in enumerate(guessed, 1):
        found[f"H{j}"] = share(codes[:, j - 1].astype(np.intp) - 1, k)
        found[f"T{j}"] = np.eye(k)[color - 1]
        hit = found[f"H{j}"][color - 1]
        found[f"P{j}"] = np.array([max(0.0, 1.0 - hit), hit])
    for i in range(1, k + 1):
        in_code = np.count_nonzero(codes == i, axis=1)
        in_guess = guessed.count(i)
        both = np.minimum(in_code, in_guess)
        matched += both
        found[f"C{i}"] = share(in_code, n + 1)
        found[f"G{i}"] = np.eye(n + 1)[in_guess]
        found[f"M{i}"] = share(both, n + 1)
    black = np.count_nonzero(codes == np.array(guessed), axis=1)
    white = matched - black
    found["P"], found["C"] = share(black, n + 1), share(white, n + 1)
    joint = share(black * (n + 1) + white, (n + 1) ** 2).reshape(n + 1, n + 1)
    return found | _reports(channel, joint)


def _reports(channel: Channel, joint: Floats) -> dict[str, Floats]:
    """Return the distributions of P′ and C′; the last state of a channel that ends is WON."""
    masses = np.array([joint[true] for true in channel.board.true_replies]) @ channel.matrix
    size = channel.board.pegs + 1
    found = {}
    for name, number in zip(REPORTS, (0, 1), strict=True):
        shares = np.zeros(size + channel.ends)
        for report, mass in zip(channel.reports, masses, strict=False):
            shares[report[number]] += mass
        if channel.ends:
            shares[-1] = masses[-1]
        found[name] = shares
    return found


# --- The figures of Vomlel's paper, drawn with the variables in its order -------------------------


_ROWS = (
    ("T", "H"),
    ("G", "C", "Pj"),
    ("M", "P"),
    ("B",),
    ("white", REPORTS[0]),
    (REPORTS[1],),
)
"""The kinds of variables of each row, from left to right."""

_SUBSCRIPTS = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")
_LETTER = re.compile(r"([A-Z])([0-9]+)")


@checked
def stage_figure(
    stage: Stage,
    *,
    beliefs: Mapping[str, Floats] | None = None,
    observed: Collection[str] = (),
) -> str:
    """Return figure 1, 2 or 3 as SVG, for stage 1, 2 or 3 of a network.

    Stage 3 has undirected edges: two variables are joined if a table holds both.

    Parameters
    ----------
    stage
        The stage.
    beliefs
        The probability of each state of some variables, such as `node_beliefs`; their boxes show
        them as bars.
    observed
        The variables whose boxes stand out, as the auxiliary variable does.
    """
    known = {} if beliefs is None else beliefs
    rows: list[list[Node]] = [[] for _ in _ROWS]
    place = {kind: (k, i) for k, kinds in enumerate(_ROWS) for i, kind in enumerate(kinds)}
    variables = sorted(stage.model.variables, key=lambda v: (place[_kind(v.name)], _index(v.name)))
    for v in variables:
        shares = known.get(v.name)
        bars = () if shares is None else tuple(zip(v.states, map(float, shares), strict=True))
        states = [f"{state}: {percent(share)}" for state, share in bars] if bars else list(v.states)
        note = f"{_label(v.name)}: {v.n_states} states\n{', '.join(states)}"
        marked = v.name == "B" or v.name in observed
        node = Node(name=v.name, label=_label(v.name), note=note, is_marked=marked, bars=bars)
        rows[place[_kind(v.name)][0]].append(node)
    arcs: list[tuple[str, str]] = []
    edges: set[tuple[str, str]] = set()
    if isinstance(stage.model, Network):
        for cpd in stage.model.cpds:
            arcs += [(parent.name, cpd.variable.name) for parent in cpd.parents]
    else:
        for potential in stage.model.potentials:
            edges |= set(combinations(sorted(v.name for v in potential.scope), 2))
    title = str(stage).splitlines()[0]
    return draw_rows([row for row in rows if row], arcs=arcs, edges=sorted(edges), caption=title)


@checked
def tree_figure(stage: Stage) -> str:
    """Return the junction tree of a stage as SVG; for stage 3, this is figure 4.

    Parameters
    ----------
    stage
        The stage of Vomlel's network: 1, 2 or 3.
    """
    return draw_tree(stage.tree, label=_label)


def _kind(name: str) -> str:
    """Return the kind of a variable: its letter, with P_j and P, and C_i and C, told apart."""
    numbered = _LETTER.fullmatch(name)
    if numbered is None:
        return "white" if name == "C" else name
    return "Pj" if numbered[1] == "P" else numbered[1]


def _index(name: str) -> int:
    numbered = _LETTER.fullmatch(name)
    return int(numbered[2]) if numbered else 0


def _label(name: str) -> str:
    """Return a name as the paper writes it.

    >>> _label("H12"), _label("P_reported"), _label("B")
    ('H₁₂', 'P′', 'B')
    """
    if name in REPORTS:
        return f"{name[0]}′"
    return name[0] + name[1:].translate(_SUBSCRIPTS)
