"""Files of partial sums, from which an interrupted run of a sliced plan goes on.

The file is JSON, with all digits of the sums, and with a digest of the question::

    {"schema": "bnmind-slices", "version": 1, "question": "…", "done": 12, "possible": 9,
     "log_scale": -31.2, "total": 3.4, "joints": [[0.3, 3.1], …]}
"""

from __future__ import annotations

import hashlib
import json
import math
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from bnmind._bounded_files import parse_json, read_text
from bnmind._text_files import write_file
from bnmind.errors import ModelFileError, StoreError
from bnmind.junction.slicing.slice_sums import SliceSums
from bnmind.pgm.factor import Factor
from bnmind.pgm.network import Potential
from bnmind.pgm.tabular import TabularCPD
from bnmind.pgm.variable import Variable

__all__ = ["question_digest", "read_sums", "write_sums"]

_SCHEMA, _VERSION = "bnmind-slices", 1
_KEYS = {"schema", "version", "question", "done", "possible", "log_scale", "total", "joints"}

_MOST_BYTES = 2**30
"""The largest file that is read."""

_SMALL_TABLE = 2**16
"""The most cells of a function that count one by one in a digest."""


def question_digest(potentials: Sequence[Potential], question: Mapping[str, Any]) -> str:
    """Return a digest of a model and of a question about it.

    Parameters
    ----------
    potentials
        The tables of the model.
    question
        The question, as a value with an exact text.
    """
    digest = hashlib.sha256(repr(sorted(question.items())).encode())
    for potential in potentials:
        scope = [(v.name, v.states) for v in potential.scope]
        digest.update(repr((type(potential).__name__, scope)).encode())
        cells = math.prod([v.n_states for v in potential.scope])
        if isinstance(potential, Factor | TabularCPD):
            digest.update(np.ascontiguousarray(potential.values).tobytes())
        elif cells <= _SMALL_TABLE:
            digest.update(np.ascontiguousarray(potential.to_factor().values).tobytes())
    return digest.hexdigest()


def write_sums(path: str | os.PathLike[str], sums: SliceSums, question: str) -> None:
    """Write partial sums; ``question`` is the digest of the question.

    Raises
    ------
    FileWriteError
        If the file cannot be written; an existing file is unchanged.
    """
    content = {
        "schema": _SCHEMA,
        "version": _VERSION,
        "question": question,
        "done": sums.done,
        "possible": sums.possible,
        "log_scale": None if math.isinf(sums.log_scale) else sums.log_scale,
        "total": sums.total,
        "joints": [joint.ravel().tolist() for joint in sums.joints],
    }
    write_file(path, json.dumps(content) + "\n")


def read_sums(
    path: str | os.PathLike[str], targets: Sequence[Sequence[Variable]], question: str
) -> SliceSums | None:
    """Return the partial sums in a file; None if there is no file.

    Raises
    ------
    StoreError
        If the file is damaged, or belongs to another question.
    """
    name = os.fspath(path)
    if not Path(name).exists():
        return None
    try:
        content = parse_json(read_text(name, most=_MOST_BYTES))
    except ModelFileError as error:
        raise StoreError(
            f"expected the partial sums of a sliced plan in {name}: {error}", name
        ) from (error)
    is_ours = isinstance(content, dict) and content.keys() == _KEYS
    if not is_ours or (content["schema"], content["version"]) != (_SCHEMA, _VERSION):
        raise StoreError(
            f"expected the partial sums of a sliced plan in {name}, got another file", name
        )
    if content["question"] != question:
        raise StoreError(
            f"{name} holds the partial sums of another question, model or choice of slices; name"
            " another file, or remove this one",
            name,
        )
    try:
        sums = _sums(content, targets)
    except (TypeError, ValueError, OverflowError) as error:
        raise StoreError(f"the partial sums in {name} are damaged", name) from error
    return sums


def _sums(content: Mapping[str, Any], targets: Sequence[Sequence[Variable]]) -> SliceSums:
    """Return the sums of a file; raise `ValueError` or `TypeError` if they are damaged."""
    shapes = [tuple([v.n_states for v in scope]) for scope in targets]
    joints = [
        np.array(numbers, dtype=np.float64).reshape(shape)
        for numbers, shape in zip(content["joints"], shapes, strict=True)
    ]
    scale, total = content["log_scale"], float(content["total"])
    counts = [content["done"], content["possible"]]
    if any(type(count) is not int or count < 0 for count in counts) or not total >= 0:
        raise ValueError(counts)
    if any(not np.all((joint >= 0) & np.isfinite(joint)) for joint in joints):
        raise ValueError(joints)
    return SliceSums(
        done=counts[0],
        possible=counts[1],
        log_scale=-math.inf if scale is None else float(scale),
        total=total,
        joints=tuple(joints),
    )
