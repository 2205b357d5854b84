"""Run noise on an approximate index that really differs from build to build: HNSW over the example's 956 rules.

Each rule is a vector, by latent semantic analysis of its text's character n-grams. Each time that the
set is asked, another build of the index answers: the rules come in another order, as they do where an index is built
anew by each run of a pipeline. From one thread, so that a build that fails this test can be had again.
"""

from __future__ import annotations

import itertools
import random
import re
import statistics
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from pytest_irmetrics import GoldenSet, batched, compare, evaluate
from tests.integration.packages import need

usearch = need("usearch.index")

EXAMPLE = Path(__file__).parents[2] / "example_project"
METRICS = ("mrr", "ndcg@10", "recall@10")
REPEAT = 10
MAX_DROP = 0.01
RUNS = 200
LOSSES = 50


def ngrams(text):
    words = (f"#{word}#" for word in re.findall(r"[^\W_]+", text.lower()))
    return Counter(word[at : at + n] for word in words for n in (3, 4) for at in range(len(word) + 1 - n))


class Corpus:
    """The rules as vectors, and queries put among them."""

    def __init__(self, rules, dimensions=128):
        self.codes = [rule.code for rule in rules]
        texts = [ngrams(f"{rule.name} " * 3 + f"{rule.message} " * 2 + rule.explanation) for rule in rules]
        self.columns = {gram: column for column, gram in enumerate(sorted(set(itertools.chain(*texts))))}
        counts = np.array([self.counted(text) for text in texts])
        self.rarity = np.log(len(texts) / (counts > 0).sum(axis=0)).astype(np.float32)
        weighed = normal(counts * self.rarity)
        values, vectors = np.linalg.eigh(weighed @ weighed.T)
        self.axes = weighed.T @ (vectors[:, -dimensions:] / np.sqrt(values[-dimensions:]))
        self.vectors = normal(weighed @ self.axes)

    def counted(self, grams):
        row = np.zeros(len(self.columns), dtype=np.float32)
        for gram, count in grams.items():
            if gram in self.columns:
                row[self.columns[gram]] = np.log1p(count)
        return row

    def embedded(self, text):
        return normal((self.counted(ngrams(text)) * self.rarity @ self.axes)[None])[0]

    def built(self, seed, without=()):
        """Index the rules in an order of chance."""
        order = np.random.default_rng(seed).permutation(len(self.codes))
        if without:
            order = order[[self.codes[key] not in without for key in order]]
        index = usearch.Index(
            ndim=self.vectors.shape[1], metric="ip", connectivity=16, expansion_add=64, expansion_search=16
        )
        index.add(order, self.vectors[order], threads=1)
        return index


def normal(rows):
    return (rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)).astype(np.float32)


def taking_turns(builds):
    """Make a retriever of which another build answers each time that the set is asked."""
    turns = itertools.cycle(builds)

    def search(queries, k):
        build = next(turns)
        return [build[query][:k] for query in queries]

    return batched(search, size=1_000)


@pytest.fixture(scope="module")
def golden():
    read = GoldenSet.load(EXAMPLE / "golden" / "rules.yaml")
    kept = [q for q in read.queries.values() if not q.no_answer and not q.params and q.xfail is None]
    return GoldenSet.from_judgments(
        {query.id: query.judgments for query in kept}, texts={query.id: query.text for query in kept}
    )


@pytest.fixture(scope="module")
def corpus():
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(EXAMPLE)
        import search

    return Corpus([rule for rule in search.load_rules() if not rule.removed])


@pytest.fixture(scope="module")
def answers(corpus, golden):
    """What a build of the index answers: each query's ten best rules."""
    texts = [query.text for query in golden.queries.values()]
    vectors = np.array([corpus.embedded(text) for text in texts])

    def search(seed, without=()):
        found = corpus.built(seed, without).search(vectors, 10).keys
        return {text: [corpus.codes[key] for key in keys] for text, keys in zip(texts, found, strict=True)}

    return search


def fallen(comparison):
    """The metrics that fell further than they may and differ from run to run."""
    allowed = {name: MAX_DROP + comparison.run_noise(name).margin for name in METRICS}
    return [name for name in METRICS if -comparison[name].delta > allowed[name]]


def test_no_false_alarm_in_200_runs_and_lost_documents_are_caught(golden, answers):
    def asked(builds):
        return evaluate(golden, taking_turns(builds), METRICS, repeat=len(builds))

    builds = [answers(seed) for seed in range(100)]
    once = [asked([build]) for build in builds]
    rankings = [{i: answer.rankings for i, answer in run.run.answers.items()} for run in once]
    assert all(one != other for one, other in itertools.combinations(rankings, 2)), (
        "the index is deterministic"
    )
    means = [run["ndcg@10"] for run in once]
    assert max(means) - min(means) > MAX_DROP / 2, "asked once, chance alone takes up half the tolerance"

    baseline = asked(builds[:REPEAT])
    chance = random.Random(3)
    noises, alarms = [], []
    for _ in range(RUNS):
        comparison = compare(asked(chance.sample(builds[REPEAT:], REPEAT)), baseline)
        noises.append(comparison.run_noise("ndcg@10"))
        alarms += fallen(comparison)
    assert not alarms
    expected = statistics.stdev(means) * (2 / REPEAT) ** 0.5
    assert expected / 3 < statistics.median(noise.deviation for noise in noises) < 3 * expected
    assert min(noises).deviation > 0
    assert max(noise.margin for noise in noises) < MAX_DROP

    found = [query_id for query_id, score in baseline.scores["ndcg@10"].items() if score > 0.3]
    caught = 0
    for loss in range(LOSSES):
        hit = chance.sample(found, round(0.03 * len(golden.queries) + 0.5))
        without = {code for query_id in hit for code in golden.queries[query_id].judgments}
        now = asked([answers((loss, number), without) for number in range(REPEAT)])
        caught += bool(fallen(compare(now, baseline)))
    assert caught >= LOSSES - 2
