"""Objects of LangChain, LlamaIndex and Haystack are known by their methods, and given text, depth and params as these take them."""

# ruff: noqa: ARG002, ARG005 - retrievers take what they are given
from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace
from unittest.mock import MagicMock

import pytest

from pytest_irmetrics import GoldenSet, RetrievalError, evaluate
from tests.projects import ASYNCIO_SETTING, text_of
from tests.retrievers.framework_shapes import (
    Async,
    Called,
    Fixed,
    Haystack,
    LlamaIndex,
    OfVectorStore,
    Runnable,
    WithDepth,
    ainvoke,
)
from tests.retrievers.ways import outcome


@pytest.fixture
def found(tmp_path):
    """Ask a retriever one query; give the ids, or the problem."""

    def found(retriever, options=None, **params):
        query = {"id": "text", "query": "text", "relevant": ["a"], "params": params}
        path = tmp_path / "golden.yaml"
        path.write_text(json.dumps({"queries": [query]}), encoding="utf-8")
        return outcome(evaluate(GoldenSet.load(path), retriever, ["mrr"], **(options or {})), "text")

    return found


CALLS = [
    (Runnable(), {}, ["nothing"]),
    (Runnable(), {"lang": "no"}, ["lang=no"]),
    (WithDepth(), {}, ["k=10", "lang=en"]),
    (WithDepth(), {"k": 3, "lang": "no"}, ["k=3", "lang=no"]),
    (OfVectorStore(), {"filter": "x"}, ["filter=x"]),
    (Fixed(), {}, ["text"]),
    (Async("ainvoke", ainvoke), {}, ["nothing"]),
    (LlamaIndex(), {}, ["text"]),
    (Async("aretrieve", LlamaIndex().aretrieve), {}, ["async"]),
    (Haystack(), {}, ["query=text", "top_k=10"]),
    (Haystack(), {"filters": "f"}, ["query=text", "top_k=10", "filters=f"]),
    (Async("run_async", Haystack().run_async), {}, ["async", "top_k=10"]),
    (Called(), {}, ["called", "10"]),
    (MagicMock(return_value=["called"]), {}, ["called"]),
]


@pytest.mark.parametrize("options", [{}, {"concurrency": 3}, {"timeout": 600}])
@pytest.mark.parametrize(("retriever", "params", "ids"), CALLS)
def test_text_depth_and_params_are_handed_over_where_they_are_taken(found, retriever, params, ids, options):
    assert found(retriever, options, **params) == ids


@pytest.mark.parametrize("retriever", [Fixed(), LlamaIndex(), Haystack()])
def test_params_that_would_be_dropped_are_an_error(found, retriever):
    assert "cannot be called: got an unexpected keyword argument 'price'" in found(retriever, price=5)


@pytest.mark.parametrize("run", [lambda query_embedding, top_k=None: None, lambda data: None, lambda: None])
def test_a_component_or_pipeline_that_takes_no_text_is_explained(found, run):
    told = r"The retriever is SimpleNamespace .*\. Its run takes no `query`\. Give a function of \(query, k\) that calls it"
    with pytest.raises(RetrievalError, match=told):
        found(SimpleNamespace(run=run))


def test_an_executor_is_given_the_sync_method(found):
    with ThreadPoolExecutor(1) as executor:
        for retriever, ids in ((Runnable(), ["nothing"]), (Haystack(), ["query=text", "top_k=10"])):
            assert found(retriever, {"executor": executor}) == ids


def test_an_exception_is_the_querys_error(found):
    class Broken:
        def retrieve(self, text):
            raise ConnectionError("engine went away")

    said = found(Broken())
    assert "raised ConnectionError: engine went away" in said
    assert "test_frameworks.py:" in said


@pytest.mark.parametrize("method", ["invoke", "retrieve", "run"])
@pytest.mark.parametrize("answer", [None, "doc-1", {"doc-1"}, [0.5], {"context": ["doc-1"]}])
def test_an_answer_that_is_no_result_is_explained(found, method, answer):
    said = found(SimpleNamespace(**{method: lambda query: answer}))
    assert "Accepted, best first: ids" in said


ASYNC_TEST = """
    import pytest
    from tests.retrievers.framework_shapes import FilledIn, Haystack, LlamaIndex, Runnable, WithDepth

    RETRIEVERS = [
        (Runnable(), "async"), (FilledIn(), "nothing"), (WithDepth(), "k=10"), (LlamaIndex(), "async"), (Haystack(), "async"), (lambda query, k: [k], "10")
    ]

    @pytest.mark.asyncio
    @pytest.mark.ir_golden("golden/faq.yaml")
    @pytest.mark.parametrize(("search", "first"), RETRIEVERS)
    async def test_async(irmetrics, search, first):
        evaluation = await irmetrics.aevaluate(retriever=search)
        assert not evaluation.errors
        assert evaluation.run["text"][0] == first
"""


def test_an_async_test_calls_the_async_method_and_a_sync_one_where_there_is_no_other(project):
    project.write("golden/faq.yaml", "queries: [{query: text, relevant: [async, nothing, k=10, '10']}]\n")
    project.write("test_search.py", ASYNC_TEST)
    for setting in ("", "ir_concurrency = 3\n", "ir_timeout = 600\n"):
        project.write("pytest.ini", f"[pytest]\n{ASYNCIO_SETTING}{setting}")
        project.run().assert_outcomes(passed=6)


NOTED = """
import pytest
from tests.retrievers.framework_shapes import *

@pytest.fixture
def retriever():
    return """


@pytest.mark.parametrize(
    ("retriever", "advice"),
    [
        (
            "LlamaIndex()",
            "Its retriever, LlamaIndex, has a depth of its own: set it where the retriever is made.",
        ),
        (
            "lambda query, k: [query, *map(str, range(k - 2)), query]",
            "has 9. 3 of 3 answers had fewer than the 10 that a metric looks at. ir_duplicates = collapse drops what",
        ),
        (
            "lambda query, k: [query] * len(query) + [*'1234567'][: k - len(query)]",
            "the longest answer has 8. 3 of 3 answers had fewer than the 10",
        ),
        (
            "lambda query: ([query] * len(query) + [*'abc'])[:6]",
            "the longest answer has 6. Check that the retriever passes k on.",
        ),
        ("Haystack()", ""),
        ("lambda query: [query]", ""),
    ],
)
def test_a_note_says_where_the_depth_is_set(project, retriever, advice):
    ids = "[text, other, query=text]"
    project.write(
        "golden/faq.yaml",
        "queries:\n"
        + "".join(f"- {{query: {text}, relevant: {ids}}}\n" for text in ("text", "other", "any")),
    )
    project.write("conftest.py", f"{NOTED}{retriever}\n")
    output = text_of(project.run("-v", "-o", "ir_duplicates=collapse"))
    assert "No query got the 10 results that were asked for; the longest answer has" in output
    assert advice in output
    assert ("has a depth of its own" in output) == advice.startswith("Its")


def test_duplicates_below_every_cut_off_are_not_worth_a_note(project):
    project.write(
        "conftest.py",
        f"{NOTED}lambda query, k: [query + one for one in [*map(str, range(k - 4)), *'0101']]\n",
    )
    project.write("golden/faq.yaml", "queries: [{query: a, relevant: a0}, {query: b, relevant: b0}]")
    options = ("-o", "ir_duplicates=collapse", "-o", "ir_depth=20")
    assert "No query got" not in text_of(project.run(*options))
    said = text_of(project.run(*options, "-o", "ir_metrics=recall@17"))
    assert "the longest answer has 16. 2 of 2 answers had fewer than the 17 that a metric" in said
