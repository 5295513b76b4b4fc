"""A store of plans keeps the latest ones within its bytes, also with many threads."""

from __future__ import annotations

import sys
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bnmind.junction import engine_planning
from bnmind.junction.engine_planning import PlanStore, Stored
from tests.modes import examples


def make(key: int, size: int, held: list[int]) -> Stored:
    """Return a plan that the store should not hold."""
    assert key not in held, "made twice"
    return Stored(f"plan {key}", size)


@settings(max_examples=examples(60))
@given(
    st.integers(0, 20),
    st.lists(st.tuples(st.integers(0, 6), st.integers(0, 12)), max_size=30),
)
def test_the_latest_plans_that_fit_are_kept(most: int, questions: list[tuple[int, int]]) -> None:
    """A list in which the latest plan comes last is the slow twin."""
    store = PlanStore(most)
    expected: list[tuple[int, int]] = []
    sizes: dict[int, int] = {}
    for key, size in questions:
        size = sizes.setdefault(key, size)

        held = [key for key, _ in expected]
        assert store.get(key, partial(make, key, size, held)) == f"plan {key}"
        if size <= most:
            expected = [pair for pair in expected if pair[0] != key] + [(key, size)]
            while sum(size for _, size in expected) > most:
                expected.pop(0)
        found = [(plan.plan, plan.bytes) for plan in store.held().values()]
        assert found == [(f"plan {key}", size) for key, size in expected]


def test_a_plan_that_is_asked_for_again_is_kept_longer() -> None:
    store = PlanStore(2)
    for key in "abac":
        store.get(key, lambda key=key: Stored(key, 1))  # type: ignore[misc]
    assert [plan.plan for plan in store.held().values()] == ["a", "c"]


def test_an_error_leaves_the_store_as_it_was() -> None:
    store = PlanStore(10)

    def fail() -> Stored:
        raise ValueError("no plan")

    for _ in range(2):
        with pytest.raises(ValueError, match="no plan"):
            store.get("a", fail)
    assert store.held() == {}
    assert store.get("a", lambda: Stored(1, 1)) == 1


def test_threads_make_no_plan_twice_at_the_same_time() -> None:
    store = PlanStore(10_000)
    made: Counter[int] = Counter()
    lock = threading.Lock()
    start = threading.Barrier(8)

    def counted(key: int) -> Stored:
        with lock:
            made[key] += 1
        return Stored(key, 1)

    def ask(thread: int) -> None:
        start.wait()
        for step in range(200):
            key = (step * (thread + 1)) % 50
            assert store.get(key, partial(counted, key)) == key

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(8) as pool:
            list(pool.map(ask, range(8)))
    finally:
        sys.setswitchinterval(before)
    assert set(made.values()) == {1}
    assert len(store.held()) == 50
    assert not store._makers


class Watched:
    """A lock that counts the threads that hold it or wait for it."""

    n_threads = 0

    def __init__(self) -> None:
        self._lock = threading.Lock()

    def __enter__(self) -> None:
        Watched.n_threads += 1
        self._lock.acquire()

    def __exit__(self, *_: object) -> None:
        Watched.n_threads -= 1
        self._lock.release()


def test_threads_that_wait_for_a_failed_plan_do_not_make_one_twice(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The second thread waits while the first fails; a third must wait for the second."""
    store = PlanStore(10)
    monkeypatch.setattr(engine_planning, "Lock", Watched)
    entered, release = threading.Semaphore(0), threading.Semaphore(0)
    at_work: list[int] = []

    def slow(number: int) -> Stored:
        at_work.append(number)
        assert len(at_work) == 1, "two threads at once"
        entered.release()
        assert release.acquire(timeout=60)
        at_work.remove(number)
        if number == 0:
            raise ValueError("no plan")
        return Stored("plan", 1)

    with ThreadPoolExecutor(3) as pool:
        first = pool.submit(store.get, "a", partial(slow, 0))
        assert entered.acquire(timeout=60)
        second = pool.submit(store.get, "a", partial(slow, 1))
        while Watched.n_threads < 2:
            pass
        release.release()
        with pytest.raises(ValueError, match="no plan"):
            first.result(timeout=60)
        assert entered.acquire(timeout=60)
        third = pool.submit(store.get, "a", partial(slow, 2))
        while Watched.n_threads < 2:
            pass
        release.release()
        assert second.result(timeout=60) == third.result(timeout=60) == "plan"
