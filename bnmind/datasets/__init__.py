"""Files that come with bnmind: responses, item banks, networks and designs to try it on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from bnmind._arguments import checked
from bnmind._files import write_files
from bnmind._values import Value
from bnmind.errors import InvalidArgumentError, ModelFileError, UnknownNameError

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "EXAMPLES",
    "ExampleSet",
    "copy_examples",
    "example_path",
    "example_set",
    "example_table",
]

_NO_DATA = {".py", ".pyc", ".md"}
"""Programs that write the files, and pages about them; they are in the repository only."""

_LOOSE = "networks"
"""The set of the files that are in no folder."""


def _root() -> Path:
    """Return the folder of all files: that of the installed package, or that of the repository."""
    inside = Path(__file__).parent / "models"
    return inside if inside.is_dir() else Path(__file__).parents[2] / "models"


@dataclass(frozen=True)
class ExampleSet(Value):
    """Files that belong together.

    Examples
    --------
    >>> example_set("designs").files
    ('fractions.toml',)
    """

    name: str
    """The name of the set."""
    about: str
    """The content, in a line."""
    source: str
    """Where the numbers come from."""

    @property
    def folder(self) -> Path:
        """The folder of the files."""
        return _root() if self.name == _LOOSE else _root() / self.name

    @property
    def files(self) -> tuple[str, ...]:
        """The names of the files, in alphabetical order."""
        if not self.folder.is_dir():
            raise ModelFileError(
                f"expected the example files in {self.folder}, and they are not there; install"
                " bnmind again",
                str(self.folder),
            )
        files = (path for path in self.folder.iterdir() if path.is_file())
        return tuple(sorted(path.name for path in files if path.suffix not in _NO_DATA))

    @checked
    def path(self, file: str) -> Path:
        """Return the path of a file.

        Parameters
        ----------
        file
            The name of a file of ``files``.

        Raises
        ------
        UnknownNameError
            If the set has no such file.
        """
        if file not in self.files:
            raise UnknownNameError(f"file of {self.name}", file, self.files)
        return self.folder / file


_MADE_UP = "made up for bnmind"

EXAMPLES: Mapping[str, ExampleSet] = MappingProxyType(
    {
        one.name: one
        for one in (
            ExampleSet(
                "fractions-class",
                "a fractions test of 250 pupils: responses, Q-matrix, wordings, a design",
                "simulated; nobody sat this test",
            ),
            ExampleSet(
                "banks",
                "three item banks",
                "fraction-subtraction.json was learned from the answers of 536 examinees (K. K."
                " Tatsuoka 1984), the others are made up",
            ),
            ExampleSet("designs", "the design of an adaptive test of banks/fractions", _MADE_UP),
            ExampleSet("experiments", "declarations of experiments, for bnmind run", _MADE_UP),
            ExampleSet(
                _LOOSE,
                "Vomlel's network of Mastermind, and rounds of a game",
                "J. Vomlel, Bayesian networks in Mastermind; the noise is made up",
            ),
            ExampleSet(
                "diagnosis",
                "the Asia network, with the marks of GeNIe for diagnosis",
                "S. L. Lauritzen and D. J. Spiegelhalter 1988; the costs are made up",
            ),
            ExampleSet("time", "a network over time, and a file of days", _MADE_UP),
            ExampleSet("competition", "an Ising model in the format of UAI competitions", _MADE_UP),
            ExampleSet(
                "relational-mastermind",
                "games of Mastermind as networks of binary variables",
                "made by models/make_relational.py; not the files of the literature",
            ),
        )
    }
)
"""All sets by their names."""


@checked
def example_set(name: str) -> ExampleSet:
    """Return a set of files by its name.

    Parameters
    ----------
    name
        The name of the set, such as ``fractions-class``.

    Raises
    ------
    UnknownNameError
        If there is no such set.
    """
    if name not in EXAMPLES:
        raise UnknownNameError("set of examples", name, EXAMPLES)
    return EXAMPLES[name]


@checked
def example_path(name: str) -> Path:
    """Return the path of a file that comes with bnmind.

    Parameters
    ----------
    name
        The set and the file, with a slash between: ``banks/fractions.json``.

    Raises
    ------
    UnknownNameError
        If there is no such set or file.
    InvalidArgumentError
        If the name is not that of a set and a file, with a slash between.

    Examples
    --------
    >>> example_path("banks/fractions.json").name
    'fractions.json'
    """
    folder, slash, file = name.partition("/")
    if not slash:
        raise InvalidArgumentError(
            f"expected a set and a file, such as banks/fractions.json, got {name!r}", name
        )
    return example_set(folder).path(file)


@checked
def example_table(name: str) -> pd.DataFrame:
    """Return a CSV file that comes with bnmind, as a data frame.

    Parameters
    ----------
    name
        The set and the file, with a slash between.

    Raises
    ------
    UnknownNameError
        If there is no such set or file.
    InvalidArgumentError
        If the file is not a CSV file.

    Examples
    --------
    >>> example_table("fractions-class/responses.csv").shape
    (250, 23)
    """
    import pandas as pd

    path = example_path(name)
    if path.suffix != ".csv":
        raise InvalidArgumentError(f"expected the name of a CSV file, got {name!r}", name)
    return pd.read_csv(path, encoding="utf-8")


@checked
def copy_examples(directory: Path | str, *, name: str | None = None) -> tuple[Path, ...]:
    """Copy files that come with bnmind, and return the paths of the copies.

    Parameters
    ----------
    directory
        It is made if it does not exist.
    name
        The set whose files are copied into the directory. Without it, all sets are copied to
        folders of ``models`` in the directory, so that the commands of the documentation, such as
        ``bnmind test models/banks/fractions.json``, work there.

    Raises
    ------
    UnknownNameError
        If there is no such set.
    ModelFileError
        If a file cannot be written, or exists with other content. Nothing is written then.
    """
    place = Path(directory)
    contents: dict[Path, str | bytes] = {}
    for one in EXAMPLES.values() if name is None else (example_set(name),):
        into = place
        if name is None:
            into = place / "models" if one.name == _LOOSE else place / "models" / one.name
        contents |= {into / file: one.path(file).read_bytes() for file in one.files}
    for path, content in contents.items():
        if path.exists() and not (path.is_file() and path.read_bytes() == content):
            raise ModelFileError(
                f"{path} exists already, with other content; choose another directory", str(path)
            )
    for folder in sorted({path.parent for path in contents}):
        _make(folder)
    write_files(contents)
    return tuple(contents)


def _make(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as fault:
        reason = fault.strerror or type(fault).__name__
        raise ModelFileError(f"cannot make the directory {folder}: {reason}", str(folder)) from None
