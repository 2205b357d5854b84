"""Answers as search engines return them, values whose attributes raise, and an executor that counts calls."""

from __future__ import annotations

from concurrent.futures import Executor, Future


class Hostile:
    def __repr__(self):
        raise RuntimeError("no repr")

    def __getattr__(self, name):
        raise ValueError("no attribute")

    def __iter__(self):
        raise ZeroDivisionError


HOSTILE = Hostile()


class Document:
    def __init__(self, **attributes):
        self.__dict__.update(attributes)


class Dsl:
    """As the Response of elasticsearch.dsl and opensearchpy."""

    def __init__(self, body):
        self._body = body

    @property
    def hits(self):
        return [Document(meta=hit) for hit in self._body["hits"]["hits"]]

    def to_dict(self):
        return self._body

    def __iter__(self):
        return iter(self.hits)


class Response:
    """As elasticsearch's ObjectApiResponse: no mapping, and iterates as its body's keys."""

    def __init__(self, body):
        self.body = body

    def __iter__(self):
        return iter(self.body)

    def __getitem__(self, key):
        return self.body[key]


def hits(*documents, **more):
    return {
        "took": 3,
        "timed_out": False,
        "hits": {"total": 9, "hits": [{"_id": d, "_score": 1} for d in documents]},
        **more,
    }


class CountingExecutor(Executor):
    """Makes the calls at once, and notes how many came in one chunk."""

    def __init__(self):
        self.chunks = []

    def submit(self, fn, /, *args, **kwargs):
        future = Future()
        future.set_result(fn(*args, **kwargs))
        self.chunks.append(len(future.result()))
        return future
