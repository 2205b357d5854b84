"""Changes of other engines that teams make, with what may be said of each: written before any sign was tried on them.

Of an ordinary change, of text analysis, scoring or a model, no cause may be named; of a loss the sign that tells it, or none.
"""

from __future__ import annotations

from tests.integration.kinds.changes import Change, ask_all, synonyms
from tests.integration.kinds.other_engines import (
    Pipeline,
    by_bm25s,
    by_code,
    by_tantivy,
    by_vectors,
    chunks_of,
    decayed,
    fused,
    hashed,
    in_eight_bits,
    latent,
    share,
    signs_alone,
    trained,
    words_of,
    worst_first,
)

LOST, FEWER, ENDED = "lost_before_ranking", "fewer_results", "ended_early"


def change(before, now, *says):
    """From one search to another; none of `says`: no cause may be named."""
    before, now = (side if isinstance(side, Pipeline) else Pipeline(side) for side in (before, now))
    return Change(lambda queries: ask_all(now, queries), says, before, silent=True)


def part(parts, without=0):
    """All rules but those of one of so many parts."""
    return lambda rule, _: share(rule.code, parts) != without


def first(count):
    return lambda _, place: place < count


def by_name_alone(query, found):
    """A reranker that looks at names."""
    asked = {*words_of(query)}
    return sorted(found, key=lambda code: -len(asked & {*words_of(by_code()[code].name.replace("-", " "))}))


def by_meaning(query, found):
    """A reranker that looks at vectors."""
    place = {code: rank for rank, code in enumerate(NEAREST(query))}
    return sorted(found, key=lambda code: place.get(code, len(place)))


TEXT = by_tantivy()
WORDS = by_bm25s()
CHUNKS = by_bm25s(lambda rule: chunks_of(rule, 60))
NEAREST = by_vectors()
BOTH = fused(TEXT, NEAREST)
SEEN = Pipeline(TEXT, before=lambda rule: share(rule.name, 3) > 0)
RERANKED = Pipeline(TEXT, drawn=50, rerank=by_meaning)


TANTIVY = {
    "no stemming": change(TEXT, by_tantivy("words")),
    "trigrams": change(TEXT, by_tantivy("trigrams")),
    "synonyms": change(TEXT, by_tantivy(expand=synonyms)),
    "names count as much": change(TEXT, by_tantivy(boosts=(1.0, 1.0, 1.0))),
    "explanations count most": change(TEXT, by_tantivy(boosts=(1.0, 1.0, 5.0))),
    "messages are not searched": change(TEXT, by_tantivy(fields=("name", "explanation"))),
    "explanations are not searched": change(TEXT, by_tantivy(fields=("name", "message"))),
    "all words must match": change(TEXT, by_tantivy(conjunction_by_default=True), ENDED, FEWER),
    "typing errors are forgiven": change(
        TEXT, by_tantivy(fuzzy_fields=dict.fromkeys(("name", "message", "explanation"), (False, 1, True)))
    ),
    "the filter comes after the first ten": change(
        SEEN, Pipeline(TEXT, drawn=10, after=SEEN.before), ENDED, FEWER
    ),
    "what came in this month is not indexed": change(TEXT, by_tantivy(indexed=part(5)), LOST),
    "the load broke off": change(TEXT, by_tantivy(indexed=first(650)), LOST),
    "one of four shards is missing": change(TEXT, by_tantivy(indexed=part(4)), LOST),
    "the filter hides a tenth": change(TEXT, Pipeline(TEXT, before=lambda r: share(r.name, 10) > 0), LOST),
}
BM25S = {
    "another BM25": change(WORDS, by_bm25s(method="bm25l", delta=0.5)),
    "k1": change(WORDS, by_bm25s(k1=0.3)),
    "b": change(WORDS, by_bm25s(b=0.0)),
    "stop words are searched": change(WORDS, by_bm25s(words=lambda text: words_of(text, stop=False))),
    "words cut at five letters": change(WORDS, by_bm25s(words=lambda t: [word[:5] for word in words_of(t)])),
    "smaller chunks": change(CHUNKS, by_bm25s(lambda rule: chunks_of(rule, 20))),
    "chunks in place of texts": change(WORDS, CHUNKS),
    "the first chunk alone": change(CHUNKS, by_bm25s(lambda rule: chunks_of(rule, 60)[:1])),
    "ten chunks are drawn": change(
        CHUNKS, by_bm25s(lambda rule: chunks_of(rule, 60), drawn=10), ENDED, FEWER
    ),
    "a quarter was deleted": change(WORDS, by_bm25s(indexed=part(4, 1)), LOST),
}
VECTORS = {
    "fewer dimensions": change(NEAREST, by_vectors(latent(30))),
    "more dimensions": change(NEAREST, by_vectors(latent(300))),
    "another model": change(NEAREST, by_vectors(hashed), "nothing_shared"),
    "queries by another model": change(NEAREST, by_vectors(asks=latent(seed=3)), "nothing_shared"),
    "vectors as they are": change(NEAREST, by_vectors(latent(normal=False))),
    "product quantisation": change(NEAREST, by_vectors(build=trained("PQ20x4"))),
    "four bits": change(NEAREST, by_vectors(build=trained("SQ4"))),
    "eight bits": change(NEAREST, by_vectors(build=in_eight_bits)),
    "signs alone": change(NEAREST, by_vectors(build=signs_alone)),
    "one cell is looked at": change(NEAREST, by_vectors(build=trained("IVF30,Flat", nprobe=1)), LOST),
    "four cells are looked at": change(NEAREST, by_vectors(build=trained("IVF30,Flat", nprobe=4)), LOST),
    "a narrow search of a small graph": change(
        NEAREST, by_vectors(build=trained("HNSW4", efSearch=10, efConstruction=10), size=10), LOST
    ),
    "the sort is the wrong way round": change(NEAREST, by_vectors(build=worst_first), "nothing_shared"),
    "a third has no vector yet": change(NEAREST, by_vectors(indexed=part(3)), LOST),
    "queries cut to two words": change(NEAREST, by_vectors(words=lambda words: words[:2])),
}
TOGETHER = {
    "the words' leg is lost": change(BOTH, fused(NEAREST), LOST),
    "the vectors' leg is lost": change(BOTH, fused(TEXT), LOST),
    "a leg is late for a third": change(BOTH, fused(TEXT, NEAREST, lost=lambda query: share(query, 3)), LOST),
    "ranks count otherwise": change(BOTH, fused(TEXT, NEAREST, k=1)),
    "legs of ten": change(BOTH, fused(TEXT, NEAREST, depth=10), LOST),
    "fifteen are reranked": change(RERANKED, RERANKED.but(drawn=15), LOST),
    "ten are reranked": change(RERANKED, RERANKED.but(drawn=10), LOST),
    "nothing is reranked": change(RERANKED, RERANKED.but(rerank=None)),
    "another reranker": change(RERANKED, RERANKED.but(rerank=by_name_alone)),
    "one of those that begin alike": change(
        TEXT, Pipeline(TEXT, one_of=lambda rule: rule.name.split("-")[0]), LOST
    ),
    "one of a linter": change(TEXT, Pipeline(TEXT, one_of=lambda rule: rule.linter), LOST, FEWER),
    "the newest count more": change(TEXT, decayed(TEXT, 700, weight=0.5)),
    "the newest count most": change(TEXT, decayed(TEXT, 60)),
}
OTHERS = {
    f"{engine}: {title}": one
    for engine, changes in (
        ("Tantivy", TANTIVY),
        ("bm25s", BM25S),
        ("vectors", VECTORS),
        ("together", TOGETHER),
    )
    for title, one in changes.items()
}
