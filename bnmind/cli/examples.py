"""``bnmind examples``: the files that come with bnmind."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from bnmind._display import Result, Table
from bnmind._messages import counted
from bnmind.cli.shared.command import OneOf, Outcome


def examples(
    name: Annotated[str | None, OneOf("bnmind.datasets:EXAMPLES")] = None,
    *,
    copy: Annotated[Path | None, "DIR"] = None,
) -> Result:
    """List and copy the example files that come with bnmind.

    Without NAME, the command lists all sets of files. --copy DIR copies them to folders of
    DIR/models, so that the commands of the documentation work in DIR. With NAME, it lists the
    files of one set, and --copy DIR copies these files into DIR. Files that exist with other
    content are never replaced.

    Parameters
    ----------
    name
        A set of files.
    copy
        Copy the files to this directory.

    Examples
    --------
    bnmind examples
    bnmind examples --copy .
    bnmind examples fractions-class --copy class
    """
    from bnmind.datasets import EXAMPLES, copy_examples, example_set

    sets = list(EXAMPLES.values()) if name is None else [example_set(name)]
    copied = () if copy is None else copy_examples(copy, name=name)
    record = {
        "sets": [
            {
                "name": one.name,
                "about": one.about,
                "source": one.source,
                "files": {file: str(one.path(file)) for file in one.files},
            }
            for one in sets
        ],
        "copied": [str(path) for path in copied],
    }
    parts: list[str | Table]
    if copy is not None:
        place = copy / "models" if name is None else copy
        parts = [f"Copied: {counted(len(copied), 'file')} in {place}"]
    elif name is None:
        rows = [(one.name, str(len(one.files)), one.about) for one in sets]
        parts = [Table(("set", "files", "content"), rows, left=(0, 2))]
        parts.append("bnmind examples --copy . copies all of them.")
    else:
        (one,) = sets
        about = [f"{one.name}: {one.about}.", f"Source: {one.source}."]
        parts = [*about, *(f"  {file}" for file in one.files)]
    return Outcome(record, parts)
