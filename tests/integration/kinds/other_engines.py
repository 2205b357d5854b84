"""Other engines over the same corpus, whose parts can be changed: Tantivy, bm25s over texts and chunks, vectors in FAISS and usearch.

An engine is a function from a query's text to the codes of the rules that it finds, best first; `Pipeline` makes a search of it.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache

from tests.integration.kinds.engine import rules
from tests.integration.packages import need

np, tantivy, bm25s, faiss = need("numpy"), need("tantivy"), need("bm25s"), need("faiss")
usearch = need("usearch.index")

Find = Callable[[str], Sequence[str]]
ALL = 1000
"""More than there are rules."""


@cache
def by_code():
    return {rule.code: rule for rule in rules()[0]}


def share(text, parts):
    """A number below `parts`, the same on every machine: who is in which part."""
    return zlib.crc32(text.encode()) % parts


def words_of(text, *, stop=True):
    words = re.findall(r"[^\W_]+", text.lower())
    return [word for word in words if not (stop and word in rules()[1])]


def texts_of(rule):
    return {"name": f"{rule.code} {rule.name}", "message": rule.message, "explanation": rule.explanation}


@dataclass(frozen=True)
class Pipeline:
    """What stands around an engine: a filter before or after it, how deep is drawn, a second ranking, what is left out."""

    find: Find
    before: Callable | None = None
    """Which rules may be found, before the first results are drawn."""
    drawn: int = ALL
    after: Callable | None = None
    """Which rules are left of what was drawn."""
    rerank: Callable | None = None
    """A function of the query and what is left, which returns it in another order."""
    one_of: Callable | None = None
    """Of which groups one rule each is kept."""

    def search(self, query, size, *, linter=None):
        found = [c for c in self.find(query) if linter in (None, by_code()[c].linter)]
        found = [c for c in found if self.before is None or self.before(by_code()[c])][: self.drawn]
        found = [c for c in found if self.after is None or self.after(by_code()[c])]
        if self.rerank is not None:
            found = self.rerank(query, found)
        if self.one_of is not None:
            best = {}
            for code in found:
                best.setdefault(self.one_of(by_code()[code]), code)
            found = [*best.values()]
        return found[:size]

    def but(self, **changes):
        return replace(self, **changes)


# Tantivy ---------------------------------------------------------------------------------------------------


def _analyser(name):
    tokenizers, filters = tantivy.Tokenizer, tantivy.Filter
    if name == "trigrams":
        return (
            tantivy.TextAnalyzerBuilder(tokenizers.ngram(3, 3, prefix_only=False))
            .filter(filters.lowercase())
            .build()
        )
    builder = tantivy.TextAnalyzerBuilder(tokenizers.simple()).filter(filters.lowercase())
    return (builder.filter(filters.stemmer("english")) if name == "stems" else builder).build()


@lru_cache(maxsize=64)
def _tantivy_index(analyser, indexed):
    schema = tantivy.SchemaBuilder().add_text_field("code", stored=True, tokenizer_name="raw")
    for field in ("name", "message", "explanation"):
        schema = schema.add_text_field(field, tokenizer_name="own")
    index = tantivy.Index(schema.build())
    index.register_tokenizer("own", _analyser(analyser))
    writer = index.writer(heap_size=15_000_000, num_threads=1)
    for place, rule in enumerate(rules()[0]):
        if indexed is None or indexed(rule, place):
            writer.add_document(tantivy.Document(code=rule.code, **texts_of(rule)))
    writer.commit()
    writer.wait_merging_threads()
    index.reload()
    return index


def by_tantivy(
    analyser="stems",
    indexed=None,
    boosts=(4.0, 2.0, 1.0),
    fields=("name", "message", "explanation"),
    expand=None,
    **asked,
):
    """An inverted index with BM25. `asked` is what its query parser takes besides."""

    @cache
    def find(query):
        index = _tantivy_index(analyser, indexed)
        words = words_of(query)
        words = words if expand is None else expand(words)
        weights = dict(zip(("name", "message", "explanation"), boosts, strict=True))
        parsed = index.parse_query(
            " ".join(words), list(fields), field_boosts={name: weights[name] for name in fields}, **asked
        )
        searcher = index.searcher()
        hits = [
            (-score, searcher.doc(address)["code"][0]) for score, address in searcher.search(parsed, ALL).hits
        ]
        return [code for _, code in sorted(hits)]

    return find


# bm25s -----------------------------------------------------------------------------------------------------


def chunks_of(rule, size):
    words = words_of(" ".join(texts_of(rule).values()), stop=False)
    size = size or len(words)
    return [words[start : start + size] for start in range(0, len(words), size)]


def by_bm25s(cut=lambda rule: chunks_of(rule, 0)[:1], drawn=10 * ALL, words=words_of, indexed=None, **how):
    """BM25 in NumPy over what `cut` makes of each rule, of which the best one counts; so many chunks are `drawn`."""

    @cache
    def index():
        parts = [
            (rule.code, words(" ".join(part)))
            for place, rule in enumerate(rules()[0])
            if indexed is None or indexed(rule, place)
            for part in cut(rule)
        ]
        found = bm25s.BM25(**{"method": "lucene", "k1": 1.2, "b": 0.75, **how})
        found.index([part for _, part in parts], show_progress=False)
        return found, [code for code, _ in parts]

    @cache
    def find(query):
        engine, codes = index()
        scores = engine.get_scores([word for word in words(query) if word in engine.vocab_dict] or [""])
        best = [place for place in np.argsort(-scores, kind="stable")[:drawn] if scores[place] > 0]
        return list(dict.fromkeys(codes[place] for place in best))

    return find


# Vectors ---------------------------------------------------------------------------------------------------


@cache
def _terms():
    texts = [words_of(" ".join(texts_of(rule).values())) for rule in rules()[0]]
    known = sorted({word for text in texts for word in text})
    place = {word: number for number, word in enumerate(known)}
    counts = np.zeros((len(texts), len(known)), dtype=np.float32)
    for row, text in enumerate(texts):
        for word in text:
            counts[row, place[word]] += 1
    rarity = np.log(len(texts) / np.count_nonzero(counts, axis=0)).astype(np.float32)
    return place, rarity, np.log1p(counts) * rarity


@cache
def _latent():
    """Latent semantic analysis: the largest directions first, and what turns words into them."""
    weights = _terms()[2]
    sizes, left = np.linalg.eigh(weights @ weights.T)
    return (weights.T @ left[:, ::-1][:, :300]) / np.sqrt(np.maximum(sizes[::-1][:300], 1e-6))


@cache
def latent(size=200, *, seed=None, normal=True):
    """A model: texts → vectors. With a seed it is another one, whose vectors mean nothing to the first."""
    way = _latent()[:, :size]
    if seed is not None:
        way = way @ np.linalg.qr(np.random.default_rng(seed).standard_normal((size, size)))[0].astype(
            way.dtype
        )

    def embed(texts):
        place, rarity, _ = _terms()
        rows = np.zeros((len(texts), len(place)), dtype=np.float32)
        for row, text in enumerate(texts):
            for word in words_of(text):
                if word in place:
                    rows[row, place[word]] += 1
        vectors = (np.log1p(rows) * rarity) @ way
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        return np.ascontiguousarray(
            vectors / np.maximum(lengths, 1e-9) if normal else vectors, dtype=np.float32
        )

    return embed


def hashed(texts):
    """Another model, of hashed words and the letters in them, of the same size."""
    rows = np.zeros((len(texts), 200), dtype=np.float32)
    for row, text in enumerate(texts):
        for word in words_of(text):
            for part in {word, *(f"_{word}_"[at : at + 4] for at in range(max(1, len(word) - 1)))}:
                number = zlib.crc32(part.encode())
                rows[row, number % 200] += 1 if number & 0x10000 else -1
    return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)


@cache
def embedded(model):
    return model([" ".join(texts_of(rule).values()) for rule in rules()[0]])


def flat(vectors):
    index = faiss.IndexFlatIP(vectors.shape[1])
    index.add(vectors)
    return lambda asked, size: index.search(asked, size)[1]


def trained(description, **settings):
    """What FAISS's factory makes of a description, with settings of the finished index."""

    def build(vectors):
        index = faiss.index_factory(vectors.shape[1], description, faiss.METRIC_INNER_PRODUCT)
        index.train(vectors)
        index.add(vectors)
        for name, value in settings.items():
            holder = index.hnsw if name.startswith("ef") else index
            setattr(holder, name, value)
        return lambda asked, size: index.search(asked, size)[1]

    return build


def in_eight_bits(vectors):
    index = usearch.Index(ndim=vectors.shape[1], metric="cos", dtype="i8")
    index.add(np.arange(len(vectors)), vectors)
    return lambda asked, size: index.search(asked, size, exact=True).keys.reshape(1, -1)


def signs_alone(vectors):
    index = faiss.IndexBinaryFlat(vectors.shape[1])
    index.add(np.packbits(vectors > 0, axis=1))
    return lambda asked, size: index.search(np.packbits(asked > 0, axis=1), size)[1]


def worst_first(vectors):
    return flat(-vectors)


def by_vectors(embed=None, build=flat, asks=None, indexed=None, words=None, size=100):
    """The nearest neighbours of a query's vector: `asks` is the model for queries, if it is another one."""
    embed = latent() if embed is None else embed

    @cache
    def index():
        faiss.omp_set_num_threads(1)
        kept = [n for n, rule in enumerate(rules()[0]) if indexed is None or indexed(rule, n)]
        return [rules()[0][n].code for n in kept], build(np.ascontiguousarray(embedded(embed)[kept]))

    @cache
    def find(query):
        codes, search = index()
        text = query if words is None else " ".join(words(words_of(query)))
        (found,) = search((asks or embed)([text]), min(size, len(codes)))
        return [codes[place] for place in found if place >= 0]

    return find


# Put together ----------------------------------------------------------------------------------------------


def fused(*legs, depth=50, k=60, lost=None):
    """Reciprocal rank fusion of engines; `lost` says of a query which leg did not answer in time."""

    @cache
    def find(query):
        score = {}
        for number, leg in enumerate(legs):
            if lost is None or lost(query) != number:
                for rank, code in enumerate(leg(query)[:depth], start=1):
                    score[code] = score.get(code, 0) + 1 / (k + rank)
        return sorted(score, key=lambda code: (-score[code], code))

    return find


def decayed(engine, half_life, *, weight=1.0):
    """Results by their rank and how old they are: with a half-life in days."""

    @cache
    def find(query):
        def value(rank, code):
            return 1 / (10 + rank) * (1 - weight + weight * 0.5 ** (share(code, 1000) / half_life))

        ranked = {code: value(rank, code) for rank, code in enumerate(engine(query))}
        return sorted(ranked, key=lambda code: (-ranked[code], code))

    return find
