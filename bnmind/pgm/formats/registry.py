"""The registry of formats of model files, by the suffix of the file name.

A new format is a file in this folder and a line here. The contract tests run over every member.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from bnmind.pgm.formats.bif import BIF
from bnmind.pgm.formats.dne import DNE
from bnmind.pgm.formats.json_files import JsonFormat
from bnmind.pgm.formats.model_format import ModelFormat
from bnmind.pgm.formats.net import NET
from bnmind.pgm.formats.uai.files import UaiFormat
from bnmind.pgm.formats.xdsl import XDSL
from bnmind.pgm.formats.xmlbif import XMLBIF

__all__ = ["MODEL_FORMATS"]

MODEL_FORMATS: Mapping[str, ModelFormat] = MappingProxyType(
    {
        ".bif": BIF,
        ".xdsl": XDSL,
        ".xmlbif": XMLBIF,
        ".xml": XMLBIF,
        ".bifxml": XMLBIF,
        ".net": NET,
        ".dne": DNE,
        ".uai": UaiFormat(),
        ".json": JsonFormat(),
    }
)
"""The format of each suffix."""
