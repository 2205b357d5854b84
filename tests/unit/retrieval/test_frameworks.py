"""Objects of frameworks: which of their methods is asked, what it is given, and what is said of those that cannot be.

The shapes here are those of the frameworks, which are not needed; tests/integration has the real ones.
"""

# ruff: noqa: A002, ARG002, ARG005 - retrievers take what their framework has them take

from __future__ import annotations

import asyncio
import gc
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace
from unittest.mock import MagicMock

import pytest

from pytest_irmetrics.analysis.evaluation_notes import on_evaluation
from pytest_irmetrics.retrieval import (
    RetrievalError,
    RetrievalOptions,
    aretrieve,
    close_session_loop,
    retrieve,
)


@pytest.fixture(autouse=True, scope="module")
def _one_loop():
    yield
    close_session_loop()


def query(**params):
    return [SimpleNamespace(id="q", text="text", params=params)]


def found(retriever, **params):
    """What a sync caller gets: the ids, or the problem."""
    return result(retrieve(query(**params), retriever, RetrievalOptions(depth=7)))


def afound(retriever, **params):
    """The same of an async one."""
    return result(asyncio.run(aretrieve(query(**params), retriever, RetrievalOptions(depth=7))))


def result(retrieved):
    return retrieved.errors["q"] if retrieved.errors else list(retrieved.run["q"])


def told(**given):
    """Ids that say what was given."""
    return [f"{name}={value}" for name, value in given.items()] or ["nothing"]


class Runnable:
    """As LangChain's: takes keyword arguments, and is given a config by some."""

    def invoke(self, input, config=None, **kwargs):
        assert (input, config) == ("text", None)
        return told(**kwargs)

    async def ainvoke(self, input, config=None, **kwargs):
        return ["async", *self.invoke(input, config, **kwargs)]


class Retriever(Runnable):
    """As LangChain's BaseRetriever: drops what its function does not take."""

    def _get_relevant_documents(self, query, *, run_manager):
        raise NotImplementedError

    _aget_relevant_documents = _get_relevant_documents


class WithDepth(Retriever):
    def _get_relevant_documents(self, query, *, run_manager, k=4, lang="en"):
        raise NotImplementedError

    _aget_relevant_documents = _get_relevant_documents


class OfVectorStore(Retriever):
    def __init__(self):
        self.search_kwargs = {"k": 50}

    def _get_relevant_documents(self, query, *, run_manager, **kwargs):
        raise NotImplementedError

    _aget_relevant_documents = _get_relevant_documents


class OfFilteredVectorStore(OfVectorStore):
    def _get_relevant_documents(self, query, *, run_manager, filter=None, **kwargs):
        raise NotImplementedError

    _aget_relevant_documents = _get_relevant_documents


class OpenEnded(Retriever):
    """As LangChain's ContextualCompressionRetriever, which hands on what it is given."""

    def _get_relevant_documents(self, query, *, run_manager, **kwargs):
        raise NotImplementedError

    _aget_relevant_documents = _get_relevant_documents


class Wrapper(Runnable):
    def __init__(self, **parts):
        self.__dict__.update(parts)


async def filled_in(self, query, *, run_manager):
    raise NotImplementedError


filled_in.__module__ = "langchain_core.retrievers"


class TestLangChain:
    @pytest.mark.parametrize(
        ("retriever", "given"),
        [
            (Runnable(), ["nothing"]),
            (Retriever(), ["nothing"]),
            (WithDepth(), ["k=7"]),
            (OfVectorStore(), ["k=7"]),
            (OfFilteredVectorStore(), ["k=7"]),
            (OpenEnded(), ["nothing"]),
            (Wrapper(bound=WithDepth()), ["k=7"]),
            (Wrapper(runnable=Wrapper(default=OfVectorStore())), ["k=7"]),
            (Wrapper(first=WithDepth()), ["nothing"]),
            (Wrapper(bound=Wrapper(first=OfVectorStore())), ["nothing"]),
            (Wrapper(func=lambda query, limit=3: None), ["limit=7"]),
            (Wrapper(func=lambda query, config, run_manager: None), ["nothing"]),
            (Wrapper(func=lambda *args: None), ["nothing"]),
            (Wrapper(func=dict.fromkeys), ["nothing"]),
        ],
    )
    def test_the_depth_is_handed_over_where_it_is_taken(self, retriever, given):
        assert found(retriever) == given
        if not hasattr(retriever, "func"):
            assert afound(retriever) == ["async", *given]

    def test_params_are_handed_over(self):
        assert found(Runnable(), lang="no") == ["lang=no"]
        assert found(WithDepth(), lang="no") == ["lang=no", "k=7"]
        assert found(WithDepth(), k=3) == ["k=3"]
        assert found(OfVectorStore(), filter="x") == ["filter=x", "k=7"]
        assert found(OpenEnded(), k=3) == ["k=3"]
        assert found(Wrapper(first=WithDepth()), k=3) == ["k=3"]

    @pytest.mark.parametrize(
        "retriever", [Retriever(), Wrapper(first=Retriever()), Wrapper(bound=Retriever())]
    )
    def test_params_that_would_be_dropped_are_an_error(self, retriever):
        for problem in (found(retriever, lang="no"), afound(retriever, lang="no")):
            assert "invoke(input) cannot be called: got an unexpected keyword argument 'lang'" in problem

    def test_an_async_test_calls_the_retrievers_own_async_function(self):
        class Both(Retriever):
            async def _aget_relevant_documents(self, query, *, run_manager):
                raise NotImplementedError

        assert found(Both()) == ["nothing"]
        assert afound(Both()) == ["async", "nothing"]

    def test_an_async_test_calls_the_sync_function_where_there_is_no_other(self):
        class Sync(WithDepth):
            _aget_relevant_documents = filled_in

        assert afound(Sync()) == ["k=7"]
        assert afound(Wrapper(func=lambda query: None)) == ["nothing"]
        assert afound(Wrapper(first=Sync())) == ["async", "nothing"]

    def test_a_sync_test_calls_the_async_function_where_there_is_no_other(self):
        class Coroutine:
            async def ainvoke(self, input, config=None, **kwargs):
                return told(**kwargs)

        async def function(query, k=3):
            raise NotImplementedError

        assert found(Coroutine()) == ["nothing"]
        assert found(Wrapper(afunc=function)) == ["async", "k=7"]

    def test_params_that_the_sync_function_does_not_take_are_an_error_for_the_async_one_too(self):
        class Both(Retriever):
            async def _aget_relevant_documents(self, query, *, run_manager, k=4):
                raise NotImplementedError

        assert afound(Both()) == ["async", "nothing"]

    def test_another_class_with_an_invoke_has_its_own_signature(self):
        class Own:
            def invoke(self, text, depth, /, lang):
                return told(text=text, depth=depth, lang=lang)

        assert found(Own(), lang="no") == ["text=text", "depth=7", "lang=no"]


class TestLlamaIndex:
    class Retriever:
        similarity_top_k = 2

        def retrieve(self, str_or_query_bundle):
            return [SimpleNamespace(node_id=str_or_query_bundle)]

        async def aretrieve(self, str_or_query_bundle):
            return ["async"]

    def test_sync_and_async_tests_call_the_method_that_fits(self):
        assert found(self.Retriever()) == ["text"]
        assert afound(self.Retriever()) == ["async"]

    def test_params_are_an_error(self):
        problem = found(self.Retriever(), lang="no")
        assert (
            "retrieve(str_or_query_bundle) cannot be called: got an unexpected keyword argument 'lang'"
            in problem
        )
        assert problem.endswith(
            "and the query's params as keyword arguments: give a function that takes them."
        )


class TestHaystack:
    class Component:
        def run(self, filters=None, query="", top_k=None, scale_score=None):
            given = {"query": query, "top_k": top_k}
            return {"documents": told(**given, **({"filters": filters} if filters else {})), "more": 1}

    class AsyncComponent(Component):
        async def run_async(self, query, top_k=None):
            return {"documents": ["async", f"top_k={top_k}"]}

    def test_query_depth_and_params_go_by_name(self):
        assert found(self.Component()) == afound(self.Component()) == ["query=text", "top_k=7"]
        assert found(self.Component(), filters="f") == ["query=text", "top_k=7", "filters=f"]

    def test_sync_and_async_tests_call_the_method_that_fits(self):
        assert found(self.AsyncComponent()) == ["query=text", "top_k=7"]
        assert afound(self.AsyncComponent()) == ["async", "top_k=7"]

    def test_a_supercomponent_takes_the_inputs_of_its_mapping(self):
        class Dynamic:
            def run(self, **kwargs):
                return {"documents": told(**kwargs)}

        class Super(Dynamic):
            def __init__(self, *names):
                self.input_mapping = {name: [f"retriever.{name}"] for name in names}

        assert found(Dynamic(), lang="no") == ["query=text", "lang=no"]
        assert found(Super("top_k", "query")) == ["query=text", "top_k=7"]
        assert found(Super("query")) == ["query=text"]
        assert "unexpected keyword argument 'lang'" in found(Super("query"), lang="no")
        with pytest.raises(RetrievalError, match="Its run takes `text`, and no `query`"):
            found(Super("text"))

    @pytest.mark.parametrize(
        ("run", "words"),
        [
            (
                lambda query_embedding, top_k=None: None,
                "`query_embedding`, `top_k`, and no `query`. Give Haystack's Text",
            ),
            (lambda queries: None, "Its run takes `queries`, and no `query`. Give a function of"),
            (lambda: None, "Its run takes nothing, and no `query`."),
        ],
    )
    def test_a_component_that_takes_no_text_is_explained(self, run, words):
        with pytest.raises(RetrievalError) as error:
            found(SimpleNamespace(run=run))
        assert words in str(error.value)

    def test_a_pipeline_is_explained(self):
        pipeline = SimpleNamespace(run=lambda data: None, add_component=lambda name, instance: None)
        with pytest.raises(RetrievalError, match=r"Of a pipeline, give .*lambda query, k: pipeline\.run\("):
            found(pipeline)

    def test_an_unreadable_run_is_called_as_other_functions_are(self):
        class Run:
            __signature__ = 5

            def __call__(self, query, k):
                return told(query=query, k=k)

        assert found(SimpleNamespace(run=Run())) == ["query=text", "k=7"]


class TestAnyOfThem:
    def test_what_can_be_called_is_called(self):
        class Both(Runnable):
            def __call__(self, query, k):
                return ["called", str(k)]

        assert found(Both()) == afound(Both()) == ["called", "7"]
        assert found(MagicMock(return_value=["called"])) == ["called"]

    def test_an_executor_is_given_the_sync_method(self):
        with ThreadPoolExecutor(1) as executor:
            options = RetrievalOptions(executor=executor)
            assert asyncio.run(aretrieve(query(), Runnable(), options)).run["q"] == ("nothing",)

    @pytest.mark.parametrize("options", [{"concurrency": 3}, {"timeout": 60}, {"repeat": 2}])
    def test_every_option_works(self, options):
        options = RetrievalOptions(depth=7, **options)
        assert result(retrieve(query(), OfVectorStore(), options)) == ["k=7"]
        assert result(asyncio.run(aretrieve(query(), OfVectorStore(), options))) == ["async", "k=7"]

    def test_an_exception_is_the_querys_error(self):
        class Broken:
            def retrieve(self, text):
                raise ConnectionError("engine went away")

        problem = found(Broken())
        assert "raised ConnectionError: engine went away" in problem
        assert "test_frameworks.py:" in problem

    @pytest.mark.parametrize("method", ["invoke", "retrieve", "run"])
    @pytest.mark.parametrize("answer", [None, "doc-1", {"doc-1"}, [0.5], {"context": ["doc-1"]}])
    def test_an_answer_that_is_no_result_is_explained(self, method, answer):
        problem = found(SimpleNamespace(**{method: lambda query: answer}))
        assert "Accepted, best first: ids" in problem

    @pytest.mark.parametrize(
        ("retriever", "words"),
        [
            (SimpleNamespace(as_retriever=list), "It has as_retriever(): give what that returns."),
            (SimpleNamespace(search=list), "It has a method search: give a function that calls it"),
            ("runs/best.trec", "Of a stored run give Run.load(path)."),
            (SimpleNamespace(invoke=5), "Give a callable of (query, k)"),
            (5, "Give a callable of (query, k)"),
            (Retriever, "a class. Give a callable"),
        ],
    )
    def test_an_object_that_is_no_retriever_is_explained(self, retriever, words):
        with pytest.raises(RetrievalError) as error:
            found(retriever)
        assert words in str(error.value)
        for name in ("LangChain", "LlamaIndex", "Haystack", "batched", "a Run"):
            assert name in str(error.value)

    def test_an_async_fixture_that_nobody_awaited_is_explained(self):
        async def coroutine():
            return found

        async def generator():
            yield found

        for made in (coroutine, generator):
            with pytest.raises(RetrievalError, match=r"It was never awaited\. .* asyncio_mode = auto"):
                found(made())
        gc.collect()  # nor does Python warn of it

    def test_an_object_whose_attributes_raise_is_no_retriever(self):
        class Hostile:
            def __getattr__(self, name):
                raise ValueError(name)

        with pytest.raises(RetrievalError, match="Give a callable"):
            found(Hostile())

    @pytest.mark.parametrize(
        ("retriever", "advice"),
        [
            (
                TestLlamaIndex.Retriever(),
                "Its retriever, Retriever, has a depth of its own: set its similarity_top_k.",
            ),
            (
                Retriever(),
                "Its retriever, Retriever, has a depth of its own: set it where the retriever is made.",
            ),
            (
                Wrapper(first=OfVectorStore()),
                'Its retriever, the chain\'s first step, OfVectorStore, has a depth of its own: set its search_kwargs={"k": …}.',
            ),
            (
                type("Own", (Retriever,), {"k": 4})(),
                "Its retriever, Own, has a depth of its own: set its k.",
            ),
            (WithDepth(), None),
            (OfVectorStore(), None),
            (TestHaystack.Component(), None),
            (lambda query: ["a"], None),
        ],
    )
    def test_the_advice_says_where_the_depth_is_set(self, retriever, advice):
        assert retrieve(query(), retriever).depth_advice == advice


def test_a_note_names_the_frameworks_own_depth():
    from pytest_irmetrics import GoldenSet, evaluate

    golden = GoldenSet.from_judgments(
        {"q": {"text": 1}, "other": {"other": 1}}, texts={"q": "text", "other": "other"}
    )
    (note,) = on_evaluation(evaluate(golden, TestLlamaIndex.Retriever()), {})
    assert note == (
        "No query got the 10 results that were asked for; the longest answer has 1. "
        "Its retriever, Retriever, has a depth of its own: set its similarity_top_k."
    )
