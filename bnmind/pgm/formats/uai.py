"""Model files of the UAI inference competitions, and the words of their other files.

All are words separated by blanks. Comments are lines that start with the word ``c``, and text after
``#``. Variables are identified by their numbers in the model file, from 0, and states by their
numbers. `bnmind.pgm.competition` reads and writes evidence, queries and answers.

Models::

    BAYES            or MARKOV, whose factors need not be probabilities
    2                variables
    2 3              their numbers of states
    2                factors
    1 0              the scope of each; in BAYES the child comes last
    2 0 1
    2  0.4 0.6       the numbers of each, the last variable fastest
    6  0.1 0.2 0.7  0.3 0.3 0.4

Another file beside a model holds the names of variables and states (`bnmind.pgm.formats.records`).
Without that file, the names are x0, x1, … and 0, 1, ….

References
----------
The UAI evaluations and competitions of probabilistic inference of 2008 to 2022, *File formats*.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path

import numpy as np

from bnmind._messages import many
from bnmind.errors import ModelFileError, TooLargeError
from bnmind.information import Floats
from bnmind.pgm.factor import Factor
from bnmind.pgm.formats.declared import (
    MOST_AXES,
    PLAIN_READING,
    REVERSED_PARENTS,
    DeclaredTable,
    DeclaredVariable,
    Faults,
    Numbers,
    Reading,
    ReadNetwork,
    network_of,
    scopes_of,
)
from bnmind.pgm.formats.model_format import (
    ModelSource,
    WholeModel,
    check_tables_fit,
    read_from,
    rows_of,
    written,
)
from bnmind.pgm.formats.source import Place, Source, number_list, shown, text_of
from bnmind.pgm.network import FactorModel, Network
from bnmind.pgm.variable import Variable

_COMMENTS = re.compile(r"^c(?:[ \t].*)?$|#.*", re.MULTILINE)
_TOKEN = re.compile(r"\S++")
_DIGITS = 9


@dataclass(frozen=True)
class Words:
    """The words of a text, and their places."""

    source: Source
    tokens: list[str]

    @classmethod
    def of(cls, text: str) -> Words:
        """Return the words of a text."""
        source = Source.without(_COMMENTS, text)
        return cls(source, source.text.split())

    def place(self, at: int) -> Place:
        """Return the place of a word; the end of the file if there is no such word."""
        words = _TOKEN.finditer(self.source.text)
        word = next(islice(words, at, None), None)
        return self.source.place(word.start() if word else len(self.source.text))

    def first_places(self, count: int) -> list[Place]:
        """Return the places of the first words."""
        words = islice(_TOKEN.finditer(self.source.text), count)
        return [self.source.place(word.start()) for word in words]

    def fault(self, expected: str, at: int) -> ModelFileError:
        """Return an error that names the expected content and the word at an index."""
        is_word = at < len(self.tokens)
        word = shown(self.tokens[at]) if is_word else "the end of the file"
        return self.place(at).fault(f"expected {expected}, got {word}")

    def count(self, at: int, expected: str, *, least: int = 0, below: int = 10**_DIGITS) -> int:
        """Return a word as a whole number."""
        token = self.tokens[at] if at < len(self.tokens) else ""
        if not (token.isascii() and token.isdigit() and len(token) <= _DIGITS):
            raise self.fault(expected, at)
        if not least <= int(token) < below:
            raise self.fault(f"{expected} from {least} to {below - 1}", at)
        return int(token)

    def note(self, faults: Faults, expected: str, at: int) -> None:
        """Add a fault of a word that is a number."""
        faults.add(f"expected {expected}, got '{int(self.tokens[at])}'", partial(self.place, at))

    def expect_end(self, at: int) -> None:
        """Raise an error if there are words left."""
        if at < len(self.tokens):
            raise self.fault("the end of the file", at)


@dataclass(frozen=True, kw_only=True)
class _Preamble:
    """The part of a model file before its numbers."""

    kind: str
    sizes: list[int]
    scopes: list[list[int]]
    scope_starts: list[int]
    """The index of the first word of each scope."""
    end: int
    """The index of the word after the preamble."""


def _preamble(reader: Words) -> _Preamble:
    if reader.tokens[:1] not in (["BAYES"], ["MARKOV"]):
        raise reader.fault("BAYES or MARKOV", 0)
    n = reader.count(1, "a number of variables", least=1)
    # Read word by word: a declared number may be far larger than the number of words.
    sizes = []
    for at in range(2, 2 + n):
        sizes.append(reader.count(at, "a number of states", least=1))
    # A table has at least as many numbers as its variables have states, minus one for each.
    if sum(sizes) > 2 * len(reader.tokens):
        most = max(range(n), key=sizes.__getitem__)
        raise reader.fault("as many numbers in the file as states", 2 + most)
    at = 2 + n
    n_scopes = reader.count(at, "a number of factors", least=1)
    scopes, starts = [], []
    at += 1
    for _ in range(n_scopes):
        length = reader.count(at, "a number of variables in a factor", below=MOST_AXES + 1)
        starts.append(at)
        scope = []
        for place in range(at + 1, at + 1 + length):
            scope.append(reader.count(place, "the number of a variable", below=n))
            if scope.count(scope[-1]) > 1:
                raise reader.fault("different variables in a factor", place)
        scopes.append(scope)
        at += 1 + length
    return _Preamble(kind=reader.tokens[0], sizes=sizes, scopes=scopes, scope_starts=starts, end=at)


def _variables(
    reader: Words, preamble: _Preamble, names: Sequence[Variable] | None
) -> tuple[Variable, ...]:
    if names is None:
        return tuple(
            Variable.of_integers(f"x{i}", range(size)) for i, size in enumerate(preamble.sizes)
        )
    if len(names) != len(preamble.sizes):
        raise reader.fault(f"{len(names)} variables, as many as have names", 1)
    for number, (variable, size) in enumerate(zip(names, preamble.sizes, strict=True)):
        if variable.n_states != size:
            raise reader.fault(
                f"{variable.n_states} states of {variable.name}, as many as have names", 2 + number
            )
    return tuple(names)


def network_from_uai(
    text: str,
    *,
    names: Sequence[Variable] | None = None,
    max_cells: int,
    reading: Reading = PLAIN_READING,
) -> ReadNetwork:
    """Return the network in a UAI text of kind BAYES, and its variables in the order of the text.

    Parameters
    ----------
    text
        The file's.
    names
        The variables in the order of the file, if their names are known.
    max_cells
        Cells that all the tables may have together.
    reading
        How rows that do not sum to one are treated, and whom to tell about the file.

    Raises
    ------
    ModelFileError
        If the text is not of this form, or no valid network, with the place.
    TooLargeError
        If there are more cells; nothing is allocated.
    """
    reader = Words.of(text)
    preamble = _preamble(reader)
    if preamble.kind != "BAYES":
        raise reader.fault("BAYES, for a network", 0)
    variables = _variables(reader, preamble, names)
    if max(map(len, preamble.scopes)) > 2 and _is_of_pyagrum(text, len(preamble.scopes)):
        reading.on_note(REVERSED_PARENTS)
    for scope, start in zip(preamble.scopes, preamble.scope_starts, strict=True):
        if not scope:
            raise reader.fault("the child in a factor", start)
    places = reader.first_places(preamble.end)
    declared = [DeclaredVariable(v.name, v.states, places[2 + i]) for i, v in enumerate(variables)]
    scopes = scopes_of(
        declared,
        [
            DeclaredTable(tuple(variables[i].name for i in (scope[-1], *scope[:-1])), places[start])
            for scope, start in zip(preamble.scopes, preamble.scope_starts, strict=True)
        ],
        max_cells=max_cells,
    )
    tables = []
    at = preamble.end
    for variables in scopes:
        values = _numbers(reader, at, math.prod(v.n_states for v in variables))
        rows = values.reshape(-1, variables[0].n_states)
        tables.append(Numbers(variables, rows, partial(_place_of_number, reader, at + 1)))
        at += 1 + values.size
    reader.expect_end(at)
    return network_of(declared, tables, reading=reading)


def _is_of_pyagrum(text: str, n_scopes: int) -> bool:
    """Return whether each scope is followed by a comment with a name, as pyAgrum writes it."""
    lines = [line for line in text.split("\n") if line.strip()][4 : 4 + n_scopes]
    return len(lines) == n_scopes and all(
        re.fullmatch(r"[0-9 \t]++# \S[^\n]*+", line) for line in lines
    )


def _place_of_number(reader: Words, start: int, number: int) -> Place:
    return reader.place(start + number)


def is_uai_network(text: str) -> bool:
    """Return whether a UAI text is of kind BAYES, a network."""
    return Words.of(text).tokens[:1] == ["BAYES"]


def model_from_uai(
    text: str,
    *,
    names: Sequence[Variable] | None = None,
    max_cells: int,
    reading: Reading = PLAIN_READING,
) -> FactorModel:
    """Return the product of factors in a UAI text of either kind; see `network_from_uai`.

    A variable without a factor gets a factor of ones.
    """
    reader = Words.of(text)
    preamble = _preamble(reader)
    if preamble.kind == "BAYES":
        network = network_from_uai(text, names=names, max_cells=max_cells, reading=reading)
        return network.as_model()
    variables = _variables(reader, preamble, names)
    factors = []
    at = preamble.end
    for scope, start in zip(preamble.scopes, preamble.scope_starts, strict=True):
        shape = tuple(preamble.sizes[i] for i in scope)
        if math.prod(shape) > max_cells:
            raise TooLargeError(
                f"expected tables of at most {max_cells:,} cells, got"
                f" {many(math.prod(shape))} at {reader.place(start)}",
                needed=math.prod(shape),
                budget=max_cells,
            )
        values = _numbers(reader, at, math.prod(shape))
        if np.any(values < 0):
            raise reader.fault("a factor that is not negative", at + 1 + int(np.argmin(values)))
        factors.append(Factor(tuple(variables[i] for i in scope), values.reshape(shape)))
        at += 1 + values.size
    reader.expect_end(at)
    lonely = set(range(len(variables))).difference(*preamble.scopes)
    factors += [Factor((variables[i],), np.ones(preamble.sizes[i])) for i in sorted(lonely)]
    return FactorModel(tuple(factors), variables)


def _numbers(reader: Words, at: int, wanted: int) -> Floats:
    """Return the numbers of a table; the word at an index is their count."""
    expected = f"the count {many(wanted)} of numbers"
    if reader.count(at, expected) != wanted:
        raise reader.fault(expected, at)
    tokens = reader.tokens[at + 1 : at + 1 + wanted]
    values = number_list(tokens)
    if isinstance(values, int):
        raise reader.fault("a number", at + 1 + values)
    if len(tokens) < wanted:
        raise reader.fault(f"{many(wanted)} numbers", len(reader.tokens))
    return values


def variables_from_uai(
    text: str, *, names: Sequence[Variable] | None = None
) -> tuple[Variable, ...]:
    """Return the variables of a UAI text in its order, without reading the tables."""
    reader = Words.of(text)
    return _variables(reader, _preamble(reader), names)


def network_to_uai(network: Network) -> str:
    """Return the network as a UAI text of kind BAYES, with parents before children."""
    tables = [((*cpd.parents, cpd.variable), rows_of(cpd).ravel().tolist()) for cpd in network.cpds]
    return _format("BAYES", network.variables, tables)


def model_to_uai(model: FactorModel) -> str:
    """Return the product as a UAI text of kind MARKOV.

    Raises
    ------
    ModelFileError
        If a factor has negative or complex values, which the format cannot hold.
    """
    tables: list[tuple[Sequence[Variable], list[float]]] = []
    for potential in model.potentials:
        table = potential
        if not isinstance(table, Factor):
            table = table.to_factor(max_cells=table.n_cells)
        values = table.values
        if np.iscomplexobj(values) or np.any(values < 0):
            raise ModelFileError(
                "expected factors without negative or complex values, which the UAI format can"
                f" hold, got one over {', '.join(v.name for v in table.scope)}"
            )
        tables.append((table.scope, np.real(values).ravel().tolist()))
    return _format("MARKOV", model.variables, tables)


def _format(
    kind: str,
    variables: Sequence[Variable],
    tables: Sequence[tuple[Sequence[Variable], list[float]]],
) -> str:
    numbers = {v.name: str(i) for i, v in enumerate(variables)}
    lines = [kind, str(len(variables)), " ".join(str(v.n_states) for v in variables)]
    lines.append(str(len(tables)))
    lines += [" ".join([str(len(scope)), *(numbers[v.name] for v in scope)]) for scope, _ in tables]
    for _, values in tables:
        lines += ["", str(len(values)), written(values)]
    return "\n".join(lines) + "\n"


@dataclass(frozen=True)
class UaiFormat(WholeModel):
    """UAI, the format of the inference competitions, which identifies variables by numbers."""

    about: str = "UAI, with the names in a .uai.json beside it"
    """The format, in a few words."""

    def contents(
        self, model: Network | FactorModel, path: Path, *, max_cells: int
    ) -> dict[Path, str]:
        """Return the content of both files."""
        from bnmind.pgm.formats.records import names_to_json

        check_tables_fit(model.potentials, max_cells=max_cells)
        text = network_to_uai(model) if isinstance(model, Network) else model_to_uai(model)
        # Write the names first: without them, the numbers are a valid but different model.
        return {_names_path(path): names_to_json(model.variables), path: text}

    def read_network(self, source: ModelSource) -> Network:
        """Return the network."""
        names = names_beside(source.path)
        return network_from_uai(
            source.text, names=names, max_cells=source.max_cells, reading=source.reading
        ).network

    def read_model(self, source: ModelSource) -> FactorModel:
        """Return the product of the tables."""
        names = names_beside(source.path)
        return model_from_uai(
            source.text, names=names, max_cells=source.max_cells, reading=source.reading
        )

    def read(self, source: ModelSource) -> Network | FactorModel:
        """Return a network or a product of factors, as the first word of the file says."""
        is_network = is_uai_network(source.text)
        return self.read_network(source) if is_network else self.read_model(source)


def names_beside(path: str | os.PathLike[str]) -> tuple[Variable, ...] | None:
    """Return the names in the file beside a UAI file, or None if there is no such file."""
    beside = _names_path(Path(path))
    if not beside.exists():
        return None
    from bnmind.pgm.formats.records import names_from_json

    return read_from(beside, lambda data: names_from_json(text_of(data)))


def _names_path(path: Path) -> Path:
    return path.with_name(f"{path.name.removesuffix('.gz')}.json")
