"""How long a million rows take to be read back and summarized, and a batch to be written.

Usage: ``python benchmarks/million_rows.py [ROWS]``

The rows are made up, since reading does not care who played; files, columns and batches are those
of an experiment with four strategies under two noises on 4x6. Each time is the best of five, by the
clock, with the files in the cache of the system.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import duckdb
import numpy as np

from bnmind.lab import (
    BatchRows,
    GameExperiment,
    GameRow,
    GameSetting,
    Player,
    Store,
    game_settings,
)
from bnmind.lab.stores import begin, digest_of, write_batch
from bnmind.mastermind import Board, Channel
from bnmind.strategies import strategy_by_name

TIMES = 5


def made_up(experiment: GameExperiment, directory: Path) -> float:
    """Write all batches with invented games; return the seconds for a batch."""
    begin(directory, experiment, {})
    digest, spent = digest_of(experiment), 0.0
    batches = experiment.batches()
    games = {len(batch.series.numbers) for batch in batches}
    rows = {
        (setting, n): tuple(_rows(setting, n)) for setting in experiment.settings for n in games
    }
    for batch in batches:
        made = BatchRows(rows[batch.series.setting, len(batch.series.numbers)])
        started = time.perf_counter()
        write_batch(experiment, directory, made, digest=digest, number=batch.number)
        spent += time.perf_counter() - started
    return spent / len(batches)


def _rows(setting: GameSetting, games: int) -> Iterator[GameRow]:
    """Yield invented rows of a batch."""
    rng = np.random.default_rng(0)
    for number in range(1, games + 1):
        for player in setting.players:
            yield GameRow(
                board=str(setting.board),
                channel=setting.channel.name,
                strategy=player.strategy.name,
                game=number,
                seed=int(rng.integers(2**53)),
                secret="1123",
                guesses=int(rng.integers(3, 12)),
                won=True,
                seconds=float(rng.random()),
                assumed=setting.channel.name,
            )


def best(work: Callable[[], object]) -> float:
    """Return the least seconds of some runs."""
    times = []
    for _ in range(TIMES):
        started = time.perf_counter()
        work()
        times.append(time.perf_counter() - started)
    return min(times)


def main() -> None:
    """Print the times."""
    n_rows = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    board = Board(4, 6)
    players = [Player(strategy_by_name(name)) for name in ("entropy", "map", "knuth", "kooi")]
    channels = [Channel.exact(board), Channel.false_reply(board, 0.2)]
    experiment = GameExperiment(settings=game_settings(channels, players), games=n_rows // 8)
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        writing = made_up(experiment, directory)
        store = Store(directory)
        n_files = len(store.parts)
        size = sum(path.stat().st_size for path in store.parts)
        query = (
            f"SELECT channel, strategy, count(*), avg(guesses), stddev(guesses)"
            f" FROM read_parquet('{directory}/*.parquet') GROUP BY ALL"
        )
        print(f"{len(store.frame):,} rows in {n_files:,} files, {size / 1e6:.0f} MB")
        print(f"a batch of {len(store.rows_of(0)):,} rows is written in {writing:.4f} s")
        print(f"Store.summary: {best(lambda: store.summary):.2f} s")
        print(f"DuckDB, the same means: {best(lambda: duckdb.sql(query).fetchall()):.2f} s")
        print(f"Store.frame, all columns in pandas: {best(lambda: store.frame):.2f} s")


if __name__ == "__main__":
    main()
