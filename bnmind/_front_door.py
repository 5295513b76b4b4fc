"""Names of packages that are imported when they are first used (PEP 562).

The stub of such a package, as ``bnmind/__init__.pyi``, is the only list of its names. Type checkers
and editors read it, and so does this module: ``from bnmind.pgm import Network as Network`` in the
stub means that ``bnmind.Network`` is found in `bnmind.pgm`.
"""

from __future__ import annotations

import sys
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_TOP = "bnmind"


@cache
def homes(package: str) -> Mapping[str, str]:
    """Return the module of each public name of a package, as given by its stub.

    A room comes from the package itself: ``from bnmind import pgm as pgm``.
    """
    import ast
    from pkgutil import get_data

    text = (get_data(package, "__init__.pyi") or b"").decode("utf-8")
    modules: dict[str, str] = {}
    for node in ast.parse(text).body:
        if isinstance(node, ast.ImportFrom):
            modules |= {alias.name: str(node.module) for alias in node.names}
    return modules


def find(package: str, name: str) -> Any:
    """Return the object of a public name of a package; its module is imported.

    Raises
    ------
    AttributeError
        If the package has no such name.
    """
    if name == "__version__" and package == _TOP:
        return installed_version()
    if name == "__all__":
        return sorted(name for name, home in homes(package).items() if home != package)
    if not name.startswith("_") and name in homes(package):
        home = homes(package)[name]
        if home == package:
            return import_module(f"{package}.{name}")
        return getattr(import_module(home), name)
    # Python looks for close names among those of the package, and suggests them.
    raise AttributeError(
        f"module {package!r} has no attribute {name!r}", name=name, obj=import_module(package)
    )


def door(package: str) -> tuple[Callable[[str], object], Callable[[], list[str]]]:
    """Return the functions ``__getattr__`` and ``__dir__`` of a package with a stub."""
    known = vars(sys.modules[package])

    def get(name: str) -> object:
        value = known[name] = find(package, name)
        return value

    def names() -> list[str]:
        return sorted({*homes(package), "__all__", *known})

    return get, names


def installed_version() -> str:
    """Return the version of the installed package; ``(not installed)`` if there is none."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(_TOP)
    except PackageNotFoundError:
        return "(not installed)"
