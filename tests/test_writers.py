"""Every file that bnmind writes goes through one writer, and no fault harms an old file."""

from __future__ import annotations

import ast
import re
import resource
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from bnmind.adaptive import ItemBank, RandomItem, Responses, Session, simulate, write_bank
from bnmind.errors import ModelFileError
from bnmind.lab import compare, save_comparison, save_simulation
from bnmind.lab.mastermind import SavedGame, content_of, write_game
from bnmind.mastermind import Board, Channel, Reply, Turn
from bnmind.pgm.files import write_model
from bnmind.strategies import Knuth, WeightedEntropy, strategy_tree, write_tree, write_weights
from tests.command_line import run
from tests.test_architecture import MODULES

BANK = ItemBank.from_qmatrix([[1, 0], [0, 1], [1, 1]], guess=0.2, slip=0.1)
BOARD = Board(2, 2)
SMALL = ("--pegs", "2", "--colors", "2")
FEW = ("--evaluations", "2")

WRITERS = ("bnmind._files",)
"""The modules that may write files; all others leave it to them."""

EXCEPTIONS = {
    ("bnmind.lab.result_files", "savefig"),
    ("bnmind.lab.reproductions.page", "open"),
    ("bnmind.web.tests", "mkdtemp"),
    ("bnmind.web.tests", "rmtree"),
    ("bnmind.cli.warm_up", "TemporaryDirectory"),
    ("bnmind.cli.warm_up", "copy"),
    ("bnmind.testing.networks", "TemporaryDirectory"),
    ("bnmind.testing.networks", "write_text"),
    ("bnmind.testing.response_models", "TemporaryDirectory"),
}
"""Where a figure is saved into memory or opened there; the folder of the database of the
demonstration, which goes with the server; and the temporary folders of examples and of contract
tests."""

ANYWHERE = {
    *("write_text", "write_bytes", "touch", "symlink_to", "hardlink_to", "NamedTemporaryFile"),
    *("TemporaryDirectory", "TemporaryFile", "mkstemp", "mkdtemp", "fdopen", "savefig", "tofile"),
    *("savetxt", "savez", "savez_compressed", "imsave", "to_excel", "to_parquet", "to_pickle"),
    *("to_feather", "to_hdf"),
}
"""Functions and methods that write files, or make them."""

OF_MODULES = {
    "os": {"open", "replace", "rename", "renames", "link", "symlink", "mkfifo", "truncate"},
    "shutil": {"copy", "copy2", "copyfile", "copyfileobj", "copytree", "move", "rmtree"},
    "np": {"save"},
    "numpy": {"save"},
    "json": {"dump"},
    "pickle": {"dump"},
    "joblib": {"dump"},
}
"""The same of modules, by names that methods of texts and graphs have too."""


def writing(call: ast.Call) -> str | None:
    """Return the name of the function that a call writes a file with, or None."""
    function = call.func
    owner = None
    if isinstance(function, ast.Attribute):
        name = function.attr
        owner = function.value.id if isinstance(function.value, ast.Name) else "?"
    elif isinstance(function, ast.Name):
        name = function.id
    else:
        return None
    keywords = {keyword.arg: keyword.value for keyword in call.keywords}
    if name == "open" and call.args and ast.unparse(call.args[0]) == "os.devnull":
        return None  # nothing is written there
    if name in ANYWHERE or name in OF_MODULES.get(owner or "", ()):
        return name
    if name in ("to_csv", "to_markdown") and (call.args or keywords.keys() & {"path_or_buf"}):
        return name  # without a place they return text
    if name == "open":
        # The mode is the first argument of a path's method, and the second of a function.
        number = 1 if owner in (None, "io", "gzip", "bz2", "lzma") else 0
        mode = keywords.get("mode", call.args[number] if len(call.args) > number else None)
        text = mode.value if isinstance(mode, ast.Constant) else "w"  # unknown: it may write
        if mode is not None and set("wax+") & set(str(text)):
            return name
    return None


@pytest.mark.parametrize(
    "text",
    [
        'open(path, "w")',
        "open(path, mode='ab')",
        "open(path, mode)",
        'path.open("r+b")',
        'gzip.open(path, "wt")',
        "os.open(path, flags)",
        "os.replace(draft, path)",
        "Path(path).write_text(text)",
        "path.write_bytes(data)",
        "figure.savefig(path)",
        "frame.to_csv(path, index=False)",
        "frame.to_csv(path_or_buf=path)",
        "json.dump(record, file)",
        "shutil.copy2(a, b)",
        "tempfile.mkstemp()",
        "np.save(path, array)",
    ],
)
def test_the_check_would_notice(text: str) -> None:
    assert writing(call_in(text))


def call_in(text: str) -> ast.Call:
    (node,) = ast.parse(text).body
    assert isinstance(node, ast.Expr)
    assert isinstance(node.value, ast.Call)
    return node.value


@pytest.mark.parametrize(
    "text",
    [
        'open(path, "rb")',
        "open(path)",
        "gzip.open(file)",
        "os.open(os.devnull, os.O_RDWR)",
        'text.replace("a", "b")',
        "a.copy()",
    ],
)
def test_the_check_lets_readers_pass(text: str) -> None:
    assert writing(call_in(text)) is None


CALLED = ANYWHERE.union({"open", "to_csv", "to_markdown"}, *OF_MODULES.values())
NAMES = re.compile(rf"\b(?:{'|'.join(CALLED)})\(")
"""Only files in which one of these names is called are parsed."""


def test_only_the_writer_writes() -> None:
    texts = {name: path.read_text("utf-8") for name, path in MODULES.items()}
    found = {
        (module, name, call.lineno)
        for module, text in texts.items()
        if module not in WRITERS and NAMES.search(text)
        for call in ast.walk(ast.parse(text))
        if isinstance(call, ast.Call) and (name := writing(call))
    }
    assert {fault for fault in found if fault[:2] not in EXCEPTIONS} == set()
    assert {fault[:2] for fault in found} == EXCEPTIONS


def _network(place: Path) -> None:
    write_model(BANK.network, place)


def _bank(place: Path) -> None:
    write_bank(BANK, place)


def _session(place: Path) -> None:
    Session.start(BANK).answer("item_1", 1).save(place)


def _game(place: Path) -> None:
    board = Board(2, 3)
    before = content_of(place)
    turns = (Turn((1, 2), Reply(0, 1)),)
    write_game(place, SavedGame(board=board, noise="exact", turns=turns), before=before)


def _tree(place: Path) -> None:
    write_tree(strategy_tree(Knuth(), Board(2, 2)), place)


def _weights(place: Path) -> None:
    write_weights(WeightedEntropy(BOARD, ((1,) * len(BOARD.true_replies),)), place)


def _comparison(place: Path) -> None:
    save_comparison(compare([Knuth()], Channel.exact(Board(2, 2)), games=2), place)


def _simulation(place: Path) -> None:
    people = Responses.drawn(BANK, 5, seed=1)
    save_simulation(simulate(BANK, people, {"random": RandomItem()}), place)


def _command(*arguments: str) -> Callable[[Path], None]:
    """Return a writer that runs a command; ``PLACE`` stands for what it is to write."""

    def run_it(place: Path) -> None:
        words = [argument.replace("PLACE", str(place)) for argument in arguments]
        result = run(*words, answers="1122\n0b1w\nq\n" if words[0] == "assist" else "1\nq\n")
        if result.exit_code:
            assert result.exit_code == 2
            assert result.stderr.startswith("error: ")
            assert result.stderr.count("\n") == 1
            raise ModelFileError(result.stderr)

    return run_it


WRITERS_OF_FILES: dict[str, tuple[Callable[[Path], None], str, int]] = {
    "network .bif": (_network, "a.bif", 1),
    "network .xdsl": (_network, "a.xdsl", 1),
    "network .xmlbif": (_network, "a.xmlbif", 1),
    "network .net": (_network, "a.net", 1),
    "network .uai": (_network, "a.uai", 2),
    "network .json": (_network, "a.json", 1),
    "bank .json": (_bank, "a.json", 1),
    "bank .bif": (_bank, "a.bif", 2),
    "bank .uai": (_bank, "a.uai", 3),
    "session": (_session, "a.json", 1),
    "game": (_game, "a.json", 1),
    "tree .json": (_tree, "a.json", 1),
    "tree .txt": (_tree, "a.txt", 1),
    "tree .dot": (_tree, "a.dot", 1),
    "weights": (_weights, "a.json", 1),
    "comparison": (_comparison, "", 2),
    "simulation": (_simulation, "", 17),
    "strategy": (_command("strategy", "knuth", *SMALL, "--tree", "PLACE"), "a.json", 1),
    "strategy .svg": (_command("strategy", "knuth", *SMALL, "--tree", "PLACE"), "a.svg", 1),
    "fit-weights": (_command("fit-weights", *SMALL, *FEW, "--out", "PLACE"), "a.json", 1),
    "fit-value": (_command("fit-value", *SMALL, "--games", "9", "--out", "PLACE"), "a.json", 1),
    "query": (_command("query", "bank.bif", "--svg", "PLACE"), "a.svg", 1),
    "answer to a task": (
        _command("query", "bank.bif", "--task", "MAR", "--out", "PLACE"),
        "a.MAR.gz",
        1,
    ),
    "fit": (
        _command("fit", "bank.bif", "r.csv", "--hidden", "skill_1,skill_2", "--out", "PLACE"),
        "a.bif",
        1,
    ),
    "predict": (_command("predict", "bank.bif", "r.csv", "--out", "PLACE"), "a.csv", 1),
    "learn": (
        _command("learn", "r.csv", "--bank", "bank.json", "--out", "PLACE"),
        "a.bif",
        2,
    ),
    "test": (_command("test", "bank.json", "--session", "PLACE"), "a.json", 1),
    "assist": (_command("assist", "--new", "--save", "PLACE"), "a.json", 1),
    "compare": (_command("compare", "knuth", *SMALL, "--games", "2", "--out", "PLACE"), "", 2),
    "simulate": (
        _command("simulate", "bank.json", "--examinees", "5", "--out", "PLACE"),
        "",
        17,
    ),
}
"""What writes, the name of what it writes (empty for a directory), and how many files."""


@contextmanager
def full_disk() -> Iterator[None]:
    """Let no file become longer than a few bytes, as on a disk that is full."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (8, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.parametrize("name", WRITERS_OF_FILES)
def test_a_full_disk_harms_no_file(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write, file, n_files = WRITERS_OF_FILES[name]
    inputs, out = tmp_path / "inputs", tmp_path / "out"
    inputs.mkdir()
    out.mkdir()
    monkeypatch.chdir(inputs)
    for module in ("mastermind.compare", "simulations"):  # to draw them takes seconds
        monkeypatch.setattr(f"bnmind.lab.{module}.png", lambda figure: b"a picture")
    write_bank(BANK, "bank.json")
    write_bank(BANK, "bank.bif")
    items = ",".join(BANK.item_names)
    Path("r.csv").write_text(f"{items}\n1,0,1\n0,1,0\n1,1,1\n0,0,0\n")
    write(out / file)
    files = sorted(out.iterdir())
    assert len(files) == n_files
    if name == "test":  # a session that exists is resumed: there must be none
        files[0].unlink()
    else:
        for path in files:
            path.write_text("old")
    with full_disk(), pytest.raises(ModelFileError) as caught:
        write(out / file)
    assert "File too large" in str(caught.value)
    assert any(str(path) in str(caught.value) for path in files)
    assert sorted(out.iterdir()) == ([] if name == "test" else files)
    assert all(path.read_text() == "old" for path in out.iterdir())
