"""The networks that the pages know: some that come with the libraries, and files of visitors."""

from __future__ import annotations

import gzip
import hashlib
import importlib.util
import secrets
import threading
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import Field, model_validator

from bnmind.errors import InvalidArgumentError, ModelFileError, TooLargeError
from bnmind.web.base.form import Form

if TYPE_CHECKING:
    from bnmind.junction import Engine
    from bnmind.pgm import Network

__all__ = ["SHIPPED", "SUFFIXES", "Model", "Models", "Opened"]

SHIPPED: Mapping[str, str] = {
    "asia": "Asia: chest clinic (Lauritzen and Spiegelhalter, 1988)",
    "cancer": "Cancer: smoking and X-ray (Korb and Nicholson, 2010)",
    "earthquake": "Earthquake: an alarm and two neighbors (Korb and Nicholson, 2010)",
    "survey": "Survey: who travels how (Scutari and Denis, 2014)",
    "sachs": "Sachs: signals in a cell (Sachs et al., 2005)",
    "child": "Child: birth asphyxia (Spiegelhalter, 1992)",
    "alarm": "Alarm: monitoring of patients (Beinlich et al., 1989)",
    "mastermind-1": "Mastermind 3×4, Vomlel's stage 1: code, guess and reply",
    "mastermind-2": "Mastermind 3×4, Vomlel's stage 2: after the guess 1 2 3",
}
"""The networks that need no file: those of pgmpy's package, and Vomlel's."""

SUFFIXES = (".bif", ".xmlbif", ".bifxml", ".xdsl", ".net", ".json", ".uai")
"""The formats that the page names; see `bnmind.pgm.files.MODEL_FORMATS`."""

_MASTERMIND = "mastermind-"
_MOST_CELLS = 2**20
_MOST_VARIABLES = 500
_MULTIPLICATIONS = 2**31
_BYTES = 2**28
_REMEMBERED = 12


class Model(Form):
    """A network: one by name, or the text of a file."""

    name: str | None = Field(
        None, max_length=40, description=f"One of {', '.join(SHIPPED)}.", examples=["asia"]
    )
    file: str | None = Field(
        None, max_length=200, description="The name of a file; its suffix tells the format."
    )
    text: str | None = Field(None, description="The text of the file.")

    @model_validator(mode="after")
    def _one(self) -> Model:
        if (self.name is None) == (self.file is None or self.text is None):
            raise ValueError("give the name of a network, or a file and its text")
        return self


@dataclass(frozen=True)
class Opened:
    """A network that is ready to be asked."""

    title: str
    network: Network
    engine: Engine
    lock: threading.Lock = field(default_factory=threading.Lock)
    """Whoever asks the engine holds it."""


class Models:
    """The networks that were asked about last."""

    def __init__(self) -> None:
        self._all: OrderedDict[str, Opened] = OrderedDict()
        self._lock = threading.Lock()

    def opened(self, model: Model) -> Opened:
        """Return a network that is ready to be asked.

        Raises
        ------
        InvalidArgumentError
            If no network has the name.
        ModelFileError
            If the text is no network in the format of the suffix.
        TooLargeError
            If the network is too large for a page.
        """
        content = f"{model.name}\0{model.file}\0{model.text}"
        key = hashlib.sha256(content.encode()).hexdigest()
        with self._lock:
            if key in self._all:
                self._all.move_to_end(key)
                return self._all[key]
        new = _opened(model)
        with self._lock:
            self._all[key] = new
            while len(self._all) > _REMEMBERED:
                self._all.popitem(last=False)
        return new


def _opened(model: Model) -> Opened:
    from bnmind.junction import Limits, compile_model

    if model.name is not None:
        if model.name not in SHIPPED:
            raise InvalidArgumentError(
                f"expected the name of a network, one of {', '.join(SHIPPED)}", model.name
            )
        title, network = SHIPPED[model.name], _shipped(model.name)
    else:
        title, network = Path(model.file or "").name, _read(model.file or "", model.text or "")
    if len(network.variables) > _MOST_VARIABLES:
        raise TooLargeError(
            f"this page shows networks of at most {_MOST_VARIABLES} variables, not"
            f" {len(network.variables):,}; bnmind query answers about larger ones",
            needed=len(network.variables),
            budget=_MOST_VARIABLES,
        )
    limits = Limits(max_bytes=_BYTES, max_multiplications=_MULTIPLICATIONS)
    return Opened(title, network, compile_model(network, memory=2**25, limits=limits))


def _shipped(name: str) -> Network:
    if name.startswith(_MASTERMIND):
        from bnmind.mastermind import Board, stage
        from bnmind.pgm import Network

        model = stage(Board(3, 4), int(name.removeprefix(_MASTERMIND))).model
        assert isinstance(model, Network)
        return model
    found = importlib.util.find_spec("pgmpy")
    folders = [] if found is None else found.submodule_search_locations or []
    for folder in folders:
        path = Path(folder, "utils", "example_models", f"{name}.bif.gz")
        if path.is_file():
            return _read(f"{name}.bif", gzip.decompress(path.read_bytes()).decode())
    raise InvalidArgumentError(f"the installed version of pgmpy has no network {name}", name)


def _read(name: str, text: str) -> Network:
    """Read a network from a text; nothing is read from a file, whatever the name is."""
    from bnmind.pgm.files import MODEL_FORMATS
    from bnmind.pgm.formats.declared import Reading
    from bnmind.pgm.formats.model_format import ModelSource

    suffix = Path(name).suffix.lower()
    if suffix not in MODEL_FORMATS:
        raise ModelFileError(
            f"expected a file name ending in {', '.join(MODEL_FORMATS)}, got {name!r}", name
        )
    # Some formats look for a second file beside the first: there is no such folder.
    nowhere = Path(f"/{secrets.token_hex(16)}", f"network{suffix}")
    source = ModelSource(nowhere, text.encode(), _MOST_CELLS, Reading(normalize=True))
    return MODEL_FORMATS[suffix].read_network(source)
