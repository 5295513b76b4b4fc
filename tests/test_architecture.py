"""The plan of the house, read off the imports: rooms, their order, and no circles.

A room may import the rooms before it. Inside a room, sub-rooms have an order too. An import of
a package counts as an import of the room that it opens: ``from bnmind.pgm import Network`` uses
``pgm``. Imports inside of functions count like all others.
"""

from __future__ import annotations

import ast
import gc
import importlib
import re
from collections.abc import Iterator, Mapping
from functools import cache
from graphlib import TopologicalSorter
from itertools import takewhile
from pathlib import Path

import pytest

HERE = Path(__file__).parent.parent
ROOT = HERE / "bnmind"
FILES = sorted(ROOT.rglob("*.py"))

ORDER = (
    (
        *("errors", "_arguments", "_values", "_display", "information", "_jit"),
        *("_files", "_messages", "_records", "_registry", "_workers"),
        "_front_door",
    ),
    ("datasets", "pgm"),
    ("pgm.formats",),
    ("pgm.files",),
    ("pgm.bridges",),
    ("rank_one",),
    (
        "junction.evidence",
        "junction.graphs",
        "junction.posteriors",
        "junction.program",
        "junction.reduction",
    ),
    (
        "junction.case_tables",
        "junction.causes",
        "junction.contraction",
        "junction.greedy_order",
        "junction.products",
    ),
    (
        "junction.case_files",
        "junction.circuit_kernel",
        "junction.limits",
        "junction.randomized_order",
        "junction.runs",
        "junction.search_bounds",
    ),
    ("junction.compiled_query", "junction.exact_order", "junction.forms", "junction.search_kernel"),
    ("junction.batches", "junction.order_finders"),
    ("junction.assembly", "junction.circuit"),
    ("junction.gradient", "junction.plan"),
    ("junction.slices", "junction.walk"),
    ("junction.sampling", "junction.search"),
    ("junction.engine_planning",),
    ("junction.case_solver",),
    ("junction.case_answers",),
    ("junction.engine",),
    ("views",),
    ("fitting", "sensitivity"),
    ("dynamic",),
    ("questions",),
    ("adaptive.formulas",),
    ("adaptive.skill_models",),
    ("adaptive.models",),
    ("mastermind", "adaptive.items"),
    ("adaptive.belief_tables",),
    ("adaptive.beliefs",),
    ("adaptive.estimates", "adaptive.rules"),
    ("adaptive.scores", "adaptive.response_tables"),
    ("adaptive.responses",),
    ("adaptive.selectors", "adaptive.blueprint"),
    ("adaptive.stopping",),
    ("adaptive.pilot",),
    ("adaptive.classification",),
    ("adaptive.learning",),
    ("adaptive.records",),
    ("adaptive.bank_files",),
    ("adaptive.design",),
    ("adaptive.simulation_results",),
    ("adaptive.sessions",),
    ("adaptive.simulation", "adaptive.calibration"),
    ("adaptive.item_trees",),
    ("adaptive.evaluation",),
    ("adaptive.optimal_tests",),
    ("strategies",),
    ("lab",),
    ("lab.mastermind",),
    ("lab.experiments",),
    ("lab.records",),
    ("lab.stores",),
    ("lab.reproductions",),
    ("cli.shared",),
    ("cli.mastermind",),
    ("web",),
    ("cli",),
    ("__main__",),
    ("testing",),
)
"""Each room may use those of the lines before it and itself; the first line is one room."""

APART = (("mastermind", "adaptive"),)
"""Rooms that never import each other, wherever their sub-rooms stand."""

DOORS = {
    ("bnmind.pgm.network", "bnmind.views.view"),
    ("bnmind.pgm.network", "bnmind.pgm.bridges"),
    ("bnmind.pgm.network", "bnmind.pgm.formats.pgmpy_bridge"),
    ("bnmind.pgm.network", "bnmind.junction.engine"),
    ("bnmind.pgm.network", "bnmind.junction.posteriors"),
    ("bnmind.adaptive.learning.learn", "bnmind.adaptive.learning.item_tests"),
    ("bnmind.adaptive.learning.learn", "bnmind.adaptive.learning.judgment"),
}
"""The ways up, only ever taken inside of a function: a notebook asks a network to draw itself, a
model comes from another library or goes there, it is queried in one call, and a learned bank sums
itself up."""

FRONT_DOOR = ROOT / "__init__.pyi"
"""The names of `import bnmind`, each imported from its room when it is first used."""

FRONTS = {
    "bnmind.pgm.files": "pgm.files",
    "bnmind.pgm.competition": "pgm.files",
    "bnmind.pgm.bridges": "pgm.bridges",
    "bnmind.lab.experiments": "lab.experiments",
    "bnmind.lab.game_experiments": "lab.experiments",
    "bnmind.lab.records": "lab.records",
    "bnmind.lab.stores": "lab.stores",
}
"""Modules that stand outside of the rooms that they are the front of."""

LEVELS = {room: level for level, rooms in enumerate(ORDER) for room in rooms}
MOST_LINES = 900


def module_of(path: Path) -> str:
    """Return the dotted name of a file; a package has that of its folder."""
    parts = path.relative_to(ROOT.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_of(path): path for path in FILES}
PACKAGES = {name for name, path in MODULES.items() if path.name == "__init__.py"}


@cache
def tree_of(module: str) -> ast.Module:
    """Return a module of ours, parsed; once for all checks, until the last of them is done."""
    return ast.parse(MODULES[module].read_text(encoding="utf-8"))


@pytest.fixture(scope="module", autouse=True)
def _trees_are_forgotten_at_the_end() -> Iterator[None]:
    # A million nodes are made; to look among them for garbage takes longer than to parse.
    gc.disable()
    yield
    gc.enable()
    tree_of.cache_clear()
    edges.cache_clear()


def imports(tree: ast.AST, modules: Mapping[str, object] = MODULES) -> Iterator[str]:
    """Yield the dotted names of the modules that a module imports, wherever it does."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "expected absolute imports"
            assert node.module is not None
            for alias in node.names:
                longer = f"{node.module}.{alias.name}"
                yield longer if longer in modules else node.module


def room_of(module: str) -> str | None:
    """Return the room that a module of ours is in, or None if it is none of ours.

    A package is in its own room: the door through which its names are reached. So is a module
    that the order lists.
    """
    parts = module.split(".")
    if parts[0] != "bnmind" or len(parts) == 1:
        return None
    if module in FRONTS:
        return FRONTS[module]
    if ".".join(parts[1:]) in LEVELS:
        return ".".join(parts[1:])
    inside = parts[1:] if module in PACKAGES or len(parts) == 2 else parts[1:-1]
    return ".".join(inside)


def level_of(room: str) -> int:
    """Return how high a room stands; a package without files of its own as high as its highest."""
    below = [level for name, level in LEVELS.items() if f"{name}.".startswith(f"{room}.")]
    return LEVELS.get(room, max(below, default=-1))


def fault(module: str, imported: str) -> str | None:
    """Return what is wrong with one import, or None."""
    own, other = room_of(module), room_of(imported)
    if own is None or other is None or own == other or module in PACKAGES:
        return None
    if (module, imported) in DOORS:
        return None
    tops = {own.split(".")[0], other.split(".")[0]}
    apart = any(tops == set(pair) for pair in APART)
    if apart or level_of(other) > level_of(own) or level_of(other) == level_of(own) > 0:
        return f"{module} imports {imported}"
    return None


@cache
def edges() -> tuple[tuple[str, str], ...]:
    """Return who imports whom among our modules, the doors left out."""
    return tuple(
        (module, imported)
        for module in MODULES
        for imported in imports(tree_of(module))
        if imported in MODULES and imported != module and (module, imported) not in DOORS
    )


def test_every_file_is_in_a_room() -> None:
    rooms = {room for name in MODULES if name not in PACKAGES if (room := room_of(name))}
    assert rooms <= set(LEVELS)
    assert len(FILES) > 100


def test_the_page_lists_all_rooms_in_their_order() -> None:
    text = (HERE / "docs" / "design-principles.md").read_text(encoding="utf-8")
    rows = [line.split("|") for line in text.splitlines() if line.startswith("| `")]
    packages = [name.split(".")[1:] for name in PACKAGES if "._" not in name]
    public = {name for name in ORDER[0] if not name.startswith("_")}
    listed = [room for row in rows for room in re.findall("`(.+?)`", row[1])]
    assert sorted(listed) == sorted({one[0] for one in packages if one} | public)
    assert [level_of(room) for room in listed] == sorted(map(level_of, listed))
    for row in rows:
        room, inside = re.findall("`(.+?)`", row[1])[0], re.findall("`(.+?)`", row[3])
        assert sorted(inside) == sorted({one[1] for one in packages if one[:1] == [room] != one})
        levels = [level_of(f"{room}.{name}") for name in inside]
        assert levels == sorted(levels), room


def test_rooms_use_only_those_before_them() -> None:
    assert [text for edge in edges() if (text := fault(*edge))] == []


def test_no_files_import_each_other_in_a_circle() -> None:
    # A package imports its modules, to offer their names; no module imports its own package.
    graph: dict[str, set[str]] = {}
    for module, imported in edges():
        if module not in PACKAGES:
            graph.setdefault(module, set()).add(imported)
    TopologicalSorter(graph).prepare()  # raises CycleError, which names a circle


def test_the_front_door_opens_on_the_fronts_of_rooms() -> None:
    stub = ast.parse(FRONT_DOOR.read_text(encoding="utf-8"))
    fronts = {name for name in PACKAGES if name.count(".") < 2} | set(FRONTS)
    fronts |= {f"bnmind.{name}" for name in ORDER[0] if not name.startswith("_")}
    assert set(imports(stub)) <= fronts
    # At run time it imports nothing by itself, and nobody comes in through it.
    assert set(imports(tree_of("bnmind"))) == {"bnmind._front_door"}
    assert [edge for edge in edges() if edge[1] == "bnmind"] == []


def test_no_module_imports_the_package_that_it_is_in() -> None:
    found = [f"{a} imports {b}" for a, b in edges() if a.startswith(f"{b}.")]
    assert found == []


@pytest.mark.parametrize(
    ("module", "imported"),
    [
        ("bnmind.pgm.cpd", "bnmind.mastermind.board"),
        ("bnmind.pgm.cpd", "bnmind.pgm.formats.bif"),
        ("bnmind.mastermind.board", "bnmind.adaptive"),
        ("bnmind.mastermind.board", "bnmind.strategies.tree"),
        ("bnmind.adaptive.items.item", "bnmind.mastermind.board"),
        ("bnmind.junction.graphs", "bnmind.junction.plan"),
        ("bnmind.cli.mastermind.play", "bnmind.web"),
        ("bnmind.pgm.factor", "bnmind.views.view"),
    ],
)
def test_the_check_would_notice(module: str, imported: str) -> None:
    assert fault(module, imported)


def test_every_room_says_in_one_line_what_it_is_for() -> None:
    for name in PACKAGES:
        text = ast.get_docstring(tree_of(name))
        assert text, name
        assert text.splitlines()[0].endswith("."), name


def test_files_are_short() -> None:
    lengths = {name: len(path.read_bytes().splitlines()) for name, path in MODULES.items()}
    assert {name: length for name, length in lengths.items() if length > MOST_LINES} == {}


def test_the_library_prints_nothing() -> None:
    printing = [
        f"{name}:{node.lineno}"
        for name in MODULES
        for node in ast.walk(tree_of(name))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "print"
    ]
    assert printing == []


def test_there_is_one_door_to_pgmpy() -> None:
    users = {
        path.name
        for name, path in MODULES.items()
        if any(imported.split(".")[0] == "pgmpy" for imported in imports(tree_of(name)))
    }
    assert users <= {"pgmpy_bridge.py"}


def test_public_names_exist() -> None:
    """``__all__`` of a module names what the module defines or imports, each once."""
    faults = {}
    for module in MODULES:
        defined, listed = names_of(tree_of(module))
        if wrong := {name for name in listed if name not in defined or listed.count(name) > 1}:
            faults[module] = wrong
    assert faults == {}
    assert names_of(ast.parse("__all__ = ['a', 'b']\na = 1")) == ({"__all__", "a"}, ["a", "b"])


def names_of(tree: ast.Module) -> tuple[set[str], list[str]]:
    """Return the names that a module defines or imports, and those of its ``__all__``."""
    defined = set()
    listed: list[str] = []
    body = list(tree.body)
    if any(isinstance(node, ast.FunctionDef) and node.name == "__getattr__" for node in body):
        # Such a module loads its names later, and imports them for type checkers only.
        body += [inner for node in body if isinstance(node, ast.If) for inner in node.body]
    for node in body:
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
    return defined, listed


READ_BY_USERS = sorted(
    path
    for pattern in ("README.md", "docs/*.md", "examples/*.py", "benchmarks/*.py")
    for path in HERE.glob(pattern)
    if path.name != "how-to-add-file-format.md"  # it is for those who write a file of the package
)
"""Texts and programs that users learn from."""

DEEP_PATH = re.compile(r"\bbnmind(?:\.[a-z_]+){3,}")


def test_users_read_no_path_of_three_levels() -> None:
    found = {path.name: DEEP_PATH.findall(path.read_text("utf-8")) for path in READ_BY_USERS}
    assert {name: paths for name, paths in found.items() if paths} == {}
    assert DEEP_PATH.search("bnmind.pgm.formats.bif")


DEEP_IMPORT = re.compile(r"^ *from bnmind(?:\.\w+){3,} import (?:\([^)]*\)|[^(\n]*$)", re.MULTILINE)


def imported_from_too_deep(statement: str) -> list[str]:
    """Return the names that one statement imports from a module, and a front of it exports."""
    (node,) = ast.parse(statement.strip()).body
    assert isinstance(node, ast.ImportFrom)
    assert node.module
    parts = node.module.split(".")
    return [
        f"{node.module}.{alias.name}: import it from {front}"
        for front in (".".join(parts[:2]), ".".join(parts[:3]))
        for alias in node.names
        if alias.name in getattr(importlib.import_module(front), "__all__", ())
    ]


def test_tests_import_public_names_from_their_room() -> None:
    """White-box tests import private names from deep modules; public names have a short path."""
    texts = {path.name: path.read_text("utf-8") for path in sorted((HERE / "tests").rglob("*.py"))}
    found = {
        name: faults
        for name, text in texts.items()
        for statement in DEEP_IMPORT.findall(text)
        if (faults := imported_from_too_deep(statement))
    }
    assert found == {}
    (sample,) = DEEP_IMPORT.findall("a\n    from bnmind.pgm.formats.bif import (\n  write_bif,\n)")
    assert not imported_from_too_deep(sample)
    assert imported_from_too_deep("from bnmind.mastermind.board.x import Board")


MOST_LINES_OF_A_FUNCTION = 80
"""Of code: the docstring does not count."""

MOST_PARAMETERS = 8

MANY_PARAMETERS = {
    ("bnmind.strategies.best_guess", "_scan"),
    ("bnmind.adaptive.responses", "of"),
}
"""Functions of more parameters: a kernel that runs for every set of codes, where each array read
from a tuple costs time; and all that a user may say of a table of responses, by keyword."""


def functions(tree: ast.AST) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    """Yield all functions of a module, inner ones too."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def lines_of_code(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Return the number of lines of a function without its docstring."""
    first = function.body[0]
    docstring = ast.get_docstring(function, clean=False) is not None
    lines = (function.end_lineno or 0) - function.lineno + 1
    return lines - ((first.end_lineno or 0) - first.lineno + 1 if docstring else 0)


def parameters_of(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Return the number of parameters of a function, without self and cls."""
    given = function.args
    names = [one.arg for one in (*given.posonlyargs, *given.args, *given.kwonlyargs)]
    return len(names) - (names[:1] in (["self"], ["cls"]))


def test_functions_are_short() -> None:
    long = {
        f"{name}.{function.name}": lines_of_code(function)
        for name in MODULES
        for function in functions(tree_of(name))
        if lines_of_code(function) > MOST_LINES_OF_A_FUNCTION
    }
    assert not long


def test_functions_take_few_parameters() -> None:
    many = {
        (name, function.name)
        for name in MODULES
        for function in functions(tree_of(name))
        if parameters_of(function) > MOST_PARAMETERS
    }
    assert many == MANY_PARAMETERS


SAMPLE = """
class A:
    def f(self, a, *, b=1):
        '''Return a.

        It ignores b.
        '''
        return a
"""


def test_lines_and_parameters_are_counted() -> None:
    (function,) = functions(ast.parse(SAMPLE))
    assert (lines_of_code(function), parameters_of(function)) == (2, 2)


MOST_BY_POSITION = 3
"""Arguments of a constructor of more than four fields that are given by position."""


def fields_of(node: ast.ClassDef) -> list[str]:
    """Return the fields that a dataclass is made of, none of another class."""
    if not any("dataclass" in ast.unparse(one) for one in node.decorator_list):
        return []
    return [
        one.target.id
        for one in node.body
        if isinstance(one, ast.AnnAssign)
        and isinstance(one.target, ast.Name)
        and "ClassVar" not in ast.unparse(one.annotation)
        and "init=False" not in ast.unparse(one)
    ]


def large_classes(tree: ast.AST) -> set[str]:
    """Return the names of the dataclasses of more than four fields that a module defines."""
    classes = [node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
    return {node.name for node in classes if len(fields_of(node)) > 4}


def large_by_position(tree: ast.AST) -> set[str]:
    """Return the names of the dataclasses that take more than four fields by position."""
    found = set()
    for node in ast.walk(tree):
        if not isinstance(node, ast.ClassDef):
            continue
        before = takewhile(lambda one: "KW_ONLY" not in ast.unparse(one), node.body)
        node.body = [one for one in before if "kw_only=True" not in ast.unparse(one)]
        if not any("kw_only=True" in ast.unparse(one) for one in node.decorator_list):
            found |= large_classes(ast.Module([node], []))
    return found


def called_by_position(tree: ast.AST, large: set[str]) -> list[int]:
    """Return the lines that give many arguments to such a class by position."""
    return [
        node.lineno
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in large
        and len(node.args) > MOST_BY_POSITION
    ]


def test_constructors_of_many_fields_are_called_by_keyword() -> None:
    defined = {name: large_classes(tree_of(name)) for name in MODULES}
    found = {}
    for name, tree in ((name, tree_of(name)) for name in MODULES):
        imported = {
            alias.name
            for node in ast.walk(tree)
            if isinstance(node, ast.ImportFrom)
            for alias in node.names
            if alias.name in defined.get(node.module or "", set())
        }
        if lines := called_by_position(tree, imported | defined[name]):
            found[name] = lines
    assert not found
    assert called_by_position(ast.parse("A(1, 2, 3, 4, 5)"), {"A"}) == [1]


def test_adaptive_constructors_take_few_arguments_by_position() -> None:
    found = {
        name: large
        for name, path in MODULES.items()
        if name.startswith("bnmind.adaptive.")
        and (large := large_by_position(ast.parse(path.read_text("utf-8"))))
    }
    assert not found
    text = "@dataclass\nclass A:\n" + "".join(f"    {name}: int\n" for name in "abcde")
    assert large_by_position(ast.parse(text)) == {"A"}
    assert not large_by_position(ast.parse(text.replace("    c:", "    _: KW_ONLY\n    c:")))
