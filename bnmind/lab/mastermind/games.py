"""Games of a strategy or a person against a code-maker, their endings, and their transcripts."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from types import MappingProxyType
from typing import Annotated, NamedTuple, Protocol, TypeAlias

import numpy as np
from annotated_types import Ge, Gt, Le, Lt

from bnmind._arguments import checked
from bnmind._messages import shown
from bnmind._registry import NUMBER, Registered, made_by_name
from bnmind._values import Value
from bnmind.errors import InvalidArgumentError
from bnmind.information import Floats
from bnmind.mastermind.beliefs import Belief
from bnmind.mastermind.board import Board, Reply, Turn, reply
from bnmind.mastermind.channel import Channel
from bnmind.mastermind.prior import Prior, UniformPrior, require_same_board
from bnmind.strategies.strategy import (
    GuessInfo,
    Situation,
    Strategy,
    posterior_of,
    start_posterior,
    trusting_channel,
)

# --- The endings of a game: revealed by the code-maker, declared by the breaker, or by a limit ----


MAX_GUESSES = 10**6
"""The largest limit of guesses: the luck of each guess is drawn before the game."""
Guesses = Annotated[int, Ge(1), Le(MAX_GUESSES)]
"""A limit of guesses."""


class Ending(Protocol):
    """The rule that ends a game."""

    @property
    def reveals(self) -> bool:
        """Whether the code-maker truthfully ends the game when the guess is the code.

        Otherwise the breaker names a code at the end, and wins if it is right.
        """

    @property
    def limit(self) -> int:
        """The limit of guesses in a game."""

    def stops(self, belief: Belief) -> bool:
        """Return whether the breaker stops here and names the most probable code.

        Parameters
        ----------
        belief
            The belief about the code after the last reply.
        """


@dataclass(frozen=True)
class Revealed(Value):
    """The code-maker ends the game, truthfully, when the guess is the code.

    A report of all pegs black in a game that goes on is therefore false.
    """

    limit: Guesses = 100
    """The limit of guesses; a longer game is lost."""

    reveals = True
    """The game ends at the winning guess."""

    @checked
    def stops(self, belief: Belief) -> bool:
        """Return False: the breaker never stops."""
        return False


@dataclass(frozen=True)
class Declared(Value):
    """The breaker stops when sufficiently certain, and names a code, right or wrong."""

    certainty: Annotated[float, Gt(0), Le(1)] = 0.95
    """The sufficient probability of the most probable code, in (0, 1]."""
    limit: Guesses = 100
    """The limit of guesses; after the last one the breaker names a code, certain or not."""

    reveals = False
    """The code-maker does not reveal that a guess is the code."""

    @checked
    def stops(self, belief: Belief) -> bool:
        """Return whether one code is sufficiently probable, up to rounding."""
        return posterior_of(belief).most_probable(1)[0][1] >= self.certainty - 1e-12


@dataclass(frozen=True)
class Limit(Value):
    """The breaker has a fixed number of guesses, and then names the most probable code."""

    limit: Guesses
    """The number of guesses."""

    reveals = False
    """The code-maker does not reveal that a guess is the code."""

    @checked
    def stops(self, belief: Belief) -> bool:
        """Return False: the breaker uses every guess."""
        return False


# --- The registry of endings, and the parser of the argument of ``--ending`` ----------------------


EndingMaker: TypeAlias = Callable[[int], Ending]
"""A function that makes an ending with a limit of guesses."""


def _declared(limit: int, certainty: float = 0.95) -> Declared:
    return Declared(certainty, limit)


ENDINGS: Mapping[str, Registered[EndingMaker]] = MappingProxyType(
    {
        "revealed": Registered("the code-maker ends the game at the code", lambda: Revealed),
        "declared": Registered(
            "the breaker names a code of probability NUMBER (default 0.95)",
            lambda: _declared,
            NUMBER,
            lambda certainty: partial(_declared, certainty=certainty),
        ),
        "limit": Registered("the breaker names the code after all guesses", lambda: Limit),
    }
)
"""The maker of each ending, by name."""


@checked
def parse_ending(text: str, limit: int = 100) -> Ending:
    """Return the ending that a text describes, with a limit of guesses.

    Parameters
    ----------
    text
        ``revealed``, ``declared``, ``declared:P`` with a probability P, or ``limit``.
    limit
        The largest number of guesses in a game.

    Raises
    ------
    UnknownNameError
        If no ending has the name.
    InvalidArgumentError
        If the argument is not a number or does not belong there, or the limit is not positive.
        If the certainty is not in (0, 1].
    TooLargeError
        If the limit is too large.

    Examples
    --------
    >>> parse_ending("declared:0.9", 20)
    Declared(certainty=0.9, limit=20)
    """
    return made_by_name("ending", ENDINGS, text.strip())(limit)


# --- The code-maker: a secret, a channel, and random numbers drawn before the game ----------------


_MOST_TURNS = 10**7


@dataclass(frozen=True, eq=False)
class CodeMaker(Value):
    """A player who hides a code and answers through a channel.

    The luck of each turn is one random number, drawn before the game. Two strategies that play
    against the same code-maker have the same luck, so their games can be compared.

    Examples
    --------
    >>> maker = CodeMaker.from_seed(Channel.false_reply(Board(4, 6), 0.2), 8)
    >>> maker.secret
    (6, 4, 5, 2)
    >>> true, reported = maker.answer(0, (1, 1, 2, 2))
    >>> str(true), str(reported)
    ('1b0w', '1b0w')
    """

    channel: Channel
    """The channel that reports the replies."""
    secret: tuple[int, ...]
    """The secret code."""
    noise: Annotated[Floats, Ge(0), Lt(1)]
    """``(turns,)``, in [0, 1), read-only: the luck of every turn; see `Channel.draw`."""
    seed: int | None = None
    """The seed of the secret and the luck, if there is one."""
    prior: Prior | None = None
    """The distribution from which the secret was drawn; uniform if None."""

    def _faults(self) -> Iterator[str]:
        self.board.index(self.secret)  # raises unless it is a code of the board
        if self.prior is not None:
            require_same_board(self.board, self.prior)
        if self.noise.ndim != 1:
            yield f"expected noise of shape (turns,), got shape {self.noise.shape}"

    @classmethod
    @checked
    def from_seed(
        cls,
        channel: Channel,
        seed: int,
        *,
        secret: Sequence[int] | None = None,
        turns: int = 100,
        prior: Prior | None = None,
    ) -> CodeMaker:
        """Return the code-maker with a seed.

        Parameters
        ----------
        channel
            The channel that reports the replies.
        seed
            Not negative. It determines the secret and the luck independently of each other, so
            giving the secret does not change the luck.
        secret
            The secret code; by default drawn from the prior.
        turns
            The number of turns for which to draw the luck.
        prior
            The distribution of the secret code; uniform if None.

        Raises
        ------
        InvalidArgumentError
            If the prior belongs to another board.
            If the number of turns is negative or too large.
        """
        if not 0 <= turns <= _MOST_TURNS:
            raise InvalidArgumentError(
                f"expected a number of turns from 0 to {_MOST_TURNS:,}, got {shown(turns)}", turns
            )
        secret_source, noise_source, _ = _sources(seed)
        if secret is not None:
            chosen = tuple(secret)
        elif prior is None:
            chosen = _uniform_code(channel.board, np.random.default_rng(secret_source))
        else:
            require_same_board(channel.board, prior)
            chosen = tuple(prior.draw(1, np.random.default_rng(secret_source))[0].tolist())
        return cls(
            channel=channel,
            secret=chosen,
            noise=np.random.default_rng(noise_source).random(turns),
            seed=seed,
            prior=prior,
        )

    @property
    def board(self) -> Board:
        """The board."""
        return self.channel.board

    @checked
    def answer(self, turn: int, guess: Sequence[int]) -> tuple[Reply, Reply | None]:
        """Return the true reply to a guess, and the reply reported.

        Parameters
        ----------
        turn
            The number of previous turns: 0, 1, …
        guess
            Colors 1..k, one for each peg.

        Returns
        -------
        tuple[Reply, Reply | None]
            The true reply and the report. None stands for "won", which a `revealed` channel
            reports truthfully; other channels never report it.

        Raises
        ------
        InvalidArgumentError
            If the guess is not a code of the board.
            If the turn is beyond the luck drawn for the game.
        """
        self.board.index(guess)
        if not 0 <= turn < len(self.noise):
            raise InvalidArgumentError(f"expected a turn below {len(self.noise)}, got {turn}", turn)
        true = reply(guess, self.secret)
        outcome = self.channel.draw(self.board.true_replies.index(true), float(self.noise[turn]))
        return true, None if outcome == self.channel.won_index else self.channel.reports[outcome]


@checked
def strategy_rng(seed: int) -> np.random.Generator:
    """Return the random generator of a strategy, independent of the code-maker's luck.

    Parameters
    ----------
    seed
        The seed of the game, at least 0.
    """
    return np.random.default_rng(_sources(seed)[2])


def _sources(seed: int) -> list[np.random.SeedSequence]:
    """Return the seed sequences of the secret, the luck and the choices of the strategy."""
    try:
        number = operator.index(seed)
    except TypeError:
        number = -1
    if number < 0:
        raise InvalidArgumentError(
            f"expected a seed that is a whole number from 0, got {shown(seed)}", seed
        )
    return np.random.SeedSequence(number).spawn(3)


def _uniform_code(board: Board, rng: np.random.Generator) -> tuple[int, ...]:
    """Return a code drawn uniformly, on boards of any size."""
    if board.repeats:
        return tuple((rng.integers(board.colors, size=board.pegs) + 1).tolist())
    return tuple((rng.permutation(board.colors)[: board.pegs] + 1).tolist())


# --- Transcripts: the complete record of a game, including its luck -------------------------------


@dataclass(frozen=True, kw_only=True)
class PlayedTurn(Value):
    """One guess and its reply."""

    guess: tuple[int, ...]
    """The guess."""
    true_reply: Reply
    """The true reply."""
    report: Reply | None
    """The reply that was reported; None if the code-maker ended the game instead."""
    noise: float
    """The luck of the turn, in [0, 1)."""
    info: GuessInfo
    """The reasons of the strategy for the guess."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Transcript(Value):
    """The record of a game."""

    strategy: str
    """The name of the strategy."""
    channel: Channel
    """The channel that reported the replies."""
    assumed: Channel
    """The channel that the strategy assumed."""
    ending: Ending
    """The rule that ended the game."""
    secret: tuple[int, ...]
    """The secret code."""
    turns: tuple[PlayedTurn, ...]
    """The turns, first to last."""
    won: bool
    """Whether the code was guessed or, if the ending does not reveal it, named correctly."""
    declared: tuple[int, ...] | None = None
    """The code that the breaker named at the end, if the ending does not reveal it."""
    seed: int | None = None
    """The seed of the game, if it had one."""
    prior: Prior | None = None
    """The distribution from which the secret was drawn; uniform if None."""
    assumed_prior: Prior | None = None
    """The prior that the strategy assumed; uniform if None."""

    @property
    def board(self) -> Board:
        """The board."""
        return self.channel.board

    @property
    def guesses(self) -> int:
        """The number of guesses."""
        return len(self.turns)

    @property
    def history(self) -> tuple[Turn, ...]:
        """The guesses and the reported replies, as the turns of a belief."""
        return tuple(
            Turn(turn.guess, turn.report) for turn in self.turns if turn.report is not None
        )


# --- Games: a strategy against a code-maker -------------------------------------------------------


@checked
def play_game(
    strategy: Strategy,
    code_maker: CodeMaker,
    *,
    ending: Ending | None = None,
    rng: np.random.Generator | None = None,
    assumed: Channel | None = None,
    assumed_prior: Prior | None = None,
) -> Transcript:
    """Play a game and return its transcript.

    Parameters
    ----------
    strategy
        The code-breaker.
    code_maker
        The code-maker.
    ending
        The rule that ends the game; ``Revealed()`` by default.
    rng
        The random generator of the strategy. By default it is derived from the seed of the
        code-maker, so the seed determines the game.
    assumed
        The channel that the strategy assumes; by default that of the code-maker.
    assumed_prior
        The prior that the strategy assumes; by default that of the code-maker. A strategy that
        does not know the preferences of the code-maker assumes a `UniformPrior`.

    Raises
    ------
    InvalidArgumentError
        If the assumed channel excludes a reply that the code-maker's channel may report, or the
        code-maker's channel reveals the code and the ending does not.
        If the secret is impossible under the assumed prior, or that belongs to another board.
        If there is neither a generator nor a seed, or the code-maker's luck is too short for
        the game.

    Examples
    --------
    >>> from bnmind.mastermind import Board, Channel
    >>> from bnmind.strategies import Entropy
    >>> maker = CodeMaker.from_seed(Channel.exact(Board(4, 6)), 8)
    >>> game = play_game(Entropy(), maker)
    >>> game.won, game.guesses, game.turns[-1].guess == maker.secret
    (True, 5, True)
    """
    ending = Revealed() if ending is None else ending
    if rng is None:
        if code_maker.seed is None:
            raise InvalidArgumentError(
                "expected a random generator, or a code-maker that has a seed", rng
            )
        rng = strategy_rng(code_maker.seed)
    assumed = assumed_channel(code_maker.channel, assumed, ending)
    board = code_maker.board
    prior = code_maker.prior if assumed_prior is None else assumed_prior
    _require_possible_secret(code_maker, prior)
    belief: Belief = strategy.start(assumed, prior)
    judge = _judge(belief, ending, lambda: start_posterior(assumed, prior))
    turns: list[PlayedTurn] = []
    won = False
    memory: object = None
    while not won and len(turns) < ending.limit and not ending.stops(judge or belief):
        situation = Situation(memory=memory, guesses_left=ending.limit - len(turns))
        index, info = strategy.choose(belief, rng, situation)
        if info.memory is not None or memory is not None:
            memory, info = info.memory, replace(info, memory=None)
        guess = board.code(index)
        true, report = code_maker.answer(len(turns), guess)
        noise = float(code_maker.noise[len(turns)])
        won = ending.reveals and guess == code_maker.secret
        turns.append(
            PlayedTurn(
                guess=guess, true_reply=true, report=None if won else report, noise=noise, info=info
            )
        )
        if report is not None and not won:
            belief = belief.update(guess, report)
            judge = judge and judge.update(guess, report)
    declared = None
    if not ending.reveals:
        ((most_probable, _),) = posterior_of(judge or belief).most_probable(1)
        declared = board.code(most_probable)
        won = declared == code_maker.secret
    return Transcript(
        strategy=strategy.name,
        channel=code_maker.channel,
        assumed=assumed,
        ending=ending,
        secret=code_maker.secret,
        turns=tuple(turns),
        won=won,
        declared=declared,
        seed=code_maker.seed,
        prior=code_maker.prior,
        assumed_prior=prior,
    )


def _require_possible_secret(code_maker: CodeMaker, prior: Prior | None) -> None:
    """Raise unless a prior allows the secret and is one of the same board."""
    if prior is None:
        return
    require_same_board(code_maker.board, prior)
    if prior.log_weights(np.array([code_maker.secret]))[0] == -np.inf:
        raise InvalidArgumentError(
            f"the assumed prior {prior.name} excludes the secret"
            f" {code_maker.board.format(code_maker.secret)}; assume one that allows every code that"
            " the code-maker may choose",
            prior,
        )


def _judge(belief: Belief, ending: Ending, start: Callable[[], Belief]) -> Belief | None:
    """Return a belief from which to name the code at the end, if the strategy's own cannot."""
    if ending.reveals or hasattr(belief, "masses"):
        return None
    return start()


@checked
def assumed_channel(real: Channel, assumed: Channel | None, ending: Ending) -> Channel:
    """Return the channel from which a strategy starts its belief.

    This is the assumed channel, by default the real one, in its `revealed` form if the ending
    reveals. An exact channel is extended by all replies that the real one may report.

    Parameters
    ----------
    real
        The channel that reports the replies.
    assumed
        The channel that the strategy assumes; the real one if None.
    ending
        The rule that ends the game.

    Raises
    ------
    InvalidArgumentError
        If the boards of the channels differ, if the assumed channel excludes a reply that the
        real one may report, or if the real one reveals the code and the ending does not.
    """
    if real.ends and not ending.reveals:
        raise InvalidArgumentError(
            f"expected a channel that does not reveal the code for {type(ending).__name__}, got "
            f"the revealed channel {real.name}",
            real.name,
        )
    channel = real if assumed is None else assumed
    if channel.board != real.board:
        raise InvalidArgumentError(
            f"expected an assumed channel of the board {real.board}, got one of {channel.board}",
            channel.name,
        )
    if ending.reveals:
        real, channel = real.revealed(), channel.revealed()
    if channel.is_exact:
        # The limit of vanishing noise is defined for any report.
        return channel if set(real.reports) <= set(channel.reports) else trusting_channel(real)
    _require_possible(real, channel)
    return channel


def _require_possible(real: Channel, assumed: Channel) -> None:
    """Raise if the real channel may report a reply that the assumed one excludes."""
    if assumed is real:
        return
    for column, report in enumerate(real.reports):
        is_assumed = report in assumed.reports
        ruled_out = real.matrix[:, column] > 0
        if is_assumed:
            ruled_out &= assumed.likelihood(report) == 0
        if ruled_out.any():
            true = real.board.true_replies[int(np.argmax(ruled_out))]
            raise InvalidArgumentError(
                f"the assumed channel {assumed.name} never reports {true} as {report}, but the "
                f"real channel {real.name} may",
                assumed.name,
            )


@checked
def replay(transcript: Transcript, strategy: Strategy | None = None) -> Transcript:
    """Replay a game, check that it is the same, and return it.

    Parameters
    ----------
    transcript
        The game.
    strategy
        The strategy, which must choose the same guesses again; a random strategy needs the seed
        of the game. By default the function takes the guesses from the transcript, and checks
        only the replies and the end.

    Raises
    ------
    InvalidArgumentError
        If the games differ; the message names the first turn that differs.
    """
    noise = np.zeros(max(transcript.ending.limit, transcript.guesses))
    noise[: transcript.guesses] = [turn.noise for turn in transcript.turns]
    maker = CodeMaker(
        channel=transcript.channel,
        secret=transcript.secret,
        noise=noise,
        seed=transcript.seed,
        prior=transcript.prior,
    )
    if strategy is None:
        played = _retold(transcript, maker)
    else:
        played = play_game(
            strategy,
            maker,
            ending=transcript.ending,
            rng=np.random.default_rng(0) if strategy.deterministic else None,
            assumed=transcript.assumed,
            assumed_prior=_replayed_prior(transcript),
        )
    for number, (then, now) in enumerate(zip(transcript.turns, played.turns, strict=False), 1):
        for field in ("guess", "true_reply", "report"):
            _require_same(field, getattr(then, field), getattr(now, field), f" in turn {number}")
    for field in ("guesses", "won", "declared"):
        _require_same(field, getattr(transcript, field), getattr(played, field), "")
    return played


def _replayed_prior(transcript: Transcript) -> Prior | None:
    """Return the assumed prior for `play_game`, for which None is the prior of the code-maker."""
    if transcript.assumed_prior is None and transcript.prior is not None:
        return UniformPrior(transcript.board)
    return transcript.assumed_prior


def _retold(transcript: Transcript, maker: CodeMaker) -> Transcript:
    """Return the transcript with the replies and the end that follow from its guesses."""
    ending, secret = transcript.ending, transcript.secret
    turns: list[PlayedTurn] = []
    won = False
    for number, turn in enumerate(transcript.turns[: ending.limit]):
        if won:
            break
        true, report = maker.answer(number, turn.guess)
        won = ending.reveals and turn.guess == secret
        turns.append(replace(turn, true_reply=true, report=None if won else report))
    if ending.reveals and not won and len(turns) < ending.limit:
        raise InvalidArgumentError(
            f"expected a game that goes on until it is won or has {ending.limit} guesses, got "
            f"{len(turns)} guesses",
            transcript,
        )
    if not ending.reveals:
        won = transcript.declared == secret
    return replace(transcript, turns=tuple(turns), won=won)


def _require_same(what: str, then: object, now: object, where: str) -> None:
    if then != now:
        raise InvalidArgumentError(
            f"expected the {what.replace('_', ' ')} {_shown(then)}{where}, as in the transcript, "
            f"got {_shown(now)}",
            now,
        )


def _shown(value: object) -> str:
    return str(value) if value is None or isinstance(value, Reply) else repr(value)


# --- A game against a code-maker as a value: each guess, undo and surrender gives a new game ------


class Answered(NamedTuple):
    """A guess, its true reply, and the reply reported."""

    guess: tuple[int, ...]
    true: Reply
    report: Reply | None
    """None if the guess won."""

    @property
    def is_false(self) -> bool:
        """Whether the reported reply is false."""
        return self.report is not None and self.report != self.true


@dataclass(frozen=True, eq=False)
class HiddenGame(Value):
    """The state of a game of a player against a code-maker.

    The luck of each turn is drawn before the game. A guess that is undone and made again therefore
    gets the same reply.

    Examples
    --------
    >>> from bnmind.mastermind import Board, Channel
    >>> maker = CodeMaker.from_seed(Channel.exact(Board(4, 6)).revealed(), 8)
    >>> game = HiddenGame(maker).guess((6, 4, 1, 1)).guess(maker.secret)
    >>> [str(turn.report) for turn in game.answered], game.is_won, game.undo().is_over
    (['2b0w', 'None'], True, False)
    """

    maker: CodeMaker
    """The code-maker; its channel is the `Channel.revealed` one."""
    guesses: tuple[tuple[int, ...], ...] = ()
    """The guesses so far, oldest first."""
    given_up: bool = False
    """Whether the player has given up."""
    undone: int = 0
    """How many guesses the player has taken back."""
    hints: int = 0
    """How many hints the player has had."""

    @cached_property
    def answered(self) -> tuple[Answered, ...]:
        """The guesses with their replies, oldest first."""
        answers = (self.maker.answer(turn, guess) for turn, guess in enumerate(self.guesses))
        return tuple(
            Answered(guess, true, report)
            for guess, (true, report) in zip(self.guesses, answers, strict=True)
        )

    @property
    def turns(self) -> tuple[Turn, ...]:
        """The guesses with the replies that the player has seen, without a win."""
        return tuple(Turn(a.guess, a.report) for a in self.answered if a.report is not None)

    @property
    def guesses_left(self) -> int:
        """The number of guesses for which there is luck."""
        return len(self.maker.noise) - len(self.guesses)

    @property
    def is_won(self) -> bool:
        """Whether the last guess was the code."""
        return bool(self.guesses) and self.answered[-1].report is None

    @property
    def is_over(self) -> bool:
        """Whether the code is found, the player has given up, or no guess is left."""
        return self.is_won or self.given_up or not self.guesses_left

    def guess(self, code: Sequence[int]) -> HiddenGame:
        """Return the game after a guess.

        Raises
        ------
        InvalidArgumentError
            If it is not a code of the board.
            If the game is over.
        """
        if self.is_over:
            raise InvalidArgumentError("the game is over; start a new one, or undo", code)
        checked = self.maker.board.checked(code)
        return replace(self, guesses=(*self.guesses, checked))

    def undo(self) -> HiddenGame:
        """Return the game without the last guess, or without the surrender.

        Raises
        ------
        InvalidArgumentError
            If there is nothing to undo.
        """
        if self.given_up:
            return replace(self, given_up=False)
        if not self.guesses:
            raise InvalidArgumentError("there is no guess to undo", self.guesses)
        return replace(self, guesses=self.guesses[:-1], undone=self.undone + 1)

    def give_up(self) -> HiddenGame:
        """Return the game after the player has given up."""
        return replace(self, given_up=not self.is_won)

    def with_hint(self) -> HiddenGame:
        """Return the game after a hint."""
        return replace(self, hints=self.hints + 1)
