"""Every reader of the package, each as a function of the path of a file.

A reader of texts is given the text in the file. A reader may raise `BnmindError` with
one line that is not too long, and nothing else.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
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
from bnmind.cli.networks import evidence_of
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
from tests.fuzz.reader import SEEDS, Reader, gates, text_of
from tests.fuzz.record_readers import RECORD_READERS
from tests.fuzz.table_readers import TABLE_READERS
from tests.fuzz.web_readers import WEB_READERS

__all__ = ["READERS"]

UAI = SEEDS / "uai" / "small.uai"

BOARDS = (Board(4, 6), Board(2, 3, repeats=False), Board(10, 12), Board(4, 26), Board(255, 255))
STATES: Mapping[str, tuple[str, ...]] = {"A": ("x", "y"), "B": ("0", "1"), "C": ("a,b", "a", "=")}


def _network(path: Path) -> None:
    """Read a network, and the same file as a model, which need not be one."""
    with suppress(BnmindError):
        read_network(path)
    read_model(path, drop_decisions=True)


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


def _session(path: Path) -> None:
    """Salvage a session, and load it."""
    with suppress(BnmindError):
        Session.load(path, gates(), salvage=True)
    Session.load(path, gates()).report()


def _responses(path: Path) -> None:
    Responses.from_csv(path).patterns  # noqa: B018


def _saved_game(path: Path) -> None:
    game = read_game(path)
    parse_noise(game.board, game.noise)


def _transcript(path: Path) -> object:
    return transcript_from_json(text_of(path))


def _of_boards(
    read: Callable[[Board, str], object], path: Path, boards: tuple[Board, ...] = BOARDS
) -> None:
    """Read a text for each board; a fault is one of all boards."""
    text, faults = text_of(path), []
    for board in boards:
        try:
            read(board, text)
        except BnmindError as error:
            faults.append(error)
    if len(faults) == len(boards):
        raise faults[-1]


def _of_text(read: Callable[[str], object], path: Path) -> object:
    return read(text_of(path))


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
        *(Reader(name, read_tree) for name in ("tree_json", "tree_text")),
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
        *RECORD_READERS,
        *TABLE_READERS,
        *WEB_READERS,
    )
}
"""Every reader, by name."""
