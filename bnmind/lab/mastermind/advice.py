"""Advice for a player: the belief about the code, the next guess, replies to doubt, and reasons.

The belief and the entropy strategy compute all of it; this module only collects it.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, fields, replace
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from bnmind._display import Result, Strong, Table, finite
from bnmind._messages import counted, percent
from bnmind.errors import InvalidArgumentError, TooLargeError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from bnmind.information import Floats
    from bnmind.mastermind import Belief, Board, Channel, Posterior, Prior, Reply, Turn
    from bnmind.strategies import GuessInfo, Situation, Strategy

# --- Advice for a player: the belief about the code, the next guess, and the replies to doubt -----


_Kind = TypeVar("_Kind", bound="Belief")

MOST_LEARNED = 2**18
"""The largest number of codes of a board for which the noise level can be learned."""


@dataclass(frozen=True)
class Doubt:
    """An earlier guess, its reported reply, and the probability that the reply is wrong."""

    guess: str
    """The guess, as the board writes it."""
    reply: str
    """The reply as reported, such as ``1b2w``."""
    probability_wrong: float
    """The probability that the reply is wrong, 0 to 1."""


@dataclass(frozen=True, kw_only=True)
class Advice(Result):
    """The next guess and the reasons for it; or the code, if it has been found."""

    guess: str
    """The guess, as the board writes it."""
    information: float
    """The expected information of the guess, in bits."""
    expected_entropy: float
    """The expected entropy after the guess, in bits."""
    entropy: float
    """The entropy before the guess, in bits."""
    entropy_error: float = 0.0
    """The standard error of the entropies, in bits; 0 if they are not estimates."""
    possible_codes: int | None
    """The number of codes of positive probability; None if the belief does not list the codes."""
    most_probable: tuple[tuple[str, float], ...]
    """At most ten codes and their probabilities."""
    doubts: tuple[Doubt, ...]
    """One doubt for each turn, in the order of turns."""
    contradictions: int | None
    """The number of replies that must be wrong; None if the channel has noise."""
    found: bool = False
    """Whether the last reply won the game, so that the guess is the code."""
    note: str = ""
    """A remark of the strategy, such as a warning; usually empty."""
    memory: object = None
    """The memory of the strategy for its next turn."""

    def to_dict(self) -> dict[str, Any]:
        """Return the advice as a record, without the memory of the strategy."""
        names = [field.name for field in fields(self) if field.name != "memory"]
        codes = [{"code": code, "probability": share} for code, share in self.most_probable]
        doubts = [asdict(doubt) for doubt in self.doubts]
        record = {name: getattr(self, name) for name in names}
        return dict(finite({**record, "most_probable": codes, "doubts": doubts}))

    def _shown(self) -> Iterator[str | Table]:
        if self.found:
            guesses = counted(len(self.doubts), "guess", "guesses")
            yield Strong(f"The code is {self.guess}, found in {guesses}.")
            yield from self.contradiction
            yield from self._doubts_shown()
            return
        yield self.knowledge
        yield from self.contradiction
        if self.contradictions:
            yield "bnmind assumes as few false replies as possible; noise false:0.1 weighs them."
        yield from self._doubts_shown()
        yield "Most probable:"
        yield codes_table(self.most_probable)
        yield Strong(
            f"Guess {self.guess}: it should tell {self.information:.2f} bits and leave"
            f" {self.expected_entropy:.2f}."
        )
        if self.note:
            yield self.note

    @property
    def knowledge(self) -> str:
        """How much is known about the code, in one line."""
        if self.possible_codes is None:
            bits = f"{self.entropy:.2f} ± {self.entropy_error:.2f}"
            return f"About {bits} bits unknown, estimated from samples."
        return f"{counted(self.possible_codes, 'code')} possible, {self.entropy:.2f} bits unknown."

    @property
    def contradiction(self) -> tuple[str, ...]:
        """A sentence about replies that contradict each other, if they do."""
        if not self.contradictions:
            return ()
        wrong = "one reply is" if self.contradictions == 1 else f"{self.contradictions} replies are"
        return (Strong(f"The replies contradict each other: at least {wrong} wrong."),)

    def brief(self, few: Sequence[tuple[str, float]] | None = None) -> Iterator[str]:
        """Yield a summary of the belief in a few lines, as between two turns of a game.

        Parameters
        ----------
        few
            The codes that are almost sure to have the secret among them, if they are few; otherwise
            the most probable ones are shown.
        """
        yield self.knowledge
        spaced = any(" " in code for code, _ in self.most_probable)
        groups = _by_percentage(few or self.most_probable[: 2 if spaced else 5]).items()
        shown = "; ".join(f"{', '.join(alike)} ({share})" for share, alike in groups)
        all_listed = few is not None and len(few) == self.possible_codes
        yield f"{'Codes left' if all_listed else 'Most probable'}: {shown}"
        yield from self.contradiction
        if self.note:
            yield self.note

    def _doubts_shown(self) -> Iterator[Table]:
        """Yield the probability that each reply is wrong, if any can be wrong."""
        wrong = [doubt.probability_wrong for doubt in self.doubts]
        most = max(wrong, default=0.0)
        if most:
            rows = [(one.guess, one.reply, percent(one.probability_wrong)) for one in self.doubts]
            bold = [place for place, share in enumerate(wrong) if share >= min(most, 0.5)]
            yield Table(("guess", "reply", "chance of being wrong"), rows, bold)


_WIDTH = 64
"""The most columns of codes side by side."""


def codes_table(codes: Sequence[tuple[str, float]]) -> Table:
    """Return codes and their probabilities, equally probable ones side by side.

    Lines break only between codes; a code may contain blanks.

    Parameters
    ----------
    codes
        The codes with their probabilities.
    """
    rows: list[tuple[str, str]] = []
    for share, alike in _by_percentage(codes).items():
        joined = "  ".join(code.replace(" ", "\u00a0") for code in alike)
        lines = [line.replace("\u00a0", " ") for line in textwrap.wrap(joined, _WIDTH)]
        rows += [(share, lines[0]), *(("", line) for line in lines[1:])]
    return Table(("", ""), rows, left=(0, 1))


def _by_percentage(codes: Sequence[tuple[str, float]]) -> dict[str, list[str]]:
    """Return the codes that look equally probable side by side."""
    groups: dict[str, list[str]] = {}
    for code, probability in codes:
        groups.setdefault(percent(probability), []).append(code)
    return groups


def start(channel: Channel, prior: Prior | None = None) -> Posterior:
    """Return the belief of a player before the first guess.

    Without noise the belief is the limit of vanishing noise: it reports contradictory replies, and
    the advice goes on. On boards with too many codes to list, the belief holds samples. The prior
    is uniform if None.
    """
    from bnmind.mastermind import SampledBelief, TableBelief, VanishingBelief
    from bnmind.mastermind.board import is_believable

    if not is_believable(channel.board):
        return SampledBelief.start(channel.revealed(), prior)
    if channel.is_exact:
        return VanishingBelief.start(channel.board, prior=prior)
    return TableBelief.start(channel.revealed(), prior)


def start_learning(channel: Channel, prior: Prior | None = None) -> Posterior:
    """Return the belief of a player who learns how often replies are false, before the first guess.

    Parameters
    ----------
    channel
        A channel of the kind of the noise; its error probability is not used.
    prior
        The distribution from which the code was drawn; uniform if None.

    Raises
    ------
    TooLargeError
        If the board has too many codes.
    """
    from bnmind.mastermind import UniformPrior
    from bnmind.strategies.players import UnknownNoise

    board = channel.board
    if board.n_codes > MOST_LEARNED:
        raise TooLargeError(
            f"the board {board} has too many codes to learn the noise level; set one",
            needed=board.n_codes,
            budget=MOST_LEARNED,
        )
    return UnknownNoise().start(channel.revealed(), prior or UniformPrior(board))


def belief_after(belief: _Kind, turns: Iterable[Turn]) -> _Kind:
    """Return the belief after further turns."""
    for turn in turns:
        belief = belief.update(turn.guess, turn.reply)
    return belief


def winning_report_ends(channel: Channel) -> bool:
    """Return whether a report of n black pegs implies that the game is won.

    If the two numbers have independent errors, this report may occur in a game that goes on.
    """
    winning = channel.board.winning
    if winning not in channel.reports:
        return True
    return not channel.revealed().likelihood(winning).any()


def ending(channel: Channel, turns: Sequence[Turn], *, goes_on: bool) -> bool:
    """Return whether the last turn won the game.

    Raises
    ------
    InvalidArgumentError
        If a turn follows a reply that must have ended the game.
    """
    winning = channel.board.winning
    last = bool(turns) and turns[-1].reply == winning and not goes_on
    earlier = turns[:-1] if last else turns
    if winning_report_ends(channel):
        for number, turn in enumerate(earlier, start=1):
            if turn.reply == winning:
                raise InvalidArgumentError(
                    f"entry {number} of the history, {channel.board.format(turn.guess)} "
                    f"{turn.reply}, ends the game under the noise {channel.name}, but further "
                    f"entries follow",
                    turn,
                )
    return last


def most_probable(belief: Posterior, n: int = 10) -> tuple[tuple[str, float], ...]:
    """Return the most probable codes and their probabilities."""
    board = belief.board
    return tuple(
        (board.format_index(index), probability) for index, probability in belief.most_probable(n)
    )


def doubts_of(belief: Posterior) -> tuple[Doubt, ...]:
    """Return, for each turn, the probability that its reply is wrong."""
    return _doubts(belief.board, belief.history, belief.misreport_probabilities())


def contradictions(belief: Posterior) -> int | None:
    """Return the number of replies that must be wrong; None if the channel has noise."""
    from bnmind.mastermind import SampledBelief, VanishingBelief

    if isinstance(belief, SampledBelief):
        return belief.contradictions if belief.channel.is_exact else None
    return belief.contradictions if isinstance(belief, VanishingBelief) else None


def advise(
    belief: Posterior,
    rng: np.random.Generator,
    *,
    strategy: Strategy | None = None,
    situation: Situation | None = None,
    prior: Prior | None = None,
    once: bool = True,
) -> Advice:
    """Return the next guess of a strategy, and the reasons for it.

    Parameters
    ----------
    belief
        The belief to show.
    rng
        The random generator of the strategy.
    strategy
        The strategy; by default the one of minimal expected entropy, from samples if the board
        is too large to evaluate all guesses. A strategy that is given chooses from a belief of
        its own kind with the same history, so that one that assumes true replies does so here too.
    situation
        The memory of the strategy and the number of guesses left, if known.
    prior
        The distribution from which the code was drawn; uniform if None.
    once
        Whether the process advises only a few times, so that loading compiled code would take
        longer than the default strategy takes without it.
    """
    from bnmind.strategies import FIRST_TURN, describe_guess

    board, situation = belief.board, situation or FIRST_TURN
    if strategy is None:
        guess, info = _by_entropy(belief, rng, situation, once=once)
        told = info
    else:
        own = belief_after(strategy.start(belief.channel, prior), belief.history)
        guess, info = strategy.choose(own, rng, situation)
        told = describe_guess(belief, board.code(guess))
    return Advice(
        guess=board.format_index(guess),
        information=told.information,
        expected_entropy=told.expected_entropy,
        entropy=belief.entropy(),
        entropy_error=belief.standard_errors.entropy(),
        possible_codes=_possible_codes(belief),
        most_probable=most_probable(belief),
        doubts=doubts_of(belief),
        contradictions=contradictions(belief),
        note=" ".join(filter(None, (info.note or _warning(belief), _unused(strategy, prior)))),
        memory=info.memory,
    )


def _by_entropy(
    belief: Posterior, rng: np.random.Generator, situation: Situation, *, once: bool
) -> tuple[int, GuessInfo]:
    """Return the guess of minimal expected entropy, and the reasons for it."""
    from bnmind.mastermind import SampledBelief
    from bnmind.strategies import Entropy, SampledEntropy

    if isinstance(belief, SampledBelief):
        return SampledEntropy().choose(belief, rng, situation)
    try:
        return Entropy(once=once).choose(belief, rng, situation)
    except TooLargeError:
        guess, info = SampledEntropy().choose(belief, rng, situation)
        note = f"The board {belief.board} is too large to evaluate all guesses; this one is the"
        return guess, replace(info, note=f"{note} best of some, by samples of the codes.")


def choosing(board: Board) -> str:
    """Return a description of the work of `advise`."""
    from bnmind.mastermind.board import is_believable

    if not is_believable(board):
        return "sampling codes"
    return f"choosing among {board.n_codes:,} guesses"


def found(belief: Posterior, last: Turn) -> Advice:
    """Return the code found by the last turn, and the doubts about the earlier replies.

    Parameters
    ----------
    belief
        The belief before the last turn.
    last
        The winning turn.

    Raises
    ------
    ImpossibleEvidenceError
        If the channel has noise and the earlier replies rule out the code.
    """
    from bnmind.mastermind import impossible_history, reply

    board = belief.board
    turns = (*belief.history, last)
    trusting = contradictions(belief) is not None
    if not trusting and not _explains(belief, last.guess):
        raise impossible_history(belief.channel, turns)
    wrong = [float(reply(turn.guess, last.guess) != turn.reply) for turn in turns]
    code = board.format(last.guess)
    return Advice(
        guess=code,
        information=0.0,
        expected_entropy=0.0,
        entropy=0.0,
        possible_codes=1,
        most_probable=((code, 1.0),),
        doubts=_doubts(board, turns, wrong),
        contradictions=round(sum(wrong)) if trusting else None,
        found=True,
    )


def _possible_codes(belief: Posterior) -> int | None:
    """Return the number of codes of positive probability, if the belief lists the codes."""
    from bnmind.mastermind import SampledBelief
    from bnmind.strategies import distribution_of

    if isinstance(belief, SampledBelief):
        return None if belief.listed is None else len(belief.listed.codes)
    return distribution_of(belief).possible_codes() if hasattr(belief, "codes") else None


def _warning(belief: Posterior) -> str:
    """Return the warning of a sampled belief, if there is one."""
    from bnmind.mastermind import SampledBelief

    return (belief.info.warning or "") if isinstance(belief, SampledBelief) else ""


def _unused(strategy: Strategy | None, prior: Prior | None) -> str:
    """Return a remark if the strategy does not use the prior."""
    if prior is None or strategy is None:
        return ""
    from bnmind.strategies import ignores_prior

    return f"{strategy.name} does not use the prior." if ignores_prior(strategy) else ""


def _explains(belief: Posterior, code: Sequence[int]) -> bool:
    """Return whether a code can have led to the replies so far."""
    from bnmind.mastermind import reply

    board, channel = belief.board, belief.channel
    return all(
        channel.likelihood(turn.reply)[board.true_replies.index(reply(turn.guess, code))] > 0
        for turn in belief.history
    )


def _doubts(board: Board, turns: Sequence[Turn], wrong: Sequence[float]) -> tuple[Doubt, ...]:
    return tuple(
        Doubt(board.format(turn.guess), str(turn.reply), probability)
        for turn, probability in zip(turns, wrong, strict=True)
    )


# --- What the replies say: true replies, colors of positions, and histories that differ in a row --


_SAMPLES = 4000
"""How many codes are drawn from a belief that does not list them."""
_ROUNDING = 1e-9

_SOON = 1.0
"""All guesses are evaluated if that takes less, in seconds; otherwise a sample of them."""
_MOST_PAIRS = 2**24
"""The most pairs of a guess and a group of codes for which all guesses are evaluated."""
_SAMPLED_GUESSES = 500


def winning_probability(belief: Posterior, guess: Sequence[int]) -> float:
    """Return the probability that a guess is the code.

    Raises
    ------
    InvalidArgumentError
        If the guess is not a code of the board.
    """
    import numpy as np

    board = belief.board
    masses = belief.masses(np.array([board.index(guess)]))[0]
    return float(masses[board.true_replies.index(board.winning)])


def true_replies(belief: Posterior, guess: Sequence[int]) -> tuple[tuple[Reply, float], ...]:
    """Return the true replies to a guess that are possible, the most probable first.

    The probabilities are conditional on the whole history of the belief. For a guess of the history
    they tell which reply the code-maker probably should have given.

    Examples
    --------
    >>> from bnmind.mastermind import Board, Channel, Reply, TableBelief
    >>> belief = TableBelief.start(Channel.false_reply(Board(2, 3), 0.2))
    >>> for _ in range(2):
    ...     belief = belief.update((1, 1), Reply(0, 0))
    >>> [(str(reply), round(p, 3)) for reply, p in true_replies(belief, (1, 1))]
    [('0b0w', 0.997), ('1b0w', 0.003)]
    """
    import numpy as np

    board = belief.board
    masses = belief.masses(np.array([board.index(guess)]))[0]
    possible = [(one, float(p)) for one, p in zip(board.true_replies, masses, strict=True) if p > 0]
    return tuple(sorted(possible, key=lambda pair: -pair[1]))


def color_probabilities(belief: Posterior) -> tuple[tuple[float, ...], ...]:
    """Return the probability of each color at each position, ``(pegs, colors)``.

    They are exact if the belief has the probability of each code, and otherwise the shares among
    codes drawn from it.
    """
    import numpy as np

    codes, weights = code_weights(belief)
    return tuple(
        tuple(np.bincount(column, weights=weights, minlength=belief.board.colors + 1)[1:].tolist())
        for column in codes.T
    )


def few_codes(
    belief: Posterior, most: int = 12, *, share: float = 0.95
) -> tuple[tuple[str, float], ...] | None:
    """Return the most probable codes that together have a probability; None if they are many.

    Parameters
    ----------
    belief
        The belief about the code.
    most
        The largest number of codes to return.
    share
        The probability that the codes reach together. Codes as probable as the last one of them
        are returned, too.

    Examples
    --------
    >>> from bnmind.mastermind import Board, Channel, Reply, TableBelief
    >>> belief = TableBelief.start(Channel.exact(Board(2, 4))).update((1, 2), Reply(0, 2))
    >>> few_codes(belief), few_codes(belief, 0)
    ((('21', 1.0),), None)
    """
    from bnmind.lab.mastermind.advice import most_probable

    likely = [pair for pair in most_probable(belief, most + 1) if pair[1] > 0]
    total, n = 0.0, 0
    while n < len(likely) and (total < share - _ROUNDING or _as_probable(likely, n)):
        total, n = total + likely[n][1], n + 1
    return tuple(likely[:n]) if total >= share - _ROUNDING and n <= most else None


def _as_probable(likely: Sequence[tuple[str, float]], n: int) -> bool:
    """Return whether a code is as probable as the one before it."""
    return n > 0 and likely[n][1] > likely[n - 1][1] * (1 - _ROUNDING)


def is_estimated(belief: Posterior) -> bool:
    """Return whether the probabilities of a belief are estimated from samples of the codes."""
    from bnmind.mastermind import SampledBelief

    return isinstance(belief, SampledBelief) and belief.listed is None


def learned_noise(belief: Posterior) -> float | None:
    """Return the expected error probability of a belief that learns it; None for other beliefs."""
    from bnmind.mastermind import UnknownNoiseBelief

    if not isinstance(belief, UnknownNoiseBelief):
        return None
    levels = [float(one.name.partition(":")[2]) for one in belief.levels]
    probabilities: list[float] = belief.level_probabilities.tolist()
    return sum(p * q for p, q in zip(levels, probabilities, strict=True))


def code_weights(belief: Posterior) -> tuple[NDArray[np.uint8], Floats]:
    """Return codes, ``(codes, pegs)``, and their weights, which sum to one.

    These are all codes of the board if the belief has the probability of each, and otherwise codes
    drawn from it.
    """
    import numpy as np

    if hasattr(belief, "codes"):
        return belief.board.codes, belief.codes.probabilities
    codes = belief.draw(_SAMPLES, np.random.default_rng(0))
    return codes, np.full(len(codes), 1 / len(codes))


class GuessInformation(NamedTuple):
    """The expected information of guesses, in bits."""

    values: Floats
    """The information of one guess of each kind."""
    numbers: NDArray[np.intp]
    """The number of guesses of each kind, which are alike by symmetry."""
    is_sample: bool
    """Whether these are random guesses, because there are too many to evaluate all."""


def information_of_guesses(belief: Posterior, rng: np.random.Generator) -> GuessInformation:
    """Return the expected information of all guesses, or of random ones if there are too many.

    Examples
    --------
    >>> import numpy as np
    >>> from bnmind.mastermind import Board, Channel, TableBelief
    >>> belief = TableBelief.start(Channel.exact(Board(2, 3)))
    >>> told = information_of_guesses(belief, np.random.default_rng(0))
    >>> sorted(zip(told.values.round(2).tolist(), told.numbers.tolist()))
    [(1.39, 3), (2.06, 6)]
    """
    import numpy as np

    from bnmind.information import information
    from bnmind.mastermind import UnknownNoiseBelief
    from bnmind.mastermind.masses import plan_masses

    board = belief.board
    unknown = belief if isinstance(belief, UnknownNoiseBelief) else None
    if unknown is not None:
        if board.n_codes * board.n_codes * len(unknown.products) <= _MOST_PAIRS:
            values = unknown.information()
            return GuessInformation(values, np.ones(len(values), dtype=np.intp), False)
    elif hasattr(belief, "codes"):
        weights = belief.codes.probabilities
        try:
            plan = plan_masses(board, weights, history=belief.history)
        except TooLargeError:
            plan = None
        if plan is not None and plan.way.seconds <= _SOON:
            values = information(plan.run(weights), belief.channel.matrix)
            return GuessInformation(values, plan.sizes, False)
    guesses = np.sort(rng.choice(board.n_codes, min(_SAMPLED_GUESSES, board.n_codes), False))
    if unknown is not None:
        values = unknown.information(guesses)
    else:
        values = information(belief.masses(guesses), belief.channel.matrix)
    is_sample = len(guesses) < board.n_codes
    return GuessInformation(values, np.ones(len(values), dtype=np.intp), is_sample)


def changed(turns: Sequence[Turn], row: int, reply: Reply | None) -> tuple[Turn, ...]:
    """Return a history in which one row has another reply, or is left out.

    Parameters
    ----------
    turns
        The history.
    row
        The position of the row, from 0.
    reply
        The reply of the row instead; None leaves the row out.

    Raises
    ------
    InvalidArgumentError
        If there is no such row.
    """
    from bnmind.mastermind import Turn

    if not 0 <= row < len(turns):
        raise InvalidArgumentError(
            f"expected a row from 0 to {len(turns) - 1} of the history, got {row}", row
        )
    instead = () if reply is None else (Turn(turns[row].guess, reply),)
    return (*turns[:row], *instead, *turns[row + 1 :])
