"""Objects in the shapes of LangChain, LlamaIndex and Haystack, which return what they were given as ids."""

# ruff: noqa: A002, ARG001, ARG002 - retrievers take what they are given
from __future__ import annotations

from tests.retrievers.shapes import Document, documents


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


class OfVectorStore(Runnable):
    def __init__(self):
        self.search_kwargs = {"k": 50}


class Fixed(Runnable):
    """Has a depth of its own, and gives the text that it was asked."""

    limit = 5

    def invoke(self, input, config=None):
        return [input]


async def filled_in(self, query, *, run_manager):
    raise NotImplementedError


filled_in.__module__ = "langchain_core.retrievers"


class FilledIn(Runnable):
    """As a retriever of LangChain's that is sync alone."""

    _aget_relevant_documents = filled_in


class WithDepth:
    def invoke(self, input, config=None, *, k=4, lang="en"):
        return told(k=k, lang=lang)


class LlamaIndex:
    similarity_top_k = 2

    def retrieve(self, str_or_query_bundle):
        return [Document(node_id=str_or_query_bundle)]

    async def aretrieve(self, str_or_query_bundle):
        return ["async"]


class Haystack:
    top_k = 3

    def run(self, filters=None, query="", top_k=None, scale_score=None):
        given = {"query": query, "top_k": top_k, **({"filters": filters} if filters else {})}
        return {"documents": documents(*told(**given)), "more": 1}

    async def run_async(self, filters=None, query="", top_k=None):
        return {"documents": documents("async", f"top_k={top_k}")}


class Async:
    """The async half of a framework's object alone."""

    def __init__(self, name, method):
        setattr(self, name, method)


class Called(Runnable):
    def __call__(self, query, k):
        return ["called", str(k)]


async def ainvoke(input, config=None, **kwargs):
    return told(**kwargs)
