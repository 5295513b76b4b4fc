"""Files of partial sums, from which an interrupted run of a sliced plan goes on.

The file is JSON, with all digits of the sums, a digest of the question, and a digest of the rest::

    {"schema": "bnmind-slices", "version": 2, "question": "…", "done": 12, "possible": 9,
     "log_scale": -31.2, "total": 3.4, "joints": [[0.3, 3.1], …], "content": "…"}
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

from bnmind._files import parse_document, read_text, write_file
from bnmind._messages import many
from bnmind.errors import ModelFileError, TooLargeError
from bnmind.junction.plan_files.fingerprint import fingerprint, has_code
from bnmind.junction.slicing.slice_sums import SliceSums
from bnmind.pgm.factor import Factor
from bnmind.pgm.network import Potential
from bnmind.pgm.variable import Variable

__all__ = ["question_digest", "read_sums", "refuse_unknown_code", "write_sums"]

_SCHEMA, _VERSION = "bnmind-slices", 2
_SUMS = ("done", "possible", "log_scale", "total", "joints")
_KEYS = {"schema", "version", "question", *_SUMS, "content"}

_MOST_BYTES = 2**30
"""The largest file that is read."""

_TOLERANCE = 1e-6
"""The largest relative difference between the sum of a joint distribution and the total."""


_SMALL_TABLE = 2**20
"""The most cells of the table of a function of your own that counts in a digest."""


def question_digest(potentials: Sequence[Potential], question: Mapping[str, Any]) -> str:
    """Return a digest of a model and of a question about it.

    A function of code outside of this package counts with its table, because other code may have
    the same name. If the table is large, only the name counts; `refuse_unknown_code` refuses it.

    Parameters
    ----------
    potentials
        The tables of the model.
    question
        The question, as a value with an exact text.
    """
    model = fingerprint(
        p if isinstance(p, Factor) or _cells(p) > _SMALL_TABLE or not has_code(p) else p.to_factor()
        for p in potentials
    )
    return hashlib.sha256(repr((model, sorted(question.items()))).encode()).hexdigest()


def refuse_unknown_code(potentials: Sequence[Potential]) -> None:
    """Raise `TooLargeError` if only the name of a function counts in the digest of a model."""
    for potential in potentials:
        cells = _cells(potential)
        if cells > _SMALL_TABLE and has_code(potential):
            raise TooLargeError(
                f"the function of {potential.scope[0].name} is your own, with {many(cells)} cells,"
                f" and a file cannot tell it from others of its name with more than"
                f" {_SMALL_TABLE:,}; run the plan without a file",
                needed=cells,
                budget=_SMALL_TABLE,
            )


def _cells(potential: Potential) -> int:
    return math.prod([v.n_states for v in potential.scope])


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
    write_file(path, json.dumps({**content, "content": _content_digest(content)}) + "\n")


def _content_digest(content: Mapping[str, Any]) -> str:
    """Return a digest of the sums; the text of a number in JSON has all its digits."""
    text = json.dumps([content[key] for key in _SUMS])
    return hashlib.sha256(text.encode()).hexdigest()


def read_sums(
    path: str | os.PathLike[str],
    targets: Sequence[Sequence[Variable]],
    question: str,
    n_slices: int,
) -> SliceSums | None:
    """Return the partial sums in a file; None if there is no file.

    Parameters
    ----------
    path
        The file.
    targets
        The variables of each target.
    question
        The digest of the question.
    n_slices
        The number of all slices.

    Raises
    ------
    ModelFileError
        If the file is damaged, or belongs to another question.
    """
    name = os.fspath(path)
    if not Path(name).exists():
        return None
    try:
        content = parse_document(read_text(name, most=_MOST_BYTES), _SCHEMA, _VERSION)
        if content.keys() != _KEYS:
            raise ModelFileError("got other keys")
    except ModelFileError as error:
        raise ModelFileError(
            f"expected the partial sums of a sliced plan in {name}: {error}", name
        ) from error
    if content["question"] != question:
        raise ModelFileError(
            f"{name} holds the partial sums of another question, model or choice of slices; name"
            " another file, or remove this one",
            name,
        )
    try:
        if content["content"] != _content_digest(content):
            raise ValueError(content["content"])
        sums = _sums(content, targets, n_slices)
    except (TypeError, ValueError, OverflowError) as error:
        raise ModelFileError(f"the partial sums in {name} are damaged", name) from error
    return sums


def _sums(
    content: Mapping[str, Any], targets: Sequence[Sequence[Variable]], n_slices: int
) -> SliceSums:
    """Return the sums of a file; raise `ValueError` or `TypeError` if they are damaged."""
    shapes = [tuple([v.n_states for v in scope]) for scope in targets]
    joints = [
        np.array(numbers, dtype=np.float64).reshape(shape)
        for numbers, shape in zip(content["joints"], shapes, strict=True)
    ]
    done, possible = content["done"], content["possible"]
    if type(done) is not int or type(possible) is not int or not 0 <= possible <= done <= n_slices:
        raise ValueError((done, possible))
    total = float(content["total"])
    log_scale = -math.inf if content["log_scale"] is None else float(content["log_scale"])
    # The largest slice counts as one, and no other slice counts as more.
    within = 1 - _TOLERANCE <= total <= possible * (1 + _TOLERANCE) if possible else total == 0
    if not within or math.isfinite(log_scale) != (possible > 0):
        raise ValueError((total, log_scale))
    for joint in joints:
        if not np.all((joint >= 0) & np.isfinite(joint)):
            raise ValueError(joint)
        if not math.isclose(joint.sum(), total, rel_tol=_TOLERANCE):
            raise ValueError(joint)
    return SliceSums(
        done=done, possible=possible, log_scale=log_scale, total=total, joints=tuple(joints)
    )
