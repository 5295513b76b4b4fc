"""The plan of the house, read off the imports: a layer uses only the layers before it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent / "bnmind"
FILES = sorted(ROOT.rglob("*.py"))
MODULES = [".".join(path.relative_to(ROOT.parent).with_suffix("").parts) for path in FILES]

LAYERS = (
    (
        *("errors", "_argument_kinds", "_arguments", "_values", "information", "_jit"),
        *("_jit_cache", "_kernel_source", "_messages", "_workers"),
        *("_bounded_files", "_text_files", "_temporary_files", "_file_locks"),
    ),
    ("pgm",),
    ("rank_one",),
    ("junction",),
    ("views",),
    ("mastermind", "adaptive"),
    ("strategies",),
    ("lab",),
    ("cli", "web"),
    ("__main__",),
)
"""Each may use those before it, and only itself among those beside it, but for the first."""

DOORS = {("bnmind.pgm.network", "bnmind.views.view")}
"""The one way up: a notebook asks a network to draw itself, and only then is a view loaded."""

LEVELS = {name: level for level, names in enumerate(LAYERS) for name in names}
MOST_LINES = 500


def imports(tree: ast.AST) -> Iterator[str]:
    """Yield the dotted names that a module imports, wherever it does."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "expected absolute imports"
            module = node.module or ""
            yield module
            # "from bnmind import lab" imports a layer too.
            yield from (f"{module}.{alias.name}" for alias in node.names if module == "bnmind")


def layer(name: str) -> str | None:
    """Return the layer of a dotted name, or None if it is none of ours."""
    parts = name.split(".")
    return parts[1] if parts[0] == "bnmind" and len(parts) > 1 else None


def check(module: str, imported: str) -> str | None:
    """Return what is wrong with one import, or None."""
    own, other = layer(module), layer(imported)
    if own is None or other is None or own == other or own == "__init__":
        return None
    if (module, imported) in DOORS:
        return None
    if LEVELS[other] > LEVELS[own] or (LEVELS[other] == LEVELS[own] > 0):
        return f"{module} imports {imported}"
    return None


def test_every_file_is_in_a_layer() -> None:
    places = {layer(module) for module in MODULES}
    assert places - {"__init__"} <= set(LEVELS)
    assert len(FILES) > 20


def test_layers_use_only_those_before_them() -> None:
    faults = [
        fault
        for path, module in zip(FILES, MODULES, strict=True)
        for name in imports(ast.parse(path.read_text()))
        if (fault := check(module, name))
    ]
    assert faults == []


@pytest.mark.parametrize(
    ("module", "imported"),
    [
        ("bnmind.pgm.cpd", "bnmind.mastermind.board"),
        ("bnmind.mastermind.board", "bnmind.adaptive"),
        ("bnmind.adaptive.items", "bnmind.mastermind"),
        ("bnmind.information", "bnmind.pgm"),
        ("bnmind.cli.mastermind.play", "bnmind.web"),
        ("bnmind.pgm.factor", "bnmind.views.view"),
    ],
)
def test_the_check_would_notice(module: str, imported: str) -> None:
    assert check(module, imported)


@pytest.mark.parametrize("path", FILES, ids=MODULES)
def test_a_file(path: Path) -> None:
    """Short, silent, and with one door to pgmpy."""
    text = path.read_text()
    assert len(text.splitlines()) <= MOST_LINES
    tree = ast.parse(text)
    calls = [node.func for node in ast.walk(tree) if isinstance(node, ast.Call)]
    assert not any(isinstance(call, ast.Name) and call.id == "print" for call in calls)
    if path.name != "pgmpy_bridge.py":
        assert not [name for name in imports(tree) if name.split(".")[0] == "pgmpy"]


@pytest.mark.parametrize("path", FILES, ids=MODULES)
def test_public_names_exist(path: Path) -> None:
    """``__all__`` of a module names what the module defines or imports, each once."""
    tree = ast.parse(path.read_text())
    defined = set()
    listed: list[str] = []
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            defined.add(node.name)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            defined |= {alias.asname or alias.name for alias in node.names}
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            defined.add(node.target.id)
        elif isinstance(node, ast.Assign):
            names = {target.id for target in node.targets if isinstance(target, ast.Name)}
            defined |= names
            if "__all__" in names:
                listed = ast.literal_eval(node.value)
    assert len(set(listed)) == len(listed)
    assert set(listed) <= defined
