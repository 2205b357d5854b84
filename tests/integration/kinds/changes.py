"""Changes of the engine with a known cause: mechanical faults, each with the sign that it must show, and ordinary variants."""

from __future__ import annotations

import random
import re
import zlib
from typing import NamedTuple
from urllib.parse import quote

from tests.integration.kinds.engine import Engine, rules

ENGINE = Engine()
STRICT = Engine(operator=" AND ")
"""All words of a query must be in a rule: few results, and many short answers."""
SIZE = 10


def ask_all(engine, queries, size=SIZE):
    return [engine.search(query["query"], size, **query["params"]) for query in queries]


class Change(NamedTuple):
    """A change: how the answers of a golden set are made before and after it, and what may be said of it."""

    answers: object
    """A function of queries, which returns today's answers in their order."""
    says: tuple = ()
    """The kinds of which one must be named; none where no sign may be."""
    engine: Engine = ENGINE
    """What answered before."""
    silent: bool = False
    """Whether saying nothing of a sign is right as well: not every golden set shows it."""
    shown_as: object = None
    """How the golden set and the answers before write ids, if not as the engine does."""


def path(code):
    """An id as a site has it, with characters that a URL encodes."""
    return f"rules/{code.rstrip('0123456789')} {code.lstrip('ABCDEFGHIJKLMNOPQRSTUVWXYZ')}"


def engine_change(says=(), base=ENGINE, *, silent=False, **changes):
    return Change(lambda queries: ask_all(base.but(**changes), queries), says, base, silent)


def per_answer(change, says, base=ENGINE, *, silent=False):
    """A change of each answer by itself: a function of query and answer."""
    return Change(
        lambda queries: [change(q, a) for q, a in zip(queries, ask_all(base, queries), strict=True)],
        says,
        base,
        silent,
    )


def per_id(change, says):
    return per_answer(lambda _, answer: [change(code) for code in answer], says)


def index_from_one(queries):
    return [answer[1:] for answer in ask_all(ENGINE, queries, SIZE + 1)]


def page_two(base):
    return lambda queries: [base.search(q["query"], SIZE, offset=SIZE, **q["params"]) for q in queries]


def previous_answer(queries):
    answers = ask_all(ENGINE, queries)
    return [answers[-1], *answers[:-1]]


def sorted_by_text(queries):
    """Results that were put together in the order of the queries' texts."""
    answers = ask_all(ENGINE, queries)
    order = sorted(range(len(queries)), key=lambda place: queries[place]["query"])
    return [answers[place] for place in order]


def cache_by_first_word(queries):
    """A cache of which the key is cut, warmed by the queries of the day before."""
    cache = {}
    for query, answer in zip(queries, ask_all(ENGINE, queries), strict=True):
        cache.setdefault(query["query"][:3].lower(), answer)
    return [cache[query["query"][:3].lower()] for query in queries]


def text_lost(queries):
    return [ENGINE.search("function", SIZE)] * len(queries)


def params_ignored(queries):
    return [ENGINE.search(query["query"], SIZE) for query in queries]


def filter_by_wrong_case(queries):
    return [
        [] if query["params"] else answer
        for query, answer in zip(queries, ask_all(ENGINE, queries), strict=True)
    ]


def tag_empty(tag):
    return per_answer(
        lambda query, answer: [] if tag in query["tags"] else answer, ("fewer_results",), silent=True
    )


def names():
    return {rule.code: rule.name for rule in rules()[0]}


def kept_share(share):
    """Scores below a share of the best are left out: another length for each query."""

    def shorten(query, answer):
        return answer[: max(1, zlib.crc32(query["query"].encode()) % (share + 1))]

    return shorten


def random_codes(queries):
    """The nearest neighbours of vectors that another model made."""
    codes = sorted(names())
    return [random.Random(query["query"]).sample(codes, SIZE) for query in queries]


def words_of(query):
    return re.findall(r"[^\W_]+", query["query"])


FAULTS = {
    # Places.
    "the index of results begins at 1": Change(index_from_one, ("began_late",)),
    "the first of ten results is dropped": per_answer(lambda _, a: a[1:], ("began_late",)),
    "the first of few results is dropped": per_answer(lambda _, a: a[1:], ("fewer_results",), STRICT),
    "the first two are taken for a header": per_answer(lambda _, a: a[2:], ("began_late",)),
    "page 2 of a large index": Change(page_two(ENGINE), ("nothing_shared",)),
    "page 2 of short answers": Change(page_two(STRICT), ("nothing_returned",), STRICT),
    "results put in backwards": per_answer(lambda _, a: a[::-1], ("reversed",)),
    "the sort is the wrong way round": engine_change(("nothing_shared", "reversed"), order="score DESC, id"),
    "the sort is the wrong way round, few match": engine_change(
        ("reversed",), STRICT, silent=True, order="score DESC, id"
    ),
    "results are not sorted": engine_change(("nothing_shared",), silent=True, order="place"),
    "results are sorted by id": engine_change((), order="id"),
    "the newest come first": engine_change(("nothing_shared",), silent=True, order="place DESC"),
    "all words must match": engine_change(("ended_early",), operator=" AND "),
    "the first ten are sorted by id": per_answer(lambda _, a: sorted(a), ("reordered",)),
    "the first ten are shuffled": per_answer(
        lambda q, a: random.Random(q["id"]).sample(a, len(a)), ("reordered",)
    ),
    # Lengths.
    "five results are asked for": per_answer(lambda _, a: a[:5], ("ended_early",)),
    "one result is asked for": per_answer(lambda _, a: a[:1], ("ended_early",)),
    "a minimum score": per_answer(kept_share(9), ("ended_early",)),
    # Queries.
    "the answer of the query before": Change(previous_answer, ("other_query",)),
    "results put together in another order": Change(sorted_by_text, ("other_query",)),
    "a cache whose key is cut": Change(cache_by_first_word, ("other_query",), silent=True),
    "the text is not passed": Change(text_lost, ("same_answer",)),
    "nothing is found": per_answer(lambda *_: [], ("nothing_returned",)),
    "security comes back empty": tag_empty("security"),
    # Ids.
    "ids in lower case": per_id(str.lower, ("ids_respelt",)),
    "ids with a prefix": per_id(lambda i: f"ruff/{i}", ("ids_respelt",)),
    "ids with a chunk's number": per_id(lambda i: f"{i}#0", ("ids_respelt",)),
    "ids as links": per_id(lambda i: f"https://docs.astral.sh/rules/{i}/", ("ids_respelt",)),
    "ids with zeros": per_id(lambda i: re.sub(r"(\d+)", r"00\1", i), ("ids_respelt",)),
    "ids encoded for a URL": Change(
        lambda queries: [[quote(path(i), safe="") for i in answer] for answer in ask_all(ENGINE, queries)],
        ("ids_respelt",),
        shown_as=path,
    ),
    # Documents.
    "an advertisement comes first": per_answer(lambda _, a: ["AD1", *a][:SIZE], ()),
    "security is not in the index": engine_change(
        ("lost_before_ranking",), silent=True, keep=lambda rule, _: not re.match(r"S\d", rule.code)
    ),
    "a third of the index is lost": engine_change(
        ("lost_before_ranking",), keep=lambda rule, _: zlib.crc32(rule.code.encode()) % 3
    ),
    "other vectors": Change(random_codes, ("nothing_shared",)),
}

FAULTS |= {
    "special characters break a query": per_answer(
        lambda q, a: [] if re.search(r"[^\w\s]", q["query"]) else a, ("fewer_results",), silent=True
    ),
    "long queries time out": per_answer(
        lambda q, a: [] if len(words_of(q)) > 4 else a, ("fewer_results",), silent=True
    ),
    "a shard answers late": per_answer(
        lambda q, a: [code for code in a if zlib.crc32((q["id"] + code).encode()) % 3],
        ("fewer_results", "lost_before_ranking"),
    ),
    "nine results are asked for": per_answer(lambda _, a: a[:9], ("ended_early",), silent=True),
    "a boost with the wrong sign": engine_change((), weights=(-10.0, 5.0, 1.0), silent=True),
    "the order of ids without the best": per_answer(lambda _, a: sorted(a[1:]), ()),
    "lower case, and the first is dropped": per_answer(
        lambda _, a: [code.lower() for code in a[1:]], ("ids_respelt",)
    ),
}

PARAM_FAULTS = {
    "params are ignored": Change(params_ignored, ()),
    "the filter never matches": Change(filter_by_wrong_case, ("fewer_results",)),
}


def synonyms(words):
    also = {
        "unused": "unnecessary",
        "exception": "raise",
        "string": "str",
        "function": "def",
        "import": "module",
    }
    return [*words, *(also[word] for word in words if word in also)]


def top_three_by_name(_, answer):
    return [*sorted(answer[:3], key=lambda code: len(names()[code])), *answer[3:]]


def fused(queries):
    """Two engines' ranks, put together (reciprocal rank fusion)."""
    fused_answers = []
    for query in queries:
        score = {}
        for engine in (ENGINE, ENGINE.but(tokenizer="trigram")):
            for rank, code in enumerate(engine.search(query["query"], 50, **query["params"])):
                score[code] = score.get(code, 0) + 1 / (60 + rank)
        fused_answers.append(sorted(score, key=lambda code: (-score[code], code))[:SIZE])
    return fused_answers


def one_of_a_family(query, _):
    """At most two rules of a linter."""
    count, kept = {}, []
    for code in ENGINE.search(query["query"], 40, **query["params"]):
        family = code.rstrip("0123456789")
        count[family] = count.get(family, 0) + 1
        if count[family] <= 2:
            kept.append(code)
    return kept[:SIZE]


def grown(rule, _):
    """What was in the index before it grew by half."""
    return zlib.crc32(rule.name.encode()) % 3


VARIANTS = {
    "weights 1, 1, 1": engine_change(weights=(1.0, 1.0, 1.0)),
    "weights 1, 1, 10": engine_change(weights=(1.0, 1.0, 10.0)),
    "weights 12, 5, 1": engine_change(weights=(12.0, 5.0, 1.0)),
    "name boosted": engine_change(weights=(50.0, 5.0, 1.0)),
    "names alone": engine_change(weights=(1.0, 0.0, 0.0)),
    "no stemming": engine_change(tokenizer="unicode61"),
    "trigrams": engine_change(tokenizer="trigram"),
    "stop words kept": engine_change(stop_words=False),
    "synonyms": engine_change(words=synonyms),
    "prefixes match": engine_change(prefixes=True),
    "the first three reranked": per_answer(top_three_by_name, ()),
    "new rules first": engine_change(bonus=lambda rule: 2.0 * rule.code.startswith(("RUF", "FURB"))),
    "short rules first": engine_change(bonus=lambda rule: 500 / (200 + len(rule.explanation))),
    "explanations cut": engine_change(explanation_length=200),
    "no explanations": engine_change(columns=("name", "message")),
    "no messages": engine_change(columns=("name", "explanation")),
    "no names": engine_change(columns=("message", "explanation")),
    "two engines fused": Change(fused),
    "the index grew by half": Change(lambda queries: ask_all(ENGINE, queries), (), ENGINE.but(keep=grown)),
    "two of a family": per_answer(one_of_a_family, ("lost_before_ranking",)),
    "strict, no stemming": engine_change(("fewer_results",), STRICT, silent=True, tokenizer="unicode61"),
    "strict, weights": engine_change((), STRICT, weights=(1.0, 1.0, 1.0)),
    "strict, any word": engine_change((), STRICT, operator=" OR "),
}
