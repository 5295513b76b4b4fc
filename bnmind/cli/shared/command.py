"""A command of the terminal, declared in one place: as a function.

The positional parameters of the function are the arguments of the command, the keyword-only ones
its options. Annotations say what an option holds and, by marks such as `OneOf`, how it is read.
The docstring is the help: its first part describes the command, the section Parameters each option,
and the section Examples shows command lines. A parameter that is a dataclass named ``…Options``
stands for its fields, with their own section Parameters. A command that returns a `Result` has the
option ``--json``, and the result is printed.
"""

from __future__ import annotations

import builtins
import copy
import dataclasses
import functools
import importlib
import inspect
import math
import re
import sys
import types
import typing
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import AbstractContextManager, ExitStack
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, TypeAlias, TypeVar

import typer
from typer.core import TyperArgument, TyperCommand
from typer.models import ParameterInfo

from bnmind._display import Result, Strong, Table, parts_of
from bnmind._files import check_writable, check_writable_directory, is_stream
from bnmind._messages import counted, one_line
from bnmind._registry import Registered, listed_names, made_by_name, usage
from bnmind.cli.shared import terminal
from bnmind.errors import BnmindError, InvalidArgumentError, ModelFileError

T = TypeVar("T")

DEFAULT_RESULTS = Path("results")
"""Where a command writes its results if nobody says where."""


def imported(place: str) -> Any:
    """Return what ``module:name`` names, imported only now.

    Examples
    --------
    >>> imported("bnmind._messages:counted")(2, "option")
    '2 options'
    """
    module, _, name = place.partition(":")
    return getattr(importlib.import_module(module), name)


# --- Marks: how the text of an option is read -----------------------------------------------------


@dataclass(frozen=True)
class Reader:
    """A mark of a parameter whose value is read before the command runs."""

    def read(self, value: Any, given: Mapping[str, Any]) -> Any:
        """Return the value that the command gets; ``given`` has those of all options."""
        return value


@dataclass(frozen=True)
class OneOf(Reader):
    """A mark: names of a registry, which help lists and a shell completes."""

    place: str
    """The registry as ``module:name``, or a function that returns it; imported if needed."""
    title: str = ""
    """The head of the list in the help; without it, there is no list."""
    kind: str = ""
    """What a member is, for messages. Then the command gets the member; otherwise its name."""

    def members(self) -> Mapping[str, Any]:
        """Return the registry; a member may be a text about it."""
        found = imported(self.place)
        return typing.cast(Mapping[str, Any], found() if callable(found) else found)

    def lines(self) -> list[tuple[str, str]]:
        """Return how each member is written, and what it is."""
        return [
            (usage(name, one) if isinstance(one, Registered) else name, getattr(one, "about", one))
            for name, one in self.members().items()
        ]

    def complete(self, incomplete: str) -> list[tuple[str, str]]:
        """Return the words with a beginning; a name that needs an argument gets a colon."""
        words = [(re.split(r"\[|(?<=:)", written)[0], about) for written, about in self.lines()]
        return [(word, about) for word, about in words if word.startswith(incomplete)]

    def read(self, value: Any, given: Mapping[str, Any]) -> Any:
        """Return the member that a text names."""
        return made_by_name(self.kind, self.members(), value) if self.kind else value


@dataclass(frozen=True)
class Place(Reader):
    """A mark: a file for a result, where one can be written."""

    what: str = "result"
    """Its content, in a word, for messages."""
    suffixes: str | tuple[str, ...] = ()
    """The endings of its name; ``module:name`` of them, or of a function that returns them; without
    any, all names are good."""

    def read(self, value: Path, given: Mapping[str, Any]) -> Path:
        """Return the file; see `check_place`."""
        suffixes = imported(self.suffixes) if isinstance(self.suffixes, str) else self.suffixes
        check_place(value, tuple(suffixes() if callable(suffixes) else suffixes), self.what)
        return value


@dataclass(frozen=True)
class _Listed(Reader):
    """A mark: names between commas, in any number of options."""

    def read(self, value: Sequence[str], given: Mapping[str, Any]) -> list[str]:
        return [name for text in value for name in listed_names(text, ",") if name]


@dataclass(frozen=True)
class _ModelReader(Reader):
    """A mark: the file of a model; such a command has options that say how it is read."""

    drops: bool = True
    """Whether ``--drop-decisions`` is one of them."""

    def read(self, value: Path, given: Mapping[str, Any]) -> _ModelFile:
        names = ("normalize", "drop_decisions") if self.drops else ("normalize",)
        return _ModelFile(value, {name: given[name] for name in names})


@dataclass(frozen=True)
class _ModelFile:
    """The file of a model, and the options ``--normalize`` and ``--drop-decisions``."""

    path: Path
    options: Mapping[str, bool]

    def read(self, reader: Callable[..., T]) -> T:
        """Return the model; errors name the options that they advise, a note their effect.

        Parameters
        ----------
        reader
            A reader of `bnmind.pgm.files`, or `bnmind.dynamic.read_dynamic`.
        """
        tables: list[Any] = []
        read = functools.partial(reader, self.path, on_normalized=tables.append, **self.options)
        try:
            model = terminal.working(
                f"reading {terminal.printable(self.path.name)}", lambda _: read()
            )
        except ModelFileError as fault:
            said = str(fault)
            for name in ("normalize", "drop_decisions"):
                said = said.replace(f"{name}=True", f"--{name.replace('_', '-')}")
            raise ModelFileError(said, fault.value, line=fault.line, column=fault.column) from fault
        if self.options["normalize"] and tables:
            first = max(tables, key=lambda t: math.inf if math.isnan(t.total) else abs(t.total - 1))
            more = f"; and {counted(len(tables) - 1, 'table')} closer to one" if tables[1:] else ""
            terminal.say(f"note: normalized {one_line(str(first))}{more}")
        return model


@dataclass(frozen=True)
class _Workers(Reader):
    """A mark: a number of processes, or the cluster of the option ``--cluster``."""

    def read(self, value: int | None, given: Mapping[str, Any]) -> int | Executor:
        """Return the number, or the cluster, which is left when the command ends.

        Raises
        ------
        BnmindError
            If both are given, a number or an address is invalid, or Dask is not installed.
        """
        from bnmind._workers import Cluster, faults_of_workers

        if given["cluster"] is None:
            if faults := faults_of_workers(1 if value is None else value):
                raise InvalidArgumentError(faults[0], value)
            return 1 if value is None else value
        if value is not None:
            raise BnmindError("expected either --workers or --cluster, got both")
        return until_end(Cluster(given["cluster"]))


# --- Kinds of options -----------------------------------------------------------------------------

Count: TypeAlias = Annotated[int, typer.Option(min=1)]
Share: TypeAlias = Annotated[float, "P"]
Names: TypeAlias = Annotated[Sequence[str], _Listed()]
Seed: TypeAlias = Annotated[int | None, typer.Option(min=0, help="Make random choices repeatable.")]
Json: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--json", help="Print JSON, with numbers in full precision and entropies in bits."
    ),
]
Workers: TypeAlias = Annotated[
    int | Executor,
    _Workers(),
    typer.Option(help="Number of processes; -1: one for each core. [default: 1]"),
]
ResultsDirectory: TypeAlias = Annotated[
    Path | None,
    "DIR",
    typer.Option("--out", help=f"The directory for the results. [default: {DEFAULT_RESULTS}]"),
]
_Cluster: TypeAlias = Annotated[
    str | None,
    "ADDRESS",
    typer.Option(
        help="A Dask cluster instead of --workers: tcp://HOST:PORT, or local:N to start one."
    ),
]
_Normalize: TypeAlias = Annotated[
    bool,
    typer.Option(help="Normalize probabilities whose sum differs from 1 by rounding only."),
]
_DropDecisions: TypeAlias = Annotated[
    bool,
    typer.Option(
        help="Read an influence diagram without its decision and utility nodes. A decision on"
        " which chance nodes depend becomes a variable with a uniform distribution.",
    ),
]
ModelFile: TypeAlias = Annotated[
    _ModelFile, _ModelReader(), typer.Argument(help="The file that holds the model.")
]
DynamicFile: TypeAlias = Annotated[_ModelFile, _ModelReader(drops=False)]
CasesFile: TypeAlias = Annotated[
    Path, typer.Argument(help="A .csv, .csv.gz, .tsv, .xlsx or .parquet file.")
]
FORMATS = OneOf("bnmind.pgm.files:MODEL_FORMATS", "Formats of networks")
_NOTES_SHOWN = 10
_METAVARS = {int: "N", float: "X", Path: "FILE", str: "NAME"}


# --- From a function to a command -----------------------------------------------------------------


@dataclass(frozen=True)
class _Option:
    """A parameter of a function, or a field of its dataclass of options."""

    parameter: inspect.Parameter
    kind: Any
    """Its type, without marks."""
    marks: tuple[Any, ...]
    about: str

    @property
    def reader(self) -> Reader | None:
        return next((mark for mark in self.marks if isinstance(mark, Reader)), None)

    @property
    def lists(self) -> list[OneOf]:
        """The registries that its text may name members of."""
        return [mark for mark in self.marks if isinstance(mark, OneOf)]

    def _complete(self, incomplete: str) -> list[tuple[str, str]]:
        return [word for one in self.lists for word in one.complete(incomplete)]

    def typed(self) -> inspect.Parameter:
        """Return the parameter as typer reads it."""
        p, reader = self.parameter, self.reader
        many = typing.get_origin(self.kind) is list
        kind = typing.get_args(self.kind)[0] if many else self.kind
        if isinstance(reader, _ModelReader):
            kind = Path
        elif isinstance(reader, _Workers):
            kind = int
        elif kind not in (*_METAVARS, bool):
            kind = str
        is_argument = p.kind is not p.KEYWORD_ONLY
        infos = [copy.copy(one) for one in self.marks if isinstance(one, ParameterInfo)]
        info = infos[0] if infos else typer.Argument() if is_argument else typer.Option()
        info.help = self.about or info.help
        if "[default" in (info.help or ""):
            info.show_default = False
        if not is_argument and not isinstance(info.default, str):  # where typer keeps the name
            info.param_decls = (f"--{p.name.replace('_', '-')}",)
        word = next((mark for mark in self.marks if isinstance(mark, str)), None)
        usual = p.name.upper() if is_argument else "A,B" if many else _METAVARS.get(kind)
        info.metavar = info.metavar or word or usual
        if self.lists:
            info.autocompletion = self._complete
        default = None if many and not p.default else p.default
        wanted: Any = list[kind] if many else kind  # type: ignore[valid-type]
        if default is None or (isinstance(reader, _Workers)):
            default, wanted = None, wanted | None
        return p.replace(kind=p.KEYWORD_ONLY, default=default, annotation=Annotated[wanted, info])


class _Names(dict[str, Any]):
    """The names of a module; those that it imports for type checkers alone mean anything."""

    def __missing__(self, name: str) -> Any:
        return Any


def _evaluated(annotation: Any, module: str) -> Any:
    """Return what an annotation of a module of commands says."""
    return eval(annotation, {}, _Names(vars(builtins) | vars(sys.modules[module])))


def _unwrapped(hint: Any) -> tuple[Any, tuple[Any, ...]]:
    """Return a type without ``None``, and its marks, the outer ones first."""
    marks: list[Any] = []
    while True:
        if typing.get_origin(hint) is Annotated:
            hint, *more = typing.get_args(hint)
            marks += more
        elif typing.get_origin(hint) in (typing.Union, types.UnionType):
            hint = next(one for one in typing.get_args(hint) if one is not type(None))
        elif typing.get_origin(hint) in (list, Sequence):
            inner, others = _unwrapped(typing.get_args(hint)[0])
            return list[inner], (*marks, *others)  # type: ignore[valid-type]
        else:
            return hint, tuple(marks)


def _section(doc: str, title: str) -> str:
    """Return a section of a numpydoc docstring; the part before all sections has no title."""
    titles = r"\n\n(?=[A-Z]\w+\n-+\n)"
    parts: list[str] = re.split(titles, f"\n\n{inspect.cleandoc(doc)}")
    if not title:
        return parts[0].strip()
    found = (part.split("\n", 2)[2] for part in parts if part.startswith(f"{title}\n--"))
    return next(found, "")


def _about(doc: str) -> dict[str, str]:
    """Return what a docstring says about each parameter."""
    parts = re.split(r"^(\w+)\n", _section(doc, "Parameters"), flags=re.MULTILINE)
    return {
        name: " ".join(text.split()) for name, text in zip(parts[1::2], parts[2::2], strict=True)
    }


def _options(function: Callable[..., Any]) -> Iterator[_Option]:
    """Yield the parameters of a function; those of a dataclass instead of it."""
    about = _about(function.__doc__ or "")
    for p in inspect.signature(function).parameters.values():
        kind, marks = _unwrapped(_evaluated(p.annotation, function.__module__))
        if not getattr(kind, "__name__", "").endswith("Options"):
            yield _Option(p, kind, marks, about.get(p.name, ""))
            continue
        about_fields: dict[str, str] = {}
        for one in reversed(kind.__mro__):
            about_fields |= _about(one.__doc__ or "")
        for field in dataclasses.fields(kind):
            missing = field.default is dataclasses.MISSING
            home = next(one for one in kind.__mro__ if field.name in inspect.get_annotations(one))
            found = _unwrapped(_evaluated(field.type, home.__module__))
            way = p.KEYWORD_ONLY if field.kw_only else p.POSITIONAL_OR_KEYWORD
            default = p.empty if missing else field.default
            parameter = inspect.Parameter(field.name, way, default=default)
            yield _Option(parameter, *found, about_fields.get(field.name, ""))


def _further(name: str, hint: Any, default: Any = None) -> _Option:
    way = inspect.Parameter.KEYWORD_ONLY
    return _Option(inspect.Parameter(name, way, default=default), *_unwrapped(hint), "")


def _with_further(options: Sequence[_Option], *, returns: bool) -> list[_Option]:
    """Return options together with those that they or the result bring with them."""
    found: list[_Option] = []
    for option in options:
        found.append(option)
        if isinstance(option.reader, _Workers):
            found.append(_further("cluster", _Cluster))
    models = [one.reader for one in options if isinstance(one.reader, _ModelReader)]
    if models:
        found.append(_further("normalize", _Normalize, False))
        if models[0].drops:
            found.append(_further("drop_decisions", _DropDecisions, False))
    has_json = returns or any(one.parameter.name == "as_json" for one in found)
    last = [_further("as_json", Json, False)] if has_json else []
    return [one for one in found if one.parameter.name != "as_json"] + last


_resources: ContextVar[ExitStack] = ContextVar("resources")


def until_end(resource: AbstractContextManager[T]) -> T:
    """Return what a context yields, and leave the context when the command ends."""
    return _resources.get().enter_context(resource)


def exit_interrupted(message: str = "", *, later: bool = False) -> None:
    """Let the command end as after Ctrl-C once its results are shown; say so now, or then."""

    def end(fault: type[BaseException] | None, *_: object) -> None:
        if fault is None:
            if later:
                terminal.say(message)
            raise typer.Exit(terminal.INTERRUPTED)

    if message and not later:
        terminal.say(message)
    _resources.get().push(end)


def made(function: Callable[..., Any], name: str, *, short: str, group: str) -> TyperCommand:
    """Return the command of a function.

    Parameters
    ----------
    function
        The function.
    name
        The name of the command.
    short
        The line about it in the list of all commands.
    group
        The title above it there.
    """
    returns = inspect.signature(function).return_annotation != "None"
    own = list(_options(function))
    options = _with_further(own, returns=returns)
    lists = list(dict.fromkeys(x for option in options for x in option.lists if x.title))
    if any(isinstance(one.reader, _ModelReader) and one.reader.drops for one in options):
        lists.insert(0, FORMATS)

    def run(**given: Any) -> None:
        with ExitStack() as stack:
            token = _resources.set(stack)
            try:
                result = function(**_arguments(function, own, given))
                if returns:
                    _show(result, as_json=given["as_json"])
            finally:
                _resources.reset(token)

    class WithLists(TyperCommand):
        """A command whose help lists the members of registries."""

        def format_options(self, ctx: Any, formatter: Any) -> None:
            """Write the options, then a section for each registry."""
            super().format_options(ctx, formatter)
            for one in lists:
                with formatter.section(one.title):
                    formatter.write_dl(one.lines())

    parameters = [one.typed() for one in options]
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {p.name: p.annotation for p in parameters}
    app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)
    doc = function.__doc__ or ""
    help_text = _section(doc, "")
    if examples := _section(doc, "Examples"):
        help_text += "\n\n\b\nExamples:\n" + "\n".join(f"  {x}" for x in examples.splitlines())
    app.command(name, cls=WithLists, help=help_text, short_help=short, rich_help_panel=group)(run)
    found = typing.cast(TyperCommand, typer.main.get_command(app))
    for parameter in found.params:
        if isinstance(parameter, TyperArgument):
            _name_plainly(parameter)
    return found


def _name_plainly(argument: Any) -> None:
    """Let help name an argument alone: new versions of typer add braces, and types of Python.

    The usage has ``BANK``, ``[NAME]`` if it may be left out, and ``TESTS...`` for several.
    """
    name = argument.metavar or argument.name.upper()
    argument.metavar = name if argument.required else f"[{name}]"
    usage = argument.metavar if argument.nargs == 1 else f"{argument.metavar}..."
    argument.get_usage_pieces = lambda context: [usage]
    argument.display_type_rich = lambda ctx: None


@dataclass(frozen=True)
class Outcome(Result):
    """What a command shows: a result, and what the command alone knows, such as its files."""

    record: Mapping[str, Any]
    parts: Iterable[str | Table]
    notes: Sequence[str] = ()

    @classmethod
    def of(cls, found: Result, *parts: str | Table, **record: Any) -> Outcome:
        """Return a result with further lines and with further entries of its record."""
        return cls(found.to_dict() | record, (*parts_of(found), *parts), found.notes)

    def to_dict(self) -> dict[str, Any]:
        """Return the record."""
        return dict(self.record)

    def _shown(self) -> Iterator[str | Table]:
        yield from self.parts


def _show(result: Result, *, as_json: bool) -> None:
    """Print a result, and what to know about it on the error stream."""
    if as_json:
        terminal.tell_record(result.to_dict())
    else:
        show_parts(parts_of(result))
        for note in result.notes[:_NOTES_SHOWN]:
            terminal.say(f"note: {one_line(note)}")
        if (more := len(result.notes) - _NOTES_SHOWN) > 0:
            terminal.say(f"note: and {more} more; --json lists all")


def show_parts(parts: Iterable[str | Table]) -> None:
    """Print lines and tables of a result."""
    for part in parts:
        if isinstance(part, str):
            terminal.show(part, strong=isinstance(part, Strong))
            continue
        table = terminal.plain_table(*part.heads)
        for place in part.left:
            table.columns[place].justify = "left"
        for number, row in enumerate(part.rows):
            table.add_row(*row, style="bold" if number in part.bold else None)
        terminal.show_table(terminal.new_console(), table)


def _arguments(
    function: Callable[..., Any], options: Sequence[_Option], given: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the arguments of a function, read from the values of options."""
    values: dict[str, Any] = {}
    for option in options:
        p, value = option.parameter, given[option.parameter.name]
        if isinstance(option.reader, _Workers) or (option.reader is not None and value is not None):
            value = option.reader.read(value, given)
        values[p.name] = p.default if value is None and p.default is not p.empty else value
    arguments = {}
    for name, p in inspect.signature(function).parameters.items():
        if name in values:
            arguments[name] = values[name]
        else:
            kind = _evaluated(p.annotation, function.__module__)
            names = [field.name for field in dataclasses.fields(kind)]
            arguments[name] = kind(**{name: values[name] for name in names})
    return arguments


def given_options(options: Any, *without: str) -> list[str]:
    """Return the options that differ from their defaults, as they are typed.

    >>> given_options(dataclasses.make_dataclass("_", [("as_json", bool, False)])(True))
    ['--json']
    """
    names = [
        field.name
        for field in dataclasses.fields(options)
        if field.name not in without and getattr(options, field.name) != field.default
    ]
    return [f"--{name.removeprefix('as_').replace('_', '-')}" for name in names]


# --- Files for results ----------------------------------------------------------------------------


def check_place(path: Path, suffixes: Sequence[str], what: str) -> None:
    """Raise before long work if its result could not be written.

    Parameters
    ----------
    path
        The file.
    suffixes
        The endings of its name, each of which stands for a format; any, if there are none.
    what
        Its content, in a word, for the message.

    Raises
    ------
    ModelFileError
        If the name has another ending, or the file cannot be written.
    """
    if suffixes and path.suffix.lower() not in suffixes:
        raise ModelFileError(
            f"expected a file name ending in {', '.join(suffixes)} for the {what}, got"
            f" {path.name!r}",
            str(path),
        )
    check_writable(path)


def is_saved(path: Path) -> bool:
    """Return whether a dialogue was saved in a file, which is read and then written.

    Raises
    ------
    ModelFileError
        If it is a pipe or a device: nobody could read what is written, or it would wait forever.
    """
    if is_stream(str(path)):
        raise ModelFileError(
            f"{path} is a pipe or a device; expected the name of a file, which is read again to go"
            " on",
            str(path),
        )
    return path.exists()


def results_place(out: Path | None) -> tuple[Path, tuple[str, ...]]:
    """Return the directory for the results, checked before long work; and a line if it is new.

    Parameters
    ----------
    out
        The directory that was named, if any.

    Raises
    ------
    BnmindError
        If it is a file.
    ModelFileError
        If nothing can be written there.
    """
    directory = out or DEFAULT_RESULTS
    is_new = out is None and not directory.exists()
    check_directory(directory)
    line = f"The directory {directory} is new; --out names another one."
    return directory, (line,) * is_new


def check_directory(directory: Path) -> None:
    """Raise before long work if results could not be written into a directory."""
    if directory.exists() and not directory.is_dir():
        raise BnmindError(f"expected a directory for --out, got the file {directory}")
    check_writable_directory(directory)
