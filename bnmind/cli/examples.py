"""``bnmind examples``: the files that come with bnmind."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from bnmind._messages import counted
from bnmind.cli.shared.command import Json, OneOf
from bnmind.cli.shared.terminal import plain_table, show_table, tell_json, terminal

if TYPE_CHECKING:
    from bnmind.datasets import ExampleSet

__all__ = ["examples"]


@dataclass(frozen=True)
class ExamplesOptions:
    """The options of the command.

    Parameters
    ----------
    name
        A set of files.
    copy
        Copy the files to this directory.
    """

    name: Annotated[str | None, OneOf("bnmind.datasets:EXAMPLES")] = None
    _: KW_ONLY
    copy: Annotated[Path | None, "DIR"] = None
    json_output: Json = False


def examples(options: ExamplesOptions) -> None:
    """List and copy the example files that come with bnmind.

    Without NAME, the command lists all sets of files. --copy DIR copies them to folders of
    DIR/models, so that the commands of the documentation work in DIR. With NAME, it lists the
    files of one set, and --copy DIR copies these files into DIR. Files that exist with other
    content are never replaced.

    Examples
    --------
    bnmind examples
    bnmind examples --copy .
    bnmind examples fractions-class --copy class
    """
    from bnmind.datasets import EXAMPLES, copy_examples, example_set

    sets = list(EXAMPLES.values()) if options.name is None else [example_set(options.name)]
    copied = () if options.copy is None else copy_examples(options.copy, name=options.name)
    if options.json_output:
        tell_json({"sets": [_as_json(one) for one in sets], "copied": [str(p) for p in copied]})
    elif options.copy is not None:
        _say_copied(options.copy, len(copied), options.name)
    elif options.name is None:
        _show_sets(sets)
    else:
        _show_files(sets[0])


def _as_json(one: ExampleSet) -> dict[str, Any]:
    return {
        "name": one.name,
        "about": one.about,
        "source": one.source,
        "files": {name: str(one.path(name)) for name in one.files},
    }


def _say_copied(directory: Path, n_files: int, name: str | None) -> None:

    place = directory if name is not None else directory / "models"
    terminal().print(f"Copied: {counted(n_files, 'file')} in {place}", soft_wrap=True)


def _show_sets(sets: list[ExampleSet]) -> None:

    console = terminal()
    table = plain_table("set", "files", "content")
    table.columns[2].justify = "left"
    for one in sets:
        table.add_row(one.name, str(len(one.files)), one.about)
    show_table(console, table)
    console.print("bnmind examples --copy . copies all of them.", soft_wrap=True)


def _show_files(one: ExampleSet) -> None:

    console = terminal()
    console.print(f"{one.name}: {one.about}.", soft_wrap=True)
    console.print(f"Source: {one.source}.", soft_wrap=True)
    for name in one.files:
        console.print(f"  {name}", soft_wrap=True)
