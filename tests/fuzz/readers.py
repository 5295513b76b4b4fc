"""Every reader of the package, each as a function of the path of a file.

A reader of texts is given the text in the file. A reader may raise `BnmindError` with
one line that is not too long, and nothing else.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path

from bnmind.adaptive import (
    ItemBank,
    Responses,
    Session,
    read_bank,
    read_qmatrix,
    selector_by_name,
    stopper_by_names,
)
from bnmind.cli.shared.named_states import evidence_of
from bnmind.dynamic import read_dynamic
from bnmind.errors import BnmindError
from bnmind.lab import transcript_from_json
from bnmind.lab.mastermind import read_game
from bnmind.mastermind import Board, Reply, parse_history, parse_noise
from bnmind.pgm.competition import (
    read_evidence_samples,
    read_explanation,
    read_log_evidence,
    read_marginals,
    read_query,
)
from bnmind.pgm.files import read_model, read_network
from bnmind.strategies import read_tree, read_weights

__all__ = ["READERS", "SEEDS", "Reader", "fault_in"]

HERE = Path(__file__).parent
SEEDS = HERE / "seeds"
UAI = SEEDS / "uai" / "small.uai"

LONGEST_MESSAGE = 6000

PLACE = re.compile(
    r"line \d+,? column \d+"
    r"|at (potentials|variables)\b"
    r"|got [^ ]+: "
    r"|(at schema|at version|the whole|an empty file|packed by gzip|larger than)"
)
"""A line and a column, or a path in JSON; an empty file has no place."""

BOARDS = (Board(4, 6), Board(2, 3, repeats=False), Board(10, 12), Board(4, 26), Board(255, 255))
STATES: Mapping[str, tuple[str, ...]] = {"A": ("x", "y"), "B": ("0", "1"), "C": ("a,b", "a", "=")}


@dataclass(frozen=True)
class Reader:
    """A reader, by the name of its seeds' directory."""

    name: str
    read: Callable[[Path], object]
    places: bool = False
    """Whether its errors say where in the file, and name the file."""

    @property
    def seeds(self) -> tuple[Path, ...]:
        """Its valid files, sorted by name."""
        return tuple(sorted((SEEDS / self.name).iterdir()))


def fault_in(reader: Reader, path: Path, error: Exception) -> str:
    """Return what is wrong with the message of an error of ours, or nothing."""
    told = str(error)
    if "\n" in told or "Traceback" in told:
        return "a message of several lines"
    if len(told) > LONGEST_MESSAGE:
        return f"a message of {len(told):,} characters"
    if reader.places and not (PLACE.search(told) and str(path) in told):
        return f"a message without a place: {told}"
    return ""


def _network(path: Path) -> None:
    """Read a network, and the same file as a model, which need not be one."""
    with suppress(BnmindError):
        read_network(path)
    read_model(path)


def _names(path: Path) -> object:
    """Read a model in UAI with the names in the file beside it."""
    model = path.with_name("model.uai")
    shutil.copy(SEEDS / "uai" / "small.uai", model)
    path.replace(path.with_name("model.uai.json"))
    return read_network(model)


def _answer(path: Path) -> object:
    """Read an answer to a task of a competition."""
    task = path.read_bytes().lstrip()[:3]
    if task == b"PR\n":
        return read_log_evidence(path)
    return read_marginals(path, UAI) if task == b"MAR" else read_explanation(path, UAI)


def _roles(path: Path) -> ItemBank:
    """Read a bank in BIF with its roles; either file may be the broken one."""
    network, roles = (path.with_name(f"bank.bif{end}") for end in ("", ".roles.json"))
    if path != network:
        shutil.copy(SEEDS / "roles" / "bank.bif", network)
        path.replace(roles)
    else:
        shutil.copy(SEEDS / "roles" / "roles.json", roles)
    return read_bank(network)


@cache
def _bank() -> ItemBank:
    return read_bank(SEEDS / "bank" / "gates.json")


def _session(path: Path) -> None:
    """Salvage a session, and load it."""
    with suppress(BnmindError):
        Session.load(path, _bank(), salvage=True)
    Session.load(path, _bank()).report()


def _responses(path: Path) -> None:
    Responses.from_csv(path).patterns  # noqa: B018


def _saved_game(path: Path) -> None:
    game = read_game(path)
    parse_noise(game.board, game.noise)


def _transcript(path: Path) -> object:
    return transcript_from_json(_text(path))


def _text(path: Path) -> str:
    """Return a text as a terminal may give it, with what is no UTF-8 in halves of surrogates."""
    return path.read_bytes().decode("utf-8", errors="surrogateescape")


def _of_boards(
    read: Callable[[Board, str], object], path: Path, boards: tuple[Board, ...] = BOARDS
) -> None:
    """Read a text for each board; a fault is one of all boards."""
    text, faults = _text(path), []
    for board in boards:
        try:
            read(board, text)
        except BnmindError as error:
            faults.append(error)
    if len(faults) == len(boards):
        raise faults[-1]


def _of_text(read: Callable[[str], object], path: Path) -> object:
    return read(_text(path))


READERS: Mapping[str, Reader] = {
    reader.name: reader
    for reader in (
        *(
            Reader(name, _network, places=True)
            for name in ("bif", "net", "dne", "xmlbif", "xdsl", "uai", "model_json", "packed")
        ),
        Reader("uai_names", _names),
        Reader("uai_evidence", lambda path: read_evidence_samples(path, UAI)),
        Reader("uai_query", lambda path: read_query(path, UAI)),
        Reader("uai_answer", _answer),
        Reader("dynamic", read_dynamic, places=True),
        Reader("bank", read_bank),
        Reader("roles", _roles),
        Reader("session", _session),
        Reader("responses", _responses),
        Reader("qmatrix", read_qmatrix),
        Reader("noise", lambda path: parse_noise(Board(2, 3), f"file:{path}")),
        Reader("weights", read_weights),
        *(Reader(name, read_tree) for name in ("tree_json", "tree_text", "tree_dot")),
        Reader("game", _saved_game),
        Reader("transcript", _transcript),
        Reader("history_text", partial(_of_boards, parse_history)),
        Reader("code_text", partial(_of_boards, Board.parse)),
        Reader("reply_text", partial(_of_boards, lambda b, t: Reply.parse(t, pegs=b.pegs))),
        # Channels of large boards take long to make.
        Reader("noise_text", partial(_of_boards, parse_noise, boards=BOARDS[:3])),
        Reader("evidence_text", partial(_of_text, lambda text: evidence_of([text], STATES))),
        Reader("selector_text", partial(_of_text, selector_by_name)),
        Reader("stopper_text", partial(_of_text, lambda text: stopper_by_names(text.split()))),
    )
}
"""Every reader, by name."""
