"""Ask a retriever every query, one by one, in threads or an executor, or on an event loop; or answer them from a stored run."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from pytest_irmetrics.base.wording import describe, listed, quote
from pytest_irmetrics.golden import Query
from pytest_irmetrics.golden.query import judges_other_passages
from pytest_irmetrics.retrieval.asking import Asking, Retrieved, answer_to
from pytest_irmetrics.retrieval.calls import RetrievalError, await_answer, call_retriever
from pytest_irmetrics.retrieval.options import RetrievalOptions
from pytest_irmetrics.retrieval.retriever import Retriever
from pytest_irmetrics.run import Answer, Header, Run
from pytest_irmetrics.run.answer import EMPTY_ANSWER, params_key

# What only some retrievals need is imported where it is used: one by one, a sync retriever needs no event loop.


def retrieve(queries: Iterable[Query], retriever: Any, options: RetrievalOptions) -> Retrieved:
    """Ask a retriever, sync or async, that is no Run, every query. What goes wrong with single queries is in `errors`.

    A sync retriever is called in this very thread, unless a timeout, concurrency or an executor asks for others;
    an async one runs on an event loop that is kept until `on_loop.close_session_loop`. Raises RetrievalError for what is
    no retriever, and for an async one where a loop is running already.
    """
    asking = Asking(queries, Retriever.of(retriever), options)
    if not asking.target.is_async:
        if options.is_sequential:
            for call in asking.calls:
                asking.add(call_retriever(asking.target.function, call, options))
                if asking.pending:
                    break
        else:
            from pytest_irmetrics.retrieval.in_executor import ask_in_executor  # noqa: PLC0415

            ask_in_executor(asking)
    # A retriever that looked sync may return what has to be awaited: lambda query, k: client.search(query).
    if asking.target.is_async or asking.pending:
        from pytest_irmetrics.retrieval.on_loop import ask_on_session_loop  # noqa: PLC0415

        ask_on_session_loop(asking)
    return asking.result()


async def aretrieve(queries: Iterable[Query], retriever: Any, options: RetrievalOptions) -> Retrieved:
    """Do as `retrieve` does, on the event loop that runs: asyncio's; one by one, without a time limit, on any other too."""
    from pytest_irmetrics.retrieval.on_loop import ask_beside_loop, ask_on_loop, is_loop_running  # noqa: PLC0415

    asking = Asking(queries, Retriever.of(retriever, prefer_async=options.executor is None), options)
    if is_loop_running():
        if not asking.target.is_async and not options.is_sequential:
            await ask_beside_loop(asking)
        await ask_on_loop(asking)
    elif options.is_sequential:
        for call in asking.calls:
            reply = call_retriever(asking.target.function, call, options)
            asking.add(await await_answer(reply, options))
    else:
        raise RetrievalError(
            "ir_timeout, ir_concurrency and ir_executor need asyncio in an async test. Leave them out here."
        )
    return asking.result()


# A stored run in place of a retriever


def replay(queries: Sequence[Query], run: Run, options: RetrievalOptions) -> Retrieved:
    """Answer queries from a stored run, with all its repeats.

    A run that knows its depth was recorded of a retriever and has every query that was asked: another query is an
    error. Any other, such as a TREC run, has no line for an empty answer: a query that it lacks had an empty answer.
    Raises RetrievalError for a run that is not as deep as asked for, or that has none of the queries.
    """
    if run.depth is not None and run.depth < options.depth:
        text = f"The stored run was asked for {run.depth} results, and {options.depth} are asked for here (ir_depth, or depth in ir_golden). Store the run anew at that depth, or ask for {run.depth}."
        raise RetrievalError(text)
    missing = [query.id for query in queries if query.id not in run]
    # One query alone may well have had an empty answer; where that is known to be none, it has an error of its own.
    if len(missing) == len(queries) > 1:
        text = f"The stored run has no query that is asked here: it has {listed(list(run), 3, quote) or 'no query'}, and asked is {listed(missing, 3, quote)}. Queries go by their ids. Give the run of this golden set, or store it anew."
        raise RetrievalError(text)
    # Not cut at its own depth: chunks that contain several passages make a ranking longer than that.
    depth = None if options.depth == run.depth else options.depth
    answers: dict[str, Answer] = {}
    errors: dict[str, str] = {}
    for query in queries:
        stored = run.answers.get(query.id, EMPTY_ANSWER if run.depth is None else None)
        if stored is None or (problem := _asked_otherwise(query, stored)):
            fault = "the stored run was not asked this query" if stored is None else problem
            errors[query.id] = f"{fault}. Store the run anew."
        else:
            rankings = tuple([ranking[:depth] for ranking in stored.rankings])
            answers[query.id] = answer_to(query, rankings, stored.agreeing)
    return Retrieved(
        Run.of(answers, Header(options.depth, provenance=options.provenance or run.provenance)),
        errors,
        missing=tuple(missing),
    )


def _asked_otherwise(query: Query, stored: Answer) -> str:
    """Return what is wrong where a stored answer is to another text, other params or other passages; else nothing."""
    if stored.text is not None and query.text is not None and stored.text != query.text:
        return f"the stored run answers another text, {quote(stored.text)}"
    if (stored.text is not None or stored.params) and params_key(stored.params) != params_key(query.params):
        return f"the stored run answers other params, {describe(dict(stored.params))}"
    if judges_other_passages(query, stored):
        return "the stored run was searched for other passages than the query judges now"
    return ""
