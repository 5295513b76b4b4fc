"""``bnmind strategy``: the exact number of guesses of a strategy, and its tree."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from bnmind._files import write_file
from bnmind._messages import counted, percent
from bnmind.cli.mastermind.setting import DEFAULT_COLORS, DEFAULT_PEGS, Colors, NoRepeats, Pegs
from bnmind.cli.shared.command import Count, Json, OneOf, Seed, check_place
from bnmind.cli.shared.terminal import printable, tell, tell_json, working
from bnmind.errors import BnmindError

if TYPE_CHECKING:
    from bnmind.mastermind import Board
    from bnmind.strategies import Measured, Optimum, Strategy, StrategyTree

__all__ = ["DEFAULT_GAMES", "strategy"]

DEFAULT_GAMES = 1000

_TREE_HELP = "Write the tree, in a format from the list below."


def _tree_formats() -> Mapping[str, Any]:
    from bnmind.strategies import TREE_FORMATS

    return {**TREE_FORMATS, ".svg": "a drawing"}


@dataclass(frozen=True)
class StrategyOptions:
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

    name: Annotated[str, OneOf("bnmind.strategies:STRATEGIES", "Strategies")]
    _: KW_ONLY
    pegs: Pegs = DEFAULT_PEGS
    colors: Colors = DEFAULT_COLORS
    no_repeats: NoRepeats = False
    first: Annotated[str | None, "CODE"] = None
    consistent: bool = False
    random_ties: bool = False
    max_guesses: Count | None = None
    determining: bool = False
    weights: Path | None = None
    tree: Annotated[Path | None, OneOf(f"{__name__}:_tree_formats", "Formats of trees")] = None
    games: Count | None = None
    exact: bool = False
    seed: Seed = 0
    as_json: Json = False


def strategy(options: StrategyOptions) -> None:
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
    from dataclasses import replace

    from bnmind.mastermind import Board
    from bnmind.strategies import Goal, Optimal, measure_games, measure_tree, strategy_tree
    from bnmind.strategies.analysis.large_boards import is_searched, measure_search

    board = Board(options.pegs, options.colors, repeats=not options.no_repeats)
    opening = None if options.first is None else board.parse(options.first)
    goal = Goal.DETERMINING if options.determining else Goal.REVEALING
    player = _player(options, opening)
    if options.exact:
        _show_average(options, player, board, opening)
        return
    if isinstance(player, Optimal):
        player = replace(player, goal=goal, max_guesses=options.max_guesses)
    optimum: Optimum | None = None
    grown: StrategyTree | None = None
    searched = is_searched(player, board)
    if options.tree is not None:
        _check_tree(
            options.tree,
            options.name,
            grows=not searched and options.games is None and player.deterministic,
        )
    if searched or options.games is not None or not player.deterministic:
        measured = working(
            "playing",
            lambda report: (measure_search if searched else measure_games)(
                player,
                board,
                games=options.games or DEFAULT_GAMES,
                seed=options.seed or 0,
                first=opening,
                progress=report,
            ),
        )
    else:
        if isinstance(player, Optimal):
            sought = player
            optimum = working(
                "searching for the optimum",
                lambda report: sought.optimum(board, progress=report),
            )
        tree_of = working(
            f"growing the tree of {printable(player.name)}",
            lambda report: strategy_tree(player, board, progress=report),
        )
        grown, measured = tree_of, measure_tree(player.name, tree_of, goal=goal)
    if options.determining and grown is None:
        raise BnmindError(
            f"--determining needs a strategy that has a tree; {options.name} plays games"
        )
    if options.tree is not None and grown is not None:
        _write(grown, options.tree)
    if options.as_json:
        certificate = {} if optimum is None else {"certificate": _certificate(optimum)}
        tell_json(_as_json(measured, grown, options.max_guesses) | certificate)
    else:
        _show(measured, grown, options.max_guesses)
        if optimum is not None:
            _show_certificate(optimum)


def _show_average(
    options: StrategyOptions, player: Strategy, board: Board, first: tuple[int, ...] | None
) -> None:
    """Print the expected numbers of guesses of a strategy that makes random choices."""
    from bnmind.strategies import average_games

    others = {
        "--games": options.games is not None,
        "--tree": options.tree is not None,
        "--determining": options.determining,
        "--max-guesses": options.max_guesses is not None,
    }
    wrong = [name for name, given in others.items() if given]
    if wrong:
        raise BnmindError(f"--exact does not go together with {' and '.join(wrong)}")
    averaged = working(
        "averaging over all choices",
        lambda report: average_games(player, board, first=first, progress=report),
    )
    if options.as_json:
        result = {"strategy": averaged.strategy, "board": str(board), "mean": averaged.mean}
        tell_json(result | {"max": averaged.worst, "distribution": list(averaged.expected)})
        return
    tell(
        f"{averaged.strategy} on {board}: mean {averaged.mean:.4f} guesses over all codes and all"
        f" random choices, at most {averaged.worst}"
    )
    for guess, codes in enumerate(averaged.expected, start=1):
        tell(f"  {counted(guess, 'guess', 'guesses'):<10} {codes:>12,.2f}")


def _player(options: StrategyOptions, first: tuple[int, ...] | None) -> Strategy:
    """Return the strategy; raise if it does not support an option."""
    from dataclasses import replace

    from bnmind.strategies import (
        Among,
        Myopic,
        Optimal,
        RandomCode,
        Ties,
        read_weights,
        strategy_by_name,
    )
    from bnmind.strategies.trees.myopic_tree import myopic_rule

    name, consistent, random_ties = options.name, options.consistent, options.random_ties
    player = strategy_by_name(name)
    if options.weights is not None:
        if name != "weighted-entropy":
            raise BnmindError(f"--weights applies only to weighted-entropy, not to {name}")
        player = Myopic(read_weights(options.weights), name=name)
    if not (first is not None or consistent or random_ties):
        return player
    if isinstance(player, Optimal):
        if random_ties:
            raise BnmindError(
                f"--random-ties needs a strategy of one score, like knuth, not {name}"
            )
        among = Among.POSSIBLE if consistent else player.among
        return replace(player, first=first, among=among)
    rule = myopic_rule(player)
    if rule is None:
        if not random_ties and (
            isinstance(player, RandomCode) or (options.exact and not consistent)
        ):
            return player  # the first guess is given to the games, or to the average
        raise BnmindError(
            f"--first, --consistent and --random-ties need a strategy of one score, like knuth, "
            f"not {name}"
        )
    return replace(
        rule,
        first=first,
        among=Among.POSSIBLE if consistent else rule.among,
        ties=Ties.RANDOM if random_ties else rule.ties,
    )


def _check_tree(path: Path, name: str, *, grows: bool) -> None:
    """Raise early if there will be no tree, or it could not be written."""
    from bnmind.strategies import TREE_SUFFIXES

    if not grows:
        raise BnmindError(f"--tree needs a strategy that has a tree; {name} plays games")
    check_place(path, (*TREE_SUFFIXES, ".svg"), "tree")


def _write(tree: StrategyTree, path: Path) -> None:
    from bnmind.strategies import tree_to_svg, write_tree

    if path.suffix.lower() == ".svg":
        write_file(path, tree_to_svg(tree))
    else:
        write_tree(tree, path)


def _show(measured: Measured, tree: StrategyTree | None, max_guesses: int | None) -> None:

    board = measured.board
    what = f"{board.n_codes:,} codes" if measured.is_exact else counted(measured.games, "game")
    tell(
        f"{measured.strategy} on {board}: {measured.total:,} guesses for {what}, "
        f"mean {measured.mean:.4f}, at most {measured.max}"
    )
    for guess, count in enumerate(measured.distribution, start=1):
        tell(f"  {counted(guess, 'guess', 'guesses'):<10} {count:>9,}")
    if tree is not None:
        lengths = tree.lengths
        tell(
            f"Until one code is left: mean {lengths.determining:.4f} guesses "
            f"({lengths.paper_EL:.4f} nodes)."
        )
    if max_guesses is not None:
        share = percent(measured.within(max_guesses) / measured.games)
        within = counted(max_guesses, "guess", "guesses")
        tell(f"Found within {within}: {measured.within(max_guesses):,} ({share}).")


def _show_certificate(optimum: Optimum) -> None:

    board, rules = optimum.tree.board, optimum.rules
    within = rules.max_guesses
    limit = "" if within is None else f" within {counted(within, 'guess', 'guesses')}"
    sets = counted(optimum.solved, "set of codes", "sets of codes")
    tell(
        f"Proven: no strategy by these rules takes fewer{limit}.\n"
        f"Searched {sets}, tried {counted(optimum.tried, 'guess', 'guesses')} for them."
    )
    tell("At least, by first guess:")
    for guess, total in optimum.openings.items():
        shown = "impossible" if total is None else f"{total:,}"
        tell(f"  {board.format(guess)} {shown:>12}")


def _certificate(optimum: Optimum) -> dict[str, object]:
    board = optimum.tree.board
    return {
        "bound": optimum.bound,
        "openings": {board.format(guess): total for guess, total in optimum.openings.items()},
        "sets_searched": optimum.solved,
        "guesses_tried": optimum.tried,
    }


def _as_json(
    measured: Measured, tree: StrategyTree | None, max_guesses: int | None
) -> dict[str, object]:
    result: dict[str, object] = {
        "strategy": measured.strategy,
        "board": str(measured.board),
        "goal": measured.goal.value,
        "codes": measured.board.n_codes,
        "games": None if measured.is_exact else measured.games,
        "total": measured.total,
        "mean": measured.mean,
        "max": measured.max,
        "distribution": list(measured.distribution),
    }
    if tree is not None:
        lengths = tree.lengths
        result["lengths"] = {
            "revealing": lengths.revealing,
            "determining": lengths.determining,
            "paper_EL": lengths.paper_EL,
        }
        result["first"] = _first(tree, measured.board)
    if max_guesses is not None:
        result["max_guesses"] = max_guesses
        result["found_within"] = measured.within(max_guesses)
    return result


def _first(tree: StrategyTree, board: Board) -> str | None:
    guess = tree.root.guess
    return None if guess is None else board.code_text(guess)
