"""Certificates as JSON files.

A set of variables is a hexadecimal number; its lowest bit stands for the first of ``variables``::

    {"schema": "bnmind-certificate", "version": 1, "bound": 32, "variables": ["a", "b", "c", "d"],
     "atoms": [{"vertices": "f", "claims": [{"after": "0", "bound": 32}]}]}

A claim by a choice has the field ``choice``, one by a separator the field ``separator``, and one
with minors the field ``minors``, a list of the subsets of each.
"""

from __future__ import annotations

import json
import os
from typing import Any

from bnmind._arguments import checked
from bnmind._files import parse_document, read_text, write_file
from bnmind._messages import shown
from bnmind.errors import ModelFileError
from bnmind.junction.certificates.certificate import Certificate
from bnmind.junction.certificates.checker import Atom, Claim

__all__ = [
    "certificate_from_json",
    "certificate_to_json",
    "read_certificate",
    "write_certificate",
]

_SCHEMA, _VERSION = "bnmind-certificate", 1
_MOST_BYTES = 2**28


@checked
def certificate_to_json(certificate: Certificate) -> str:
    """Return a certificate as text, a claim on each line.

    Parameters
    ----------
    certificate
        The certificate.
    """
    atoms = [
        f' {{"vertices": "{atom.vertices:x}", "claims": [\n  '
        + ",\n  ".join(json.dumps(_claim_record(claim)) for claim in atom.claims)
        + "\n ]}"
        for atom in certificate.atoms
    ]
    head = {
        "schema": _SCHEMA,
        "version": _VERSION,
        "bound": certificate.bound,
        "variables": list(certificate.variables),
    }
    text = json.dumps(head, ensure_ascii=False)
    return f'{text[:-1]}, "atoms": [\n' + ",\n".join(atoms) + "\n]}\n"


@checked
def certificate_from_json(text: str) -> Certificate:
    """Return the certificate in a text; it is not checked against any graph.

    Parameters
    ----------
    text
        The text, as `certificate_to_json` returns it.

    Raises
    ------
    ModelFileError
        If the text is not a certificate.
    """
    content = parse_document(text, _SCHEMA, _VERSION)
    try:
        return Certificate(
            variables=tuple(_typed(str, name) for name in content["variables"]),
            atoms=tuple(
                Atom(_set(atom["vertices"]), tuple(map(_claim, atom["claims"])))
                for atom in content["atoms"]
            ),
            bound=_typed(int, content["bound"]),
        )
    except KeyError as fault:
        raise ModelFileError(f"expected a certificate, found no field {fault}") from fault
    except (TypeError, ValueError, AttributeError, OverflowError) as fault:
        raise ModelFileError(f"expected a certificate: {fault}") from fault


@checked
def write_certificate(certificate: Certificate, path: str | os.PathLike[str]) -> None:
    """Write a certificate to a JSON file.

    Parameters
    ----------
    certificate
        The certificate.
    path
        The file.

    Raises
    ------
    FileWriteError
        If the file cannot be written. An existing file is then unchanged.
    """
    write_file(path, certificate_to_json(certificate))


@checked
def read_certificate(path: str | os.PathLike[str]) -> Certificate:
    """Return the certificate in a JSON file; it is not checked against any graph.

    Parameters
    ----------
    path
        The file.

    Raises
    ------
    ModelFileError
        If the file cannot be read or is not a certificate.
    """
    try:
        return certificate_from_json(read_text(path, most=_MOST_BYTES))
    except ModelFileError as fault:
        raise ModelFileError(f"{path}: {fault}", str(path)) from fault


def _claim_record(claim: Claim) -> dict[str, Any]:
    record: dict[str, Any] = {"after": f"{claim.eliminated:x}", "bound": claim.bound}
    if claim.choice:
        record["choice"] = f"{claim.choice:x}"
    if claim.minors:
        record["minors"] = [[f"{subset:x}" for subset in subsets] for subsets in claim.minors]
    if claim.separator:
        record["separator"] = f"{claim.separator:x}"
    return record


def _claim(record: Any) -> Claim:
    return Claim(
        _set(record["after"]),
        _typed(int, record["bound"]),
        _set(record.get("choice", "0")),
        tuple(tuple(map(_set, subsets)) for subsets in record.get("minors", [])),
        _set(record.get("separator", "0")),
    )


def _set(text: Any) -> int:
    mask = int(_typed(str, text), 16)
    if mask < 0:
        raise ValueError(f"a set must not be negative, got {shown(text)}")
    return mask


def _typed(kind: type[Any], value: Any) -> Any:
    if type(value) is not kind:
        raise ValueError(f"expected {kind.__name__}, got {value!r:.80}")
    return value
