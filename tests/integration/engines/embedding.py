"""Text to vectors without a model: hashed words and letter trigrams, the same numbers on every machine.

It stands in for a model in the tests of dense engines, which copy it into their project. What a term weighs is
learnt from the documents, as in BM25.
"""

import json
import math
import re
import zlib
from collections import Counter
from functools import cache
from pathlib import Path

import numpy as np

SIZE = 768


def terms(text):
    for word in re.findall(r"[a-z0-9]+", text.lower()):
        yield word
        if len(word) > 3:
            padded = f"_{word}_"
            yield from (padded[place : place + 4] for place in range(len(padded) - 3))


@cache
def weights():
    documents = json.loads(Path(__file__).with_name("documents.json").read_text(encoding="utf-8"))
    found = Counter(term for document in documents for term in set(terms(document["title"])))
    return {term: math.log(len(documents) / count) for term, count in found.items()}


@cache
def direction(term):
    """Eight places of plus or minus one: terms that share a place seldom share another."""
    places = [zlib.crc32(f"{number} {term}".encode()) for number in range(8)]
    return [(place % SIZE, 1.0 if place & 0x10000 else -1.0) for place in places]


def embed(text):
    """Give the vector of a text: 768 numbers, of length 1."""
    places, values = [0], [0.0]
    known = weights()
    rarest = max(known.values())
    for term, count in Counter(terms(text)).items():
        weight = known.get(term, rarest) * (1 + math.log(count))
        for place, sign in direction(term):
            places.append(place)
            values.append(sign * weight)
    vector = np.bincount(places, values, minlength=SIZE)
    length = np.linalg.norm(vector)
    return (vector / length if length else vector).astype(np.float32)
