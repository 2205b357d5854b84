"""What one call of a retriever comes to: functions of a module, so that another thread or process can do the asking."""

from __future__ import annotations

import inspect
from asyncio import CancelledError
from dataclasses import dataclass, field
from time import perf_counter
from typing import TYPE_CHECKING, Any

from pytest_irmetrics.retrieval.answers import adraw, asplit_batch, draw, is_async_answer, split_batch
from pytest_irmetrics.retrieval.call import Ask, Reply, TwiceRead
from pytest_irmetrics.retrieval.chunks import identify_chunks
from pytest_irmetrics.retrieval.errors import Cancelled, explain
from pytest_irmetrics.retrieval.items import AnswerError, identify
from pytest_irmetrics.retrieval.showing import show

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from pytest_irmetrics.retrieval.passages import Known
    from pytest_irmetrics.run import Answer

__tracebackhide__ = True  # what passes through shows the user's lines, not ours


@dataclass(frozen=True, slots=True)
class Pending:
    """A call of what looked like a sync retriever, and whose answer has to be awaited."""

    ask: Ask
    answer: Any
    started: float

    def discard(self) -> None:
        """Give an answer up that nobody has begun to await, without Python's warning about that."""
        answer = self.answer
        if inspect.iscoroutine(answer) and inspect.getcoroutinestate(answer) == inspect.CORO_CREATED:
            answer.close()


@dataclass(frozen=True, slots=True)
class Reading:
    """How answers are to be read."""

    depth: int
    duplicates: str
    doc_id: Callable[[Any], Any] | None
    stored: Mapping[str, Answer] = field(default_factory=dict)
    """What was answered before, by query: the same again is not proven again."""

    def draw(self, ask: Ask, answer: Any) -> list[list[Any] | str]:
        """Take out of an answer the items of each query; a sentence where that failed for a query of several."""
        if not ask.batch:
            return [draw(answer, self.depth)]
        return split_batch(answer, len(ask.ids), self._draw_one)

    async def adraw(self, ask: Ask, answer: Any) -> list[list[Any] | str]:
        """Do as `draw` does with an asynchronous iterator."""
        if not ask.batch:
            return [await adraw(answer, self.depth)]
        return await asplit_batch(answer, len(ask.ids), self._draw_one)

    def _draw_one(self, result: Any) -> list[Any] | str:
        try:
            return draw(result, self.depth)
        except Exception as error:  # noqa: BLE001 - a result may be the user's generator
            return explain(error)

    def reply(self, ask: Ask, drawn: list[list[Any] | str], seconds: float) -> Reply:
        """Read the drawn items as ids."""
        if ask.batch:
            none = (None,) * len(ask.ids)
            outcomes = tuple(map(self._read, ask.ids, drawn, ask.known or none, ask.formerly or none))
        else:
            known, formerly = ask.known or (None,), ask.formerly or (None,)
            outcomes = (self._read(ask.ids[0], drawn[0], known[0], formerly[0]),)
        return Reply(ask, outcomes, seconds * 1000 / len(ask.ids))

    def _read(
        self, query_id: str, items: list[Any] | str, known: Known | None, formerly: Known | None
    ) -> tuple[str, ...] | TwiceRead | str:
        ids = self._read_once(query_id, items, known)
        if formerly is None or isinstance(ids, str):
            return ids
        try:
            return TwiceRead(ids, identify_chunks(items, self.duplicates, self.doc_id, formerly))
        except Exception:  # noqa: BLE001 - as below; by the passages of then it cannot be read, which is no fault today
            return ids

    def _read_once(self, query_id: str, items: list[Any] | str, known: Known | None) -> tuple[str, ...] | str:
        try:
            if isinstance(items, str):
                return items
            if known is not None:
                return identify_chunks(items, self.duplicates, self.doc_id, known)
            stored = self.stored.get(query_id)
            return identify(
                items, self.duplicates, self.doc_id, stored.rankings if stored is not None else ()
            )
        except Exception as error:  # noqa: BLE001 - ir_doc_id and items are the user's, and may raise anything
            return explain(error)


def perform(function: Callable[..., Any], ask: Ask, reading: Reading) -> Reply | Pending:
    """Call the retriever and read its answer. Lets through what is no Exception: pytest.skip, Ctrl-C."""
    started = perf_counter()
    try:
        answer = function(*ask.args, **ask.kwargs)
        # As nearly always, and the rest costs as much as reading it.
        if type(answer) is list and not ask.batch:
            drawn: list[list[Any] | str] = [answer[: reading.depth]]
        elif is_async_answer(answer):
            return Pending(ask, answer, started)
        else:
            drawn = reading.draw(ask, answer)
    except CancelledError as error:  # its own: from outside nobody can cancel what is not awaited
        return ask.failed(str(Cancelled(error)))
    except Exception as error:  # noqa: BLE001 - whatever the retriever raises is this query's error
        return ask.failed(_explain(ask, error))
    return reading.reply(ask, drawn, perf_counter() - started)


async def aperform(function: Callable[..., Any], ask: Ask, reading: Reading) -> Reply:
    """Do as `perform` does, and await what has to be awaited. Needs no particular event loop."""
    done = perform(function, ask, reading)
    return await settle(done, reading) if isinstance(done, Pending) else done


async def settle(pending: Pending, reading: Reading) -> Reply:
    """Await the answer of a call that was made."""
    ask, answer = pending.ask, pending.answer
    try:
        if inspect.isawaitable(answer):
            answer = await answer
        if inspect.isawaitable(answer):
            if inspect.iscoroutine(answer):
                answer.close()
            raise AnswerError(f"came back: {show(answer)}. Await it in the retriever.")  # noqa: TRY301 - one way for errors
        if is_async_answer(answer):
            drawn = await reading.adraw(ask, answer)
        else:
            drawn = reading.draw(ask, answer)
    except Exception as error:  # noqa: BLE001 - as in perform
        return ask.failed(_explain(ask, error))
    return reading.reply(ask, drawn, perf_counter() - pending.started)


def _explain(ask: Ask, error: Exception) -> str:
    problem = explain(error)
    if len(ask.ids) == 1 or isinstance(error, AnswerError):
        return problem
    return f"the call for {len(ask.ids)} queries {problem}"
