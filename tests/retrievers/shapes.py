"""Objects in the shapes in which clients of engines and frameworks return results, for the expressions of the tables."""

# ruff: noqa: F401, ICN001 - what expressions use
from __future__ import annotations

import sqlite3
from array import array
from collections import OrderedDict, UserDict, deque, namedtuple
from collections.abc import Mapping, Sequence
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from itertools import count
from pathlib import Path
from unittest.mock import Mock
from uuid import UUID

import numpy

Hit = namedtuple("Hit", "id score title")  # noqa: PYI024 - as user code has them
Scored = namedtuple("Scored", "doc score")  # noqa: PYI024 - as above
Color = Enum("Color", {"RED": "red"}, type=str)
B, A = UUID(int=2), UUID(int=1)
FAULTS = Path(__file__).parents[1] / "faults"


def rows(path):
    """The rows of a table: an expression, an arrow, and what comes of it; `#` begins a comment."""
    return [row for table in tables(path) for row in table]


def tables(path):
    """The tables of a file, with a blank line between them."""
    parts = Path(path).read_text(encoding="utf-8").split("\n\n")
    lines = [[line for line in part.splitlines() if line and not line.startswith("#")] for part in parts]
    return [[tuple(f"{line} ".rsplit(" → ", 1)) for line in table] for table in lines]


ENGINES, ENGINES_IN_PART = tables(Path(__file__).with_name("engine_answers.txt"))
REFUSED = [*rows(FAULTS / "refused_answers.txt"), *ENGINES_IN_PART]


def value(expression):
    return eval(expression, globals())


class Document:
    def __init__(self, **attributes):
        self.__dict__.update(attributes)


class Row(Sequence):
    """A row of a database client that is no tuple."""

    def __init__(self, *values):
        self.values = values

    def __len__(self):
        return len(self.values)

    def __getitem__(self, place):
        return self.values[place]


class Hits(list):
    """As pymilvus' SearchResult and HybridHits."""


class Response:
    """As elasticsearch's ObjectApiResponse: no mapping, and iterates as its body's keys."""

    def __init__(self, body):
        self.body = body

    def __iter__(self):
        return iter(self.body)

    def __getitem__(self, key):
        return self.body[key]


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


class PineconeHit:
    """As pinecone's: its keys are those of the wire, and `id` is a property."""

    def __init__(self, doc):
        self.id = self.id_ = doc

    def keys(self):
        return ["id_", "score_"]

    def __getitem__(self, key):
        return getattr(self, key)


class Solr(Document):
    """As pysolr's Results."""

    def __iter__(self):
        return iter(self.raw_response["response"]["docs"])


class Frame:
    """A data frame that is neither pandas' nor Polars'."""

    def __init__(self, **columns):
        self.values, self.columns = columns, tuple(columns)

    def iter_rows(self):
        raise AssertionError

    def __getitem__(self, name):
        return self.values[name]


class Asynchronous:
    """A cursor that can only be read with `async for`."""

    def __aiter__(self):
        raise AssertionError


async def asynchronous_generator():
    yield "a"


class Liar:
    @property
    def __class__(self):
        raise ValueError("no class")


class Hostile:
    def __repr__(self):
        raise RuntimeError("no repr")

    def __getattr__(self, name):
        raise ValueError("no attribute")

    def __iter__(self):
        raise ZeroDivisionError


class HostileMapping(Mapping):
    def __getitem__(self, key):
        raise ValueError(key)

    def __iter__(self):
        return iter(["root"])

    def __len__(self):
        return 1


class Loud:
    def __repr__(self):
        return "\x1b[31m\n::error::\u202e" * 1000


def made(name="Made", **methods):
    """An object of a class with these methods, and of this name."""
    return type(name, (), methods)()


def sql(columns, row=None):
    """A cursor over two rows of SQLite."""
    connection = sqlite3.connect(":memory:", check_same_thread=False)
    connection.row_factory = row
    connection.execute("create table docs (id text, name text, score real)")
    connection.execute("insert into docs values ('b', 'B', 0.9), ('a', 'A', 0.1)")
    return connection.execute(f"select {columns} from docs order by score desc")


def hits(*documents, **more):
    found = [{"_id": doc, "_score": number} for number, doc in enumerate(documents)]
    return {"took": 3, "timed_out": False, "hits": {"total": 9, "hits": found}, **more}


def chroma(*columns, **more):
    columns = [list(column) for column in columns]
    return {"ids": columns, "embeddings": None, "documents": None, "metadatas": None, "included": [], **more}


def milvus(*columns):
    return Hits(Hits({"id": doc, "distance": 0.5, "entity": {}} for doc in column) for column in columns)


def solr(*documents, **header):
    found = {"numFound": 9, "start": 0, "docs": [{"id": doc} for doc in documents]}
    return {"responseHeader": {"status": 0, "QTime": 1, **header}, "response": found}


def vespa(*documents, degraded=None, **more):
    coverage = {"coverage": 100, "full": True, **({"degraded": degraded} if degraded else {})}
    root = {"id": "toplevel", "fields": {"totalCount": 9}, "coverage": coverage, **more}
    if documents:
        root["children"] = [{"id": doc, "relevance": 0.1, "fields": {}} for doc in documents]
    return {"root": root}


def azure(*documents, **more):
    found = [{"@search.score": 1.5, "id": doc} for doc in documents]
    return {"@odata.context": "https://x/$metadata#docs(*)", "value": found, **more}


def redis3(*documents, warning=()):
    found = [{"id": doc, "extra_attributes": {}, "values": []} for doc in documents]
    return {"attributes": [], "warning": list(warning), "total_results": 9, "results": found}


def matches(*documents, namespace=""):
    found = [{"id": doc, "score": 0.1 * number} for number, doc in enumerate(documents)]
    return {"matches": found, "namespace": namespace, "usage": {"readUnits": 5}}


def objects(*uuids):
    return [Document(uuid=uuid, properties={"title": "T"}, references=None) for uuid in uuids]


def documents(*ids, **more):
    return [Document(id=doc, **more) for doc in ids]


FIELDS = [{"doc": "doc-9"}, {"doc": "doc-12"}]


def fielded(name):
    return [{name: doc, **fields} for doc, fields in zip("ba", FIELDS, strict=True)]


def holding(items, name):
    for item, fields in zip(items, FIELDS, strict=True):
        setattr(item, name, fields)
    return items
