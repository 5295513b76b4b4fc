"""Models in files: the suffix of the name says the format.

=============  =====================================  ====================
suffix         format                                 holds
=============  =====================================  ====================
.bif           BIF, of bnlearn's repository           Network
.xdsl          GeNIe and SMILE                        Network
.xmlbif, .xml  XMLBIF 0.3                             Network
.net           Hugin                                  Network
.json          ours, see `bnmind.pgm.model_json`      Network, FactorModel
=============  =====================================  ====================

Numbers are written so that they read back exactly, and a file appears whole or
not at all.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

from bnmind.errors import BnmindError, InvalidModelError, ModelFileError
from bnmind.pgm.bif import from_bif, to_bif
from bnmind.pgm.cpd import DEFAULT_CELLS
from bnmind.pgm.network import FactorModel, Network
from bnmind.pgm.network_readers import from_net, from_xdsl, from_xmlbif
from bnmind.pgm.network_writers import to_net, to_xdsl, to_xmlbif
from bnmind.pgm.pgmpy_bridge import check_tables_fit, from_pgmpy

__all__ = [
    "FILE_CELLS",
    "MODEL_SUFFIXES",
    "NETWORK_SUFFIXES",
    "read_model",
    "read_network",
    "write_model",
]

FILE_CELLS = 2**22
"""Cells that a table in a file may have unless the caller says otherwise: text is slow."""


@dataclass(frozen=True)
class _Format:
    """How a format is written and read, and which names its readers mistake."""

    title: str
    write: Callable[[Network], str]
    read: Callable[..., Any]
    state: re.Pattern[str]
    """What the name of a state may be."""
    mistaken: re.Pattern[str] | None = None
    """What the name of a variable must not contain."""
    fold: bool = False
    """Whether names that differ in case only are the same."""


_XMLBIF = _Format("XMLBIF", to_xmlbif, from_xmlbif, re.compile(r"[A-Za-z0-9_]+"))
_FORMATS = {
    ".bif": _Format(
        "BIF",
        to_bif,
        from_bif,
        re.compile(r"[^\s,;|(){}\"/]+"),
        # Met by pgmpy: "table1" is read as the keyword and a number.
        mistaken=re.compile(r"(table|default)[-0-9eE]"),
        fold=True,
    ),
    ".xdsl": _Format("XDSL", to_xdsl, from_xdsl, re.compile(r"\S+")),
    ".xmlbif": _XMLBIF,
    ".xml": _XMLBIF,
    ".net": _Format(
        "NET",
        to_net,
        from_net,
        re.compile(r"[!#$&'*+.0-9:;<=>?@A-Z\[\]^_`a-z|~\-]+"),
        # Met by pgmpy: "(a | node b)" is read as the declaration of a node b.
        mistaken=re.compile(r"node$"),
    ),
}

NETWORK_SUFFIXES = (*_FORMATS, ".json")
"""The suffixes of files that can hold a Bayesian network."""

MODEL_SUFFIXES = (".json",)
"""The suffixes of files that can hold any product of factors."""


def write_model(
    model: Network | FactorModel, path: str | os.PathLike[str], *, max_cells: int = FILE_CELLS
) -> None:
    """Write a model to a file, in the format that its suffix names.

    Parameters
    ----------
    model
        Functions in it are expanded to tables. A `FactorModel`, whose tables need
        not be probabilities, fits in ``.json`` only.
    path
        Replaced if it exists; untouched if anything fails.
    max_cells
        Cells that the largest table may have.

    Raises
    ------
    ModelFileError
        If the suffix is unknown, the format cannot hold the model, or the place
        cannot be written.
    TooLargeError
        If the largest table has more cells; it is named.
    """
    is_network = isinstance(model, Network)
    allowed = NETWORK_SUFFIXES if is_network else MODEL_SUFFIXES
    what = "a network" if is_network else "a product of factors that are not probabilities"
    suffix = _suffix(path, allowed, what)
    check_tables_fit(model.potentials, max_cells=max_cells)
    if isinstance(model, Network) and suffix in _FORMATS:
        _check_names(model, _FORMATS[suffix], path)
        text = _FORMATS[suffix].write(model)
    else:
        from bnmind.pgm.model_json import model_to_json

        text = model_to_json(model, max_cells=max_cells)
    _write_whole(Path(path), text)


def read_network(path: str | os.PathLike[str]) -> Network:
    """Return the Bayesian network in a file.

    Raises
    ------
    ModelFileError
        If the suffix is unknown or that of a format that holds products of
        factors, the file cannot be read, or what is in it is no network in that
        format.
    """
    form = _FORMATS[_suffix(path, tuple(_FORMATS), "a network")]
    text = _read_whole(path)
    try:
        if form.read is from_bif:
            return from_bif(text, max_cells=DEFAULT_CELLS)
        return from_pgmpy(form.read(text))
    except ModelFileError as fault:
        raise ModelFileError(
            f"{fault}, in {path}", str(path), line=fault.line, column=fault.column
        ) from fault
    except InvalidModelError as fault:
        raise ModelFileError(
            f"expected a valid network in {path}, got these faults: {fault}", str(path)
        ) from fault
    except BnmindError:
        raise
    # pgmpy's readers let through whatever happens: AttributeError, ParseException, …
    except Exception as fault:
        reason = " ".join(f"{type(fault).__name__} {fault}".split())[:160]
        raise ModelFileError(
            f"expected a network in {form.title} format in {path}, got text that is not understood"
            f" ({reason})",
            str(path),
        ) from fault


def read_model(path: str | os.PathLike[str]) -> FactorModel:
    """Return the model in a file of any format; that of a network is the product of its tables.

    Raises
    ------
    ModelFileError
        If the suffix is unknown, the file cannot be read, or what is in it is no
        model in that format.
    """
    if _suffix(path, NETWORK_SUFFIXES, "a model") in _FORMATS:
        return FactorModel(read_network(path).potentials)
    from bnmind.pgm.model_json import model_from_json

    text = _read_whole(path)
    try:
        return model_from_json(text)
    except ModelFileError as fault:
        raise ModelFileError(f"{fault}, in {path}", str(path)) from fault


def _suffix(path: str | os.PathLike[str], allowed: tuple[str, ...], what: str) -> str:
    suffix = Path(path).suffix.lower()
    if suffix not in allowed:
        *first, last = allowed
        listed = f"{', '.join(first)} or {last}" if first else last
        raise ModelFileError(
            f"expected a file name ending in {listed} for {what}, got {Path(path).name!r}",
            str(path),
        )
    return suffix


def _check_names(network: Network, form: _Format, path: str | os.PathLike[str]) -> None:
    problems = []
    folded: dict[str, str] = {}
    for variable in network.variables:
        name = variable.name
        problems += [
            f"a state {state!r} of {name}"
            for state in variable.states
            if not (state.isprintable() and form.state.fullmatch(state))
        ]
        if form.mistaken and form.mistaken.search(name):
            problems.append(f"a variable {name}")
        twin = folded.setdefault(name.lower() if form.fold else name, name)
        if twin != name:
            problems.append(f"{twin} beside {name}")
    if problems:
        more = f" and {len(problems) - 5} more" if len(problems) > 5 else ""
        raise ModelFileError(
            f"expected names that the {form.title} format can hold, got"
            f" {', '.join(problems[:5])}{more}",
            str(path),
        )


def _read_whole(path: str | os.PathLike[str]) -> str:
    try:
        text = Path(path).read_text(encoding="utf-8")
    except OSError as fault:
        raise ModelFileError(
            f"expected a file that can be read, got {path} ({fault.strerror or fault})", str(path)
        ) from fault
    except UnicodeDecodeError as fault:
        raise ModelFileError(f"expected UTF-8 text in {path}, got {fault}", str(path)) from fault
    if not text.strip():
        raise ModelFileError(f"expected a model in {path}, got an empty file", str(path))
    return text


def _write_whole(target: Path, text: str) -> None:
    # A draft beside the target, so that putting it in place is one step.
    draft = target.with_name(f".{target.name}.{uuid4().hex}.tmp")
    try:
        try:
            draft.write_text(text, encoding="utf-8", newline="\n")
            os.replace(draft, target)
        finally:
            draft.unlink(missing_ok=True)
    except (OSError, UnicodeEncodeError) as fault:
        reason = getattr(fault, "strerror", None) or fault
        raise ModelFileError(
            f"expected a file that can be written, got {target} ({reason})", str(target)
        ) from fault
