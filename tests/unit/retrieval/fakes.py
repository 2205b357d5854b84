"""Answers as search engines and frameworks give them, and values that break when they are shown."""

from __future__ import annotations


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
