"""Names of a package that are imported when they are first used (PEP 562).

The stub ``bnmind/__init__.pyi`` is the only list of these names. Type checkers and editors read
it, and so does this module: ``from bnmind.pgm import Network as Network`` in the stub means that
``bnmind.Network`` is found in `bnmind.pgm`.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["find", "homes", "installed_version"]

_PACKAGE = "bnmind"


@cache
def homes() -> Mapping[str, str]:
    """Return the module of each public name, as given by the stub.

    A room comes from the package itself: ``from bnmind import pgm as pgm``.
    """
    import ast
    from importlib.resources import files

    text = files(_PACKAGE).joinpath("__init__.pyi").read_text(encoding="utf-8")
    modules: dict[str, str] = {}
    for node in ast.parse(text).body:
        if isinstance(node, ast.ImportFrom):
            modules |= {alias.name: str(node.module) for alias in node.names}
    return modules


def find(name: str) -> Any:
    """Return the object of a public name; its module is imported.

    Raises
    ------
    AttributeError
        If the package has no such name.
    """
    if name == "__version__":
        return installed_version()
    if name == "__all__":
        return sorted(name for name, home in homes().items() if home != _PACKAGE)
    if not name.startswith("_") and name in homes():
        home = homes()[name]
        if home == _PACKAGE:
            return import_module(f"{_PACKAGE}.{name}")
        return getattr(import_module(home), name)
    # Python looks for close names among those of the package, and suggests them.
    raise AttributeError(
        f"module {_PACKAGE!r} has no attribute {name!r}", name=name, obj=import_module(_PACKAGE)
    )


def installed_version() -> str:
    """Return the version of the installed package; ``(not installed)`` if there is none."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(_PACKAGE)
    except PackageNotFoundError:
        return "(not installed)"
