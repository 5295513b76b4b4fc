"""``bnmind suggest``: the next guess of a game."""

from __future__ import annotations

from dataclasses import dataclass

from bnmind.cli.mastermind.position import advice_as_json, show_advice
from bnmind.cli.mastermind.setting import (
    DEFAULT_COLORS,
    DEFAULT_PEGS,
    UNIFORM,
    CodePrior,
    Colors,
    History,
    Limit,
    Noise,
    NoRepeats,
    Pegs,
    Player,
    channel_of_known_noise,
    prior_of,
    situation_of,
)
from bnmind.cli.shared.command import Json, Seed
from bnmind.cli.shared.terminal import interruptible, tell, tell_json, working

__all__ = ["suggest"]


@dataclass(frozen=True, kw_only=True)
class SuggestOptions:
    """The options of the command.

    Parameters
    ----------
    goes_on
        The game goes on after the last reply, even if that reports all pegs black.
    """

    history: History = None
    strategy: Player = "entropy"
    noise: Noise = "exact"
    prior: CodePrior = UNIFORM
    max_guesses: Limit = None
    pegs: Pegs = DEFAULT_PEGS
    colors: Colors = DEFAULT_COLORS
    no_repeats: NoRepeats = False
    goes_on: bool = False
    seed: Seed = None
    as_json: Json = False


def suggest(options: SuggestOptions) -> None:
    """Recommend the next guess, and show the most probable codes and doubtful replies.

    The guess has the smallest expected entropy of all guesses, unless --strategy names another
    strategy. With exact noise, the command reports replies that contradict each other, and still
    recommends a guess.

    Examples
    --------
    bnmind suggest
    bnmind suggest --history "1123 1b1w, 2345 0b2w"
    bnmind suggest --prior only-once --history "1123 1b1w"
    bnmind suggest --noise false:0.2 --history "AABC 1b1w; BCDE 0b2w" --json
    """
    import numpy as np

    from bnmind.lab.mastermind.advice import (
        advise,
        belief_after,
        choosing,
        ending,
        found,
        start,
    )
    from bnmind.lab.mastermind.noise_words import noise_in_words
    from bnmind.mastermind import Board, parse_history
    from bnmind.strategies import strategy_by_name

    board = Board(options.pegs, options.colors, repeats=not options.no_repeats)
    channel = channel_of_known_noise(board, options.noise)
    prior = prior_of(board, options.prior)
    turns = parse_history(board, ", ".join(options.history or ()))
    player = None if options.strategy == "entropy" else strategy_by_name(options.strategy)
    if ending(channel, turns, goes_on=options.goes_on):
        advice = interruptible(
            lambda: found(belief_after(start(channel, prior), turns[:-1]), turns[-1])
        )
    else:
        rng = np.random.default_rng(options.seed)
        situation = situation_of(options.max_guesses, len(turns))
        advice = working(
            choosing(board),
            lambda _: advise(
                belief_after(start(channel, prior), turns),
                rng,
                strategy=player,
                situation=situation,
                prior=prior,
            ),
        )
    if options.as_json:
        game = {
            "board": str(board),
            "noise": channel.name,
            "prior": UNIFORM if prior is None else prior.name,
        }
        tell_json(game | advice_as_json(advice))
    else:
        chosen = "" if prior is None else f", prior {prior.name}"
        tell(f"Board {board}{chosen}.")
        tell(noise_in_words(channel.name))
        show_advice(advice)
