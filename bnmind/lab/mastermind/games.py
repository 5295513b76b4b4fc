"""Games: a strategy against a code-maker."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from bnmind._arguments import checked
from bnmind.errors import InvalidArgumentError
from bnmind.lab.mastermind.code_maker import CodeMaker, strategy_rng
from bnmind.lab.mastermind.endings import Ending, Revealed
from bnmind.lab.mastermind.transcript import PlayedTurn, Transcript
from bnmind.mastermind.beliefs.belief import Belief
from bnmind.mastermind.channel import Channel
from bnmind.mastermind.priors.prior import Prior, require_same_board
from bnmind.mastermind.priors.uniform import UniformPrior
from bnmind.mastermind.reply import Reply
from bnmind.strategies.base.needs import posterior_of
from bnmind.strategies.base.situation import Situation
from bnmind.strategies.base.strategy import Strategy, start_posterior, trusting_channel

__all__ = ["assumed_channel", "play_game", "replay"]


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
