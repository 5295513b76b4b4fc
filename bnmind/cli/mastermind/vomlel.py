"""``bnmind network``: Vomlel's Bayesian network, its cliques and their sizes.

With ``--relational``, the relational network of a game instead; see ``relational``.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from bnmind.cli.mastermind.setting import (
    DEFAULT_COLORS,
    DEFAULT_PEGS,
    Colors,
    NoiseName,
    NoRepeats,
    Pegs,
)
from bnmind.cli.shared.command import FORMATS, Count, Json, Seed, check_place
from bnmind.cli.shared.terminal import say, tell, tell_json, working
from bnmind.errors import InvalidArgumentError

if TYPE_CHECKING:
    from bnmind.mastermind.network.vomlel import Stage

__all__ = ["network"]


@dataclass(frozen=True, kw_only=True)
class NetworkOptions:
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
    relational
        Show the relational network of a random game of N guesses. Only --pegs, --colors,
        --seed, --out FILE.uai and --json apply.
    """

    stage: int = 1
    pegs: Pegs = DEFAULT_PEGS
    colors: Colors = DEFAULT_COLORS
    no_repeats: NoRepeats = False
    guess: Annotated[str | None, "CODE"] = None
    no_arc: bool = False
    noise: NoiseName | None = None
    out: Annotated[Path | None, FORMATS] = None
    svg: Path | None = None
    tree_svg: Path | None = None
    relational: Count | None = None
    seed: Seed = None
    as_json: Json = False


def network(options: NetworkOptions) -> None:
    """Show Vomlel's Bayesian network of a board: its cliques and their sizes.

    Stage 1 is the full network. Stage 2 inserts a guess. Stage 3 replaces the table of C by an
    auxiliary variable B. The sizes are those of the smallest junction tree found, without the
    reports P' and C'. They do not depend on the guess.

    With --relational N, show the relational network of a random game of N guesses instead, and
    write it with its evidence and exact answers in the format of the UAI competitions.

    Examples
    --------
    bnmind network --stage 3
    bnmind network --stage 3 --svg figure3.svg --tree-svg figure4.svg
    bnmind network --stage 2 --no-arc --json
    bnmind network --stage 2 --guess 1123 --noise false:0.2 --out network.bif
    bnmind network --relational 8 --pegs 3 --colors 3 --seed 1 --out game.uai
    """
    from bnmind.junction import BestOrder
    from bnmind.mastermind import Board, parse_noise
    from bnmind.mastermind.network.vomlel import stage as stage_of

    if options.relational is not None:
        _show_relational(options, options.relational)
        return
    if options.out is not None:
        from bnmind.pgm.files import NETWORK_SUFFIXES

        check_place(options.out, NETWORK_SUFFIXES, "network")
    for picture in (options.svg, options.tree_svg):
        if picture is not None:
            check_place(picture, (".svg",), "picture")
    board = Board(options.pegs, options.colors, repeats=not options.no_repeats)
    channel = None if options.noise is None else parse_noise(board, options.noise)
    code = None if options.guess is None else board.parse(options.guess)
    shown = working(
        "looking for the smallest junction tree",
        lambda _: stage_of(
            board,
            options.stage,
            guess=code,
            arc=not options.no_arc,
            channel=channel,
            order=None if options.seed is None else BestOrder(seed=options.seed),
        ),
    )
    if shown.guess is None and options.guess is not None:
        say("note: stage 1 has no guess yet; --guess is not used")
    if options.out is not None:
        from bnmind.pgm.files import write_model

        write_model(shown.model, options.out)
    pictures = _draw(shown, options)
    if options.as_json:
        tell_json(_as_json(shown, None if channel is None else channel.name))
        return
    tell(str(shown))
    if options.out is not None:
        tell(f"written to {options.out}")
    for picture in pictures:
        tell(f"drawn to {picture}")


def _show_relational(options: NetworkOptions, n_guesses: int) -> None:
    from bnmind.cli.mastermind.relational import RelationalOptions, show_relational

    unused = {
        "--stage": options.stage != 1,
        "--no-repeats": options.no_repeats,
        "--guess": options.guess is not None,
        "--no-arc": options.no_arc,
        "--noise": options.noise is not None,
        "--svg": options.svg is not None,
        "--tree-svg": options.tree_svg is not None,
    }
    if any(unused.values()):
        named = ", ".join(name for name, is_given in unused.items() if is_given)
        raise InvalidArgumentError(f"{named} cannot be used with --relational", named)
    show_relational(
        RelationalOptions(
            n_guesses=n_guesses,
            pegs=options.pegs,
            colors=options.colors,
            seed=options.seed,
            out=options.out,
            as_json=options.as_json,
        )
    )


def _draw(stage: Stage, options: NetworkOptions) -> list[Path]:
    """Write the pictures that are asked for, both or neither, and return their files."""
    from bnmind._files import write_files
    from bnmind.mastermind.network.figures import stage_figure, tree_figure

    pictures: dict[Path, str] = {}
    if options.svg is not None:
        pictures[options.svg] = stage_figure(stage)
    if options.tree_svg is not None:
        pictures[options.tree_svg] = tree_figure(stage)
    if pictures:
        write_files(pictures)
    return list(pictures)


def _as_json(stage: Stage, noise: str | None) -> dict[str, object]:
    tree, board = stage.tree, stage.board
    return {
        "stage": stage.number,
        "board": {"pegs": board.pegs, "colors": board.colors, "repeats": board.repeats},
        "guess": None if stage.guess is None else board.format(stage.guess),
        "arc": stage.arc,
        "noise": noise,
        "total_size": tree.total_size,
        "largest": tree.largest,
        "proven": tree.order.proven,
        "method": tree.order.method,
        "order": list(tree.order.variables),
        "cliques": [
            {"variables": list(clique.variables), "size": clique.size} for clique in tree.cliques
        ],
    }
