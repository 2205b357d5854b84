"""A search of two stages over the example project's corpus: BM25 and an embedding by hashing, fused by rank, and reranked."""

from __future__ import annotations

import re
import zlib
from collections import Counter
from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from tests.integration.kinds.engine import Engine, rules

SIZES = 512


def grams(text, size):
    words = re.findall(r"[a-z0-9]+", text.lower())
    return Counter(f" {word} "[at : at + size] for word in words for at in range(len(word) + 3 - size))


def embed(text, size):
    """Return a vector of length 1: the text's grams of letters, hashed."""
    vector = np.zeros(SIZES)
    for gram, count in grams(text, size).items():
        vector[zlib.crc32(gram.encode()) % SIZES] += count**0.5
    return vector / (np.linalg.norm(vector) or 1.0)


@cache
def embedded(size):
    found = rules()[0]
    texts = [f"{rule.name} {rule.name} {rule.message} {rule.explanation[:200]}" for rule in found]
    return [rule.code for rule in found], np.array([embed(text, size) for text in texts])


@cache
def near(query, size):
    codes, vectors = embedded(size)
    return [codes[place] for place in np.argsort(-(vectors @ embed(query, size)), kind="stable")]


def lose_none(codes):
    return list(codes)


@dataclass(frozen=True)
class Pipeline:
    """How it searches; `replace(pipeline, window=10)` is another one."""

    grams: int = 3
    """How many letters the embedding reads at once: another number is another model."""
    keep: object = lose_none
    """What the legs may find: a function of a list of codes, as all else here."""
    words: object = lose_none
    """What becomes of the answer of BM25."""
    dense: object = lose_none
    weights: tuple = (1.0, 1.0)
    """What the legs count for where they are fused."""
    pool: int = 40
    fused: object = lose_none
    window: int = 40
    """How many of the candidates are reranked, and kept."""
    backwards: bool = False
    final: object = lose_none

    def but(self, **changes):
        return replace(self, **changes)

    def search(self, query, k):
        """Return the final ranking, and what stood at each stage."""
        words = self.words(self.keep(Engine().search(query, 200))[:50])
        dense = self.dense(self.keep(near(query, self.grams))[:50])
        scores = Counter()
        for weight, leg in zip(self.weights, (words, dense), strict=True):
            scores.update({code: weight / (20 + rank) for rank, code in enumerate(leg)})
        candidates = self.fused(sorted(scores, key=lambda code: (-scores[code], code)))[: self.pool]
        names = {rule.code: rule.name for rule in rules()[0]}
        asked = grams(query, 3).keys()

        def score(code):
            shared = len(asked & grams(names.get(code, ""), 3).keys()) / (len(asked) or 1)
            return (scores[code] + shared / 20) * (-1 if self.backwards else 1)

        reranked = sorted(candidates[: self.window], key=lambda code: (-score(code), code))
        return self.final(reranked)[:k], {"candidates": candidates, "bm25": words, "dense": dense}
