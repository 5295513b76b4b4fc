"""Certificates of lower bounds of the total size of junction trees, and their checker."""

from bnmind.junction.certificates.certificate import Certificate
from bnmind.junction.certificates.certificate_files import (
    certificate_from_json,
    certificate_to_json,
    read_certificate,
    write_certificate,
)
from bnmind.junction.certificates.checker import Atom, Claim
from bnmind.junction.certificates.prove import prove_bound

__all__ = [
    "Atom",
    "Certificate",
    "Claim",
    "certificate_from_json",
    "certificate_to_json",
    "prove_bound",
    "read_certificate",
    "write_certificate",
]
