"""Tell of an event loop that a retriever blocks beyond the time limit, which then cannot end the call."""

from __future__ import annotations

import sys
import threading
from contextlib import contextmanager
from dataclasses import dataclass, field
from time import monotonic
from typing import TYPE_CHECKING

from pytest_irmetrics.base.wording import listed, quote

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pytest_irmetrics.retrieval.call import Call
    from pytest_irmetrics.retrieval.schedule import EventLoopDriver

ADVICE = (
    "Await what waits (`await`), move what blocks to a thread (`await asyncio.to_thread(…)`), or write a plain `def` "
    "retriever, which runs in a thread."
)
_RESPONSE_SECONDS = 0.2
"""How long a loop may take to respond before it counts as blocked."""
_MAX_NAMED = 3


@dataclass(slots=True, eq=False)
class _CallInFlight:
    """A call that is being awaited, and when its time is up."""

    call: Call
    deadline: float
    started: float = field(default_factory=monotonic)
    is_blocked: bool = False
    """Whether the event loop was found blocked after this call's time was up."""

    def advice(self) -> str:
        return f"The async retriever blocked the event loop. {ADVICE}" if self.is_blocked else ""


class BlockedLoopWatch:
    """Watches an event loop from another thread, for as long as calls with a time limit are awaited on it.

    When a call's time is up and it is still in flight, the loop is asked to respond. Where it does not, `warn` is called,
    once, with a message that names the queries: the block may never end.
    """

    def __init__(self, driver: EventLoopDriver, warn: Callable[[str], object] | None) -> None:
        self._driver = driver
        self._warn = _print_on_stderr if warn is None else warn
        self._in_flight: dict[_CallInFlight, None] = {}
        self._thread: threading.Thread | None = None
        self._ended = threading.Event()

    def close(self) -> None:
        """End the thread that watches."""
        self._ended.set()

    @contextmanager
    def awaiting(self, call: Call, seconds: float | None) -> Iterator[Callable[[], str]]:
        """Watch the loop, from which this is called, while a call is awaited that may take so many seconds.

        Yields a function that says, of a call that timed out, whether the loop was blocked and what to do.
        """
        if seconds is None:
            yield str
            return
        flight = _CallInFlight(call, monotonic() + seconds)
        self._in_flight[flight] = None
        if self._thread is None:
            self._thread = threading.Thread(
                target=self._watch,
                args=(self._driver.pinger(), min(max(seconds / 4, 0.01), 0.25)),
                name="irmetrics-watch",
                daemon=True,
            )
            self._thread.start()
        try:
            yield flight.advice
        finally:
            del self._in_flight[flight]

    def _watch(self, ping: Callable[[Callable[[], object]], None], interval: float) -> None:
        while not self._ended.wait(interval):
            now = monotonic()
            if all(flight.deadline >= now for flight in tuple(self._in_flight)):
                continue
            responded = threading.Event()
            ping(responded.set)
            if responded.wait(_RESPONSE_SECONDS) or self._ended.is_set():
                continue
            # Any of those in flight may be the one that blocks; the last to begin most likely is.
            waiting = list(self._in_flight)[::-1]
            if not waiting:
                continue
            for flight in waiting:
                flight.is_blocked = True
            self._warn(_message(waiting))
            return


def _message(waiting: list[_CallInFlight]) -> str:
    ids = [query_id for flight in waiting for query_id in flight.call.query_ids]
    seconds = monotonic() - min(flight.started for flight in waiting)
    what = "query" if len(ids) == 1 else "queries"
    return (
        f"{what} {listed(ids, _MAX_NAMED, quote)}: no answer for {seconds:.1f} s, and ir_timeout cannot end it: the async "
        f"retriever blocks the event loop. {ADVICE}"
    )


def _print_on_stderr(message: str) -> None:
    print(f"pytest-irmetrics: {message}", file=sys.stderr, flush=True)  # noqa: T201 - before it is over, if it ever is
