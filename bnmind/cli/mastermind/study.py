"""Commands about Mastermind that answer and end: guesses, strategies, comparisons, networks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, replace
from pathlib import Path
from typing import Annotated, Any, TypeAlias

import typer

from bnmind import junction, mastermind, strategies
from bnmind._display import Result, parts_of
from bnmind._files import write_file, write_files
from bnmind._messages import counted, percent
from bnmind.cli.mastermind import setting
from bnmind.cli.shared import command
from bnmind.cli.shared.terminal import interruptible, printable, say, working
from bnmind.errors import BnmindError
from bnmind.lab.mastermind.advice import advise, belief_after, choosing, ending, found, start
from bnmind.lab.mastermind.words import noise_in_words

# --- A guess, and the guesses of a game -----------------------------------------------------------


def suggest(
    size: setting.BoardOptions,
    *,
    history: setting.History = None,
    strategy: setting.Player = "entropy",
    noise: setting.Noise = "exact",
    prior: setting.CodePrior = setting.UNIFORM,
    max_guesses: setting.MaxGuesses = None,
    goes_on: bool = False,
    seed: command.Seed = None,
) -> Result:
    """Recommend the next guess, and show the most probable codes and doubtful replies.

    The guess has the smallest expected entropy of all guesses, unless --strategy names another
    strategy. With exact noise, the command reports replies that contradict each other, and still
    recommends a guess.

    Parameters
    ----------
    goes_on
        The game goes on after the last reply, even if that reports all pegs black.

    Examples
    --------
    bnmind suggest
    bnmind suggest --history "1123 1b1w, 2345 0b2w"
    bnmind suggest --prior only-once --history "1123 1b1w"
    bnmind suggest --noise false:0.2 --history "AABC 1b1w; BCDE 0b2w" --json
    """
    import numpy as np

    board = size.board
    channel = setting.channel_of_known_noise(board, noise)
    drawn = setting.prior_of(board, prior)
    turns = mastermind.parse_history(board, ", ".join(history or ()))
    player = None if strategy == "entropy" else strategies.strategy_by_name(strategy)
    if ending(channel, turns, goes_on=goes_on):
        advice = interruptible(
            lambda: found(belief_after(start(channel, drawn), turns[:-1]), turns[-1])
        )
    else:
        rng, situation = np.random.default_rng(seed), setting.situation_of(max_guesses, len(turns))
        advice = working(
            choosing(board),
            lambda _: advise(
                belief_after(start(channel, drawn), turns),
                rng,
                strategy=player,
                situation=situation,
                prior=drawn,
            ),
        )
    name = setting.UNIFORM if drawn is None else drawn.name
    chosen = "" if drawn is None else f", prior {name}"
    return command.Outcome(
        {"board": str(board), "noise": channel.name, "prior": name, **advice.to_dict()},
        (f"Board {board}{chosen}.", noise_in_words(channel.name), *parts_of(advice)),
    )


def regret(
    history: str,
    size: setting.BoardOptions,
    *,
    by: Annotated[str | None, command.OneOf("bnmind.strategies:SCORES", "Scores")] = None,
    noise: setting.Noise = "exact",
) -> Result:
    """Show the loss of each guess of a game against the best guess at that point.

    If replies are true, the value of a guess is the mean number of guesses that the game still
    takes if all later guesses are optimal. Where this cannot be computed, or with --by NAME,
    the value is the score of a strategy: knuth, or one from the list below.

    With --noise, a guess is worth the information that its reply should give about the code,
    in bits.

    Parameters
    ----------
    history
        Guesses and the replies, like "1123 1b1w, 2345 0b2w".
    by
        optimal, or the strategy whose score to use.

    Examples
    --------
    bnmind regret "1122 0b1w, 3456 1b1w, 3344 0b0w"
    bnmind regret "1123 1b1w, 1145 0b2w" --noise false:0.2
    bnmind regret "1111 1b0w, 1234 1b1w" --by irving --json
    """
    import numpy as np

    from bnmind.lab.mastermind.review import judge_guesses, review_guesses

    board = size.board
    turns = mastermind.parse_history(board, history)
    if not turns:
        raise BnmindError("the history is empty; give at least one guess and its reply")
    channel, what = mastermind.parse_noise(board, noise), "judging the guesses"
    if channel.is_exact:
        interruptible(
            lambda: strategies.codes_left(board, turns)
        )  # raises early if there is no such game
    elif by is not None:
        raise BnmindError("expected --by without --noise: under noise, regret is in bits")
    won = ending(channel, turns, goes_on=False)
    if channel.is_exact:
        return working(what, lambda report: judge_guesses(board, turns, by=by, progress=report))
    rng = np.random.default_rng(0)
    return working(
        what,
        lambda report: review_guesses(start(channel), turns, rng, won=won, progress=report),
    )


# --- The guesses of a strategy --------------------------------------------------------------------

_RANDOM_GAMES = 1000
"""The default number of games of a random strategy."""


_FORMATS = f"{__name__}:_tree_formats"


def _tree_formats() -> Mapping[str, Any]:
    return {**strategies.TREE_FORMATS, ".svg": "a drawing"}


@dataclass(frozen=True)
class StrategyOptions(setting.BoardOptions):
    """The options of the command.

    Parameters
    ----------
    name
        The strategy.
    first
        Make this first guess.
    consistent
        Guess only codes that are still possible.
    random_ties
        Break ties at random, and play games.
    max_guesses
        Count the codes found within N guesses; optimal strategies find all within N.
    determining
        End the game when one code is left.
    weights
        Weights for weighted-entropy.
    tree
        Write the tree, in a format from the list below.
    games
        Play N games against random codes. [default for random strategies: 1000]
    exact
        Average over all choices of a random strategy; no games.
    """

    name: Annotated[str, command.OneOf("bnmind.strategies:STRATEGIES", "Strategies")]
    _: KW_ONLY
    first: Annotated[str | None, "CODE"] = None
    consistent: bool = False
    random_ties: bool = False
    max_guesses: command.Count | None = None
    determining: bool = False
    weights: Path | None = None
    tree: Annotated[
        Path | None, command.Place("tree", _FORMATS), command.OneOf(_FORMATS, "Formats of trees")
    ] = None
    games: command.Count | None = None
    exact: bool = False
    seed: command.Seed = 0

    @property
    def goal(self) -> strategies.Goal:
        """What ends a game."""
        return strategies.Goal.DETERMINING if self.determining else strategies.Goal.REVEALING


def strategy(options: StrategyOptions) -> Result:
    """Count the guesses that a strategy needs to find each code once, without noise.

    NAME is a strategy from the list below, or module:name for your own. Random strategies play
    games instead. On boards too large for trees, shapiro and random search for a possible code.

    optimal provably takes the fewest guesses in total, and optimal-worst the fewest in the worst
    case. For these two, --first, --consistent, --max-guesses and --determining change the rules of
    the game, and the command finds the best strategy under these rules. deeper looks further ahead
    than one guess, where the optimum cannot be computed; 5x8 takes a minute.

    Examples
    --------
    bnmind strategy knuth
    bnmind strategy irving --first 1123 --consistent --tree irving.json
    bnmind strategy optimal --max-guesses 5
    bnmind strategy subset:all:entropy --exact
    bnmind strategy random --pegs 10 --colors 12 --games 20 --seed 1
    """
    board = options.board
    first = None if options.first is None else board.parse(options.first)
    player = _player(options, first)
    if options.exact:
        _require_no_games(options)
        return working(
            "averaging over all choices",
            lambda report: strategies.average_games(player, board, first=first, progress=report),
        )
    if isinstance(player, strategies.Optimal):
        player = replace(player, goal=options.goal, max_guesses=options.max_guesses)
    searched = strategies.is_searched(player, board)
    grows = not searched and options.games is None and player.deterministic
    if options.tree is not None and not grows:
        raise BnmindError(f"--tree needs a strategy that has a tree; {options.name} plays games")
    if grows:
        return _grown(options, player, board)
    if options.determining:
        raise BnmindError(
            f"--determining needs a strategy that has a tree; {options.name} plays games"
        )
    measured = working(
        "playing",
        lambda report: (strategies.measure_search if searched else strategies.measure_games)(
            player,
            board,
            games=options.games or _RANDOM_GAMES,
            seed=options.seed or 0,
            first=first,
            progress=report,
        ),
    )
    return _with_limit(command.Outcome.of(measured), measured, options.max_guesses)


def _grown(options: StrategyOptions, player: strategies.Strategy, board: Any) -> Result:
    """Return the guesses of a strategy by its tree; of an optimal one, with the certificate."""
    optimum: strategies.Optimum | None = None
    if isinstance(player, strategies.Optimal):
        search = player.optimum
        optimum = working(
            "searching for the optimum", lambda report: search(board, progress=report)
        )
    tree = working(
        f"growing the tree of {printable(player.name)}",
        lambda report: strategies.strategy_tree(player, board, progress=report),
    )
    measured, lengths = strategies.measure_tree(player.name, tree, goal=options.goal), tree.lengths
    if options.tree is not None:
        _write_tree(tree, options.tree)
    guess, numbers = tree.root.guess, ("revealing", "determining", "paper_EL")
    shown = _with_limit(
        command.Outcome.of(
            measured,
            f"Until one code is left: mean {lengths.determining:.4f} guesses"
            f" ({lengths.paper_EL:.4f} nodes).",
            lengths={name: getattr(lengths, name) for name in numbers},
            first=None if guess is None else board.format_index(guess),
        ),
        measured,
        options.max_guesses,
    )
    if optimum is None:
        return shown
    return command.Outcome.of(shown, *parts_of(optimum), certificate=optimum.to_dict())


def _with_limit(shown: Result, measured: Any, limit: int | None) -> Result:
    """Return a result together with how many codes are found within a limit of guesses."""
    if limit is None:
        return shown
    found = measured.within(limit)
    within = f"{counted(limit, 'guess', 'guesses')}: {found:,} ({percent(found / measured.games)})"
    return command.Outcome.of(
        shown, f"Found within {within}.", max_guesses=limit, found_within=found
    )


def _require_no_games(options: StrategyOptions) -> None:
    others = ("--games", "--tree", "--determining", "--max-guesses")
    given = command.given_options(options)
    if wrong := [name for name in others if name in given]:
        raise BnmindError(f"--exact does not go together with {' and '.join(wrong)}")


def _player(options: StrategyOptions, first: tuple[int, ...] | None) -> strategies.Strategy:
    """Return the strategy; raise if it does not support an option."""
    name, consistent, random_ties = options.name, options.consistent, options.random_ties
    player = strategies.strategy_by_name(name)
    if options.weights is not None:
        if name != "weighted-entropy":
            raise BnmindError(f"--weights applies only to weighted-entropy, not to {name}")
        player = strategies.Myopic(strategies.read_weights(options.weights), name=name)
    if not (first is not None or consistent or random_ties):
        return player
    if isinstance(player, strategies.Optimal):
        if random_ties:
            raise BnmindError(
                f"--random-ties needs a strategy of one score, like knuth, not {name}"
            )
        among = strategies.Among.POSSIBLE if consistent else player.among
        return replace(player, first=first, among=among)
    rule = strategies.myopic_rule(player)
    if rule is None:
        if not random_ties and (
            isinstance(player, strategies.RandomCode) or (options.exact and not consistent)
        ):
            return player  # the first guess is given to the games, or to the average
        raise BnmindError(
            f"--first, --consistent and --random-ties need a strategy of one score, like knuth, "
            f"not {name}"
        )
    return replace(
        rule,
        first=first,
        among=strategies.Among.POSSIBLE if consistent else rule.among,
        ties=strategies.Ties.RANDOM if random_ties else rule.ties,
    )


def _write_tree(tree: Any, path: Path) -> None:
    if path.suffix.lower() == ".svg":
        write_file(path, strategies.tree_to_svg(tree))
    else:
        strategies.write_tree(tree, path)


def fit_weights(
    size: setting.BoardOptions,
    *,
    out: Annotated[Path, command.Place()],
    turns: command.Count = 1,
    evaluations: command.Count = 2000,
    start: Path | None = None,
    seed: command.Seed = 0,
) -> Result:
    """Fit the weights of weighted-entropy to a board, and write them to a file.

    The random search changes a few weights at a time, and keeps a change if the total number of
    guesses does not grow. The seed determines the result. At 4x6 an evaluation takes about a
    hundredth of a second.

    Parameters
    ----------
    out
        The file for the weights.
    turns
        Number of turns with separate weights.
    evaluations
        Number of weights to try.
    start
        Initial weights. [default: equal ones]

    Examples
    --------
    bnmind fit-weights --evaluations 5000 --out weights.json
    bnmind fit-weights --turns 4 --start weights.json --out by-turn.json
    bnmind strategy weighted-entropy --weights by-turn.json
    """
    board = size.board
    initial = None if start is None else strategies.read_weights(start)
    fitted = working(
        "fitting",
        lambda report: strategies.fit_weights(
            board,
            turns=turns,
            evaluations=evaluations,
            seed=seed or 0,
            start=initial,
            progress=lambda number, _: report(number, evaluations),
        ),
    )
    strategies.write_weights(fitted.score, out)
    return command.Outcome.of(fitted, f"Written: {out}", file=str(out))


def fit_value(
    size: setting.BoardOptions,
    *,
    out: Annotated[Path, command.Place()],
    noise: setting.Noise = "exact",
    games: Annotated[int, typer.Option(min=2)] = 4000,
    rounds: command.Count = 2,
    seed: command.Seed = 0,
) -> Result:
    """Fit the value of a belief for look-ahead, and write it to a file.

    The value of a belief is the expected number of guesses that the game still takes. Each round
    plays games with one-step look-ahead on the value of the round before, and fits the next value
    to them. The seed determines the result. At 4x6 a thousand games take some 5 seconds. In
    Python, LookAhead(value=read_value(path)) plays with the value of a file.

    Parameters
    ----------
    out
        The file for the value.
    games
        Number of games in each round.
    rounds
        Number of rounds.

    Examples
    --------
    bnmind fit-value --noise false:0.2 --out value.json
    bnmind fit-value --noise independent:0.1 --games 10000 --rounds 3 --out value.json
    """
    board = size.board
    channel = mastermind.parse_noise(board, noise)
    fitted = working(
        "playing",
        lambda report: strategies.fit_value(
            channel, games=games, rounds=rounds, seed=seed or 0, progress=report
        ),
    )
    strategies.write_value(fitted.value, out)
    about = {"board": str(board), "channel": channel.name}
    record = {**about, **fitted.to_dict(), "file": str(out)}
    return command.Outcome(record, (*parts_of(fitted), f"Written: {out}"))


# --- Networks -------------------------------------------------------------------------------------


_Picture: TypeAlias = Annotated[Path, command.Place("picture", (".svg",))]


@dataclass(frozen=True, kw_only=True)
class NetworkOptions(setting.BoardOptions):
    """The options of the command.

    Parameters
    ----------
    stage
        1, 2 or 3.
    guess
        The guess to insert at stages 2 and 3. [default: the first colors in order]
    no_arc
        Omit the arc from P to C, as in a comparison of the paper.
    noise
        Add the reports P' and C', distorted by this noise, to the file.
    out
        Write the network, in a format from the list below. Stage 3 needs .json.
    svg
        Draw the stage as a figure of the paper.
    tree_svg
        Draw the junction tree to this file.
    """

    stage: int = 1
    guess: Annotated[str | None, "CODE"] = None
    no_arc: bool = False
    noise: setting.NoiseName | None = None
    out: Annotated[Path | None, command.FORMATS] = None
    svg: _Picture | None = None
    tree_svg: _Picture | None = None
    seed: command.Seed = None


def network(options: NetworkOptions) -> Result:
    """Show Vomlel's Bayesian network of a board: its cliques and their sizes.

    Stage 1 is the full network. Stage 2 inserts a guess. Stage 3 replaces the table of C by an
    auxiliary variable B. The sizes are those of the smallest junction tree found, without the
    reports P' and C'. They do not depend on the guess.

    Examples
    --------
    bnmind network --stage 3
    bnmind network --stage 3 --svg figure3.svg --tree-svg figure4.svg
    bnmind network --stage 2 --no-arc --json
    bnmind network --stage 2 --guess 1123 --noise false:0.2 --out network.bif
    """
    from bnmind.pgm.files import NETWORK_SUFFIXES, write_model

    drawings = {options.svg: mastermind.stage_figure, options.tree_svg: mastermind.tree_figure}
    pictures = {path: draw for path, draw in drawings.items() if path is not None}
    if options.out is not None:
        command.check_place(options.out, NETWORK_SUFFIXES, "network")
    board = options.board
    channel = None if options.noise is None else mastermind.parse_noise(board, options.noise)
    code = None if options.guess is None else board.parse(options.guess)
    found = working(
        "looking for the smallest junction tree",
        lambda _: mastermind.stage(
            board,
            options.stage,
            guess=code,
            arc=not options.no_arc,
            channel=channel,
            order=None if options.seed is None else junction.BestOrder(seed=options.seed),
        ),
    )
    if found.guess is None and options.guess is not None:
        say("note: stage 1 has no guess yet; --guess is not used")
    written = []
    if options.out is not None:
        write_model(found.model, options.out)
        written.append(f"written to {options.out}")
    if pictures:
        write_files({path: draw(found) for path, draw in pictures.items()})
    written += [f"drawn to {path}" for path in pictures]
    return command.Outcome.of(found, *written, noise=None if channel is None else channel.name)
