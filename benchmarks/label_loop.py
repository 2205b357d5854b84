"""The label loop: does judging what a failure lists tell which of two engines is better?

    python benchmarks/label_loop.py [--seeds 4] [--labels 200]

A corpus is made of which every judgment is known: 1,400 documents about 120 topics of two aspects each, 225 queries about
one aspect. Documents of the query's aspect have grade 2, others of its topic and those that touch it grade 1. The engines are
real: SQLite's full-text index with twelve changes of tokenizer, fields, index and ranking, some of them with a latent semantic
analysis. The golden set starts with one judgment a query, a document of the best grade drawn at random.

For each change: a baseline is stored, the test fails, and of both runs `pytest-irmetrics label --by ndcg@10 --limit 200` lists
what to judge. The list is judged truthfully and appended (`--from`), and the test is run again. Printed are the differences of
ndcg@10: by full judgments, by the first ones, and after those 200. An engine that the first judgments call the better one is
taken as the baseline, as only a fall fails.

The exit status is 1 where a sign after the judging is not that of the full judgments. 200 labels reach the first rank of
225 queries: with the seeds 0 to 4, 56 of 60 signs are right, and the four others are all of the LSA with 100 dimensions, which
is as good as BM25 at rank 1 and better below. It takes more labels then.
"""

from __future__ import annotations

import argparse
import csv
import json
import math
import os
import random
import re
import shlex
import sqlite3
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from pytest_irmetrics import GoldenSet, Run, compare, evaluate  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

METRIC = "ndcg@10"
DOCUMENTS, TOPICS, QUERIES = 1_400, 120, 225
SYLLABLES = [consonant + vowel for consonant in "bdfgklmnprstvz" for vowel in "aeiou"]
ENDINGS = ("", "", "s", "ing", "ed")

CONFTEST = """\
import json, pathlib, pytest

@pytest.fixture(scope="session")
def retriever():
    answers = json.loads(pathlib.Path(__file__).with_name("answers.json").read_text())
    return lambda query, k: answers[query][:k]
"""
TEST = f"""\
import pytest

@pytest.mark.ir_golden("golden.yaml")
@pytest.mark.ir_threshold("{METRIC}", max_drop=0)
def test_search_quality(irmetrics):
    irmetrics.check()
"""
BASELINE = "ir_baselines/test_search/test_search_quality[golden].json"

Judgments = dict[str, int]
Ranking = list[str]
Engine = "Callable[[str], Ranking]"


# The corpus -----------------------------------------------------------------------------------------------------


class Document(NamedTuple):
    """A text of known topics."""

    topic: int
    aspect: int
    other: int
    """Another topic that it touches."""
    touches: bool
    """Whether it touches that enough to be of some use for a query about it."""
    title: str
    body: str


class Corpus(NamedTuple):
    """Documents by id, queries by id, and the judgments of every pair of them that is relevant."""

    documents: dict[str, Document]
    texts: dict[str, str]
    truth: dict[str, Judgments]


def make_corpus(seed: int) -> Corpus:
    """Return a corpus of which all judgments are known."""
    rng = random.Random(seed)
    words: set[str] = set()
    while len(words) < 3_200:
        words.add("".join(rng.choices(SYLLABLES, k=rng.choice((2, 3, 3)))) + rng.choice("lnrmkt"))
    vocabulary = sorted(words)
    rng.shuffle(vocabulary)
    background, own = vocabulary[:1_400], vocabulary[1_400:]
    weights = [1 / (rank + 5) for rank in range(len(background))]
    shared, rare = own[:700], own[700:]
    # For each topic the words of its two aspects, and those of both; nearly half of them are words of other topics too.
    topics = [
        [
            [
                rng.choice(shared) if rng.random() < 0.45 else rare[(topic * 24 + part * 8 + i) % len(rare)]
                for i in range(8)
            ]
            for part in range(3)
        ]
        for topic in range(TOPICS)
    ]

    def word_of(topic: int, aspect: int) -> str:
        group = topics[topic][aspect] if rng.random() < 0.5 else topics[topic][2]
        return group[min(int(rng.expovariate(0.45)), 7)] + rng.choice(ENDINGS)

    documents = {}
    for number in range(DOCUMENTS):
        topic, aspect, other = rng.randrange(TOPICS), rng.randrange(2), rng.randrange(TOPICS)
        about, beside = rng.uniform(0.08, 0.4), rng.uniform(0, 0.15)

        def text(length: int, share: float, of: tuple[int, int, int, float]) -> str:
            topic, aspect, other, beside = of
            found = []
            for _ in range(length):
                drawn = rng.random()
                if drawn < share:
                    found.append(word_of(topic, aspect))
                elif drawn < share + beside:
                    found.append(word_of(other, rng.randrange(2)))
                else:
                    found.append(rng.choices(background, weights)[0] + rng.choice(ENDINGS))
            return " ".join(found)

        of = (topic, aspect, other, beside)
        title = text(rng.randint(3, 8), about * 1.8, of)
        body = text(min(400, int(rng.lognormvariate(4.2, 0.6))), about, of)
        documents[f"d{number:04}"] = Document(topic, aspect, other, beside > 0.1, title, body)
    texts, truth = {}, {}
    for number in range(QUERIES):
        topic, aspect = rng.randrange(TOPICS), rng.randrange(2)
        asked = [word_of(topic, aspect) for _ in range(rng.randint(2, 5))]
        asked += rng.choices(background, weights, k=rng.randint(0, 2))
        rng.shuffle(asked)
        relevant = {
            doc_id: 2 if (one.topic, one.aspect) == (topic, aspect) else 1
            for doc_id, one in documents.items()
            if one.topic == topic or (one.other == topic and one.touches)
        }
        if relevant:
            texts[f"q{number:03}"] = " ".join(dict.fromkeys(asked))
            truth[f"q{number:03}"] = relevant
    return Corpus(documents, texts, truth)


# The engines ----------------------------------------------------------------------------------------------------


class FullText:
    """SQLite's full-text index, ranked by BM25."""

    def __init__(
        self,
        documents: Mapping[str, Document],
        *,
        tokenizer: str = "porter unicode61",
        title: bool = True,
        body: bool = True,
        first: int | None = None,
    ) -> None:
        self._index = sqlite3.connect(":memory:")
        self._index.execute(
            f"CREATE VIRTUAL TABLE texts USING fts5(id UNINDEXED, title, body, tokenize='{tokenizer}')"
        )
        self._index.executemany(
            "INSERT INTO texts VALUES (?, ?, ?)",
            [
                (doc_id, one.title if title else "", " ".join(one.body.split()[:first]) if body else "")
                for doc_id, one in documents.items()
            ],
        )

    def __call__(self, query: str, size: int = 10) -> Ranking:
        match = " OR ".join(f'"{word}"' for word in query.split())
        found = self._index.execute(
            "SELECT id FROM texts WHERE texts MATCH ? ORDER BY bm25(texts, 0, 5, 1), id LIMIT ?",
            (match, size),
        )
        return [doc_id for (doc_id,) in found]


class Semantic:
    """A latent semantic analysis: a truncated singular value decomposition of tf-idf."""

    def __init__(self, documents: Mapping[str, Document], size: int, *, stemmed: bool = True) -> None:
        self._ending = re.compile("(s|ing|ed)$" if stemmed else "$")
        self._ids = list(documents)
        texts = [self._words(f"{one.title} {one.body}") for one in documents.values()]
        self._column = {word: at for at, word in enumerate(sorted({w for text in texts for w in text}))}
        counts = np.zeros((len(texts), len(self._column)), dtype=np.float32)
        for row, text in enumerate(texts):
            for word in text:
                counts[row, self._column[word]] += 1
        self._idf = np.log(len(texts) / (counts > 0).sum(0))
        weighted = np.log1p(counts) * self._idf
        weighted /= np.linalg.norm(weighted, axis=1, keepdims=True)
        start = np.random.default_rng(1).standard_normal((weighted.shape[1], size + 10)).astype(np.float32)
        basis, _ = np.linalg.qr(weighted @ (weighted.T @ (weighted @ start)))
        _, _, right = np.linalg.svd(basis.T @ weighted, full_matrices=False)
        self._fold = right[:size].T
        self._places = weighted @ self._fold
        self._places /= np.linalg.norm(self._places, axis=1, keepdims=True)

    def _words(self, text: str) -> list[str]:
        return [self._ending.sub("", word) for word in text.split()]

    def __call__(self, query: str, size: int = 10) -> Ranking:
        vector = np.zeros(len(self._column), dtype=np.float32)
        for word in self._words(query):
            at = self._column.get(word)
            if at is not None:
                vector[at] += self._idf[at]
        order = np.argsort(-(self._places @ (vector @ self._fold)), kind="stable")
        return [self._ids[at] for at in order[:size]]


def fused(*engines: FullText | Semantic) -> Callable[[str], Ranking]:
    """Return the reciprocal rank fusion of some engines."""

    def search(query: str) -> Ranking:
        scores: dict[str, float] = {}
        for engine in engines:
            for rank, doc_id in enumerate(engine(query, 30)):
                scores[doc_id] = scores.get(doc_id, 0.0) + 1 / (60 + rank)
        return sorted(scores, key=lambda doc_id: (-scores[doc_id], doc_id))[:10]

    return search


def make_engines(documents: Mapping[str, Document]) -> dict[str, Callable[[], Callable[[str], Ranking]]]:
    """Return the twelve variants by name, each to be made when its turn comes."""
    return {
        "no stemming": lambda: FullText(documents, tokenizer="unicode61"),
        "trigrams": lambda: FullText(documents, tokenizer="trigram"),
        "title only": lambda: FullText(documents, body=False),
        "body only": lambda: FullText(documents, title=False),
        "body only, no stemming": lambda: FullText(documents, tokenizer="unicode61", title=False),
        "first 30 words of the body": lambda: FullText(documents, first=30),
        "first 15 words of the body": lambda: FullText(documents, first=15),
        "LSA, 30 dimensions": lambda: Semantic(documents, 30),
        "LSA, 100 dimensions": lambda: Semantic(documents, 100),
        "LSA, 300 dimensions": lambda: Semantic(documents, 300),
        "LSA, 100, no stemming": lambda: Semantic(documents, 100, stemmed=False),
        "BM25 fused with LSA": lambda: fused(FullText(documents), Semantic(documents, 100)),
    }


# The loop -------------------------------------------------------------------------------------------------------


class Outcome(NamedTuple):
    """Differences of the metric, today's engine − the baseline's."""

    truth: float
    first: float
    both: float


def first_judgments(corpus: Corpus, seed: int) -> dict[str, Judgments]:
    """Return one judgment a query: a document of the best grade, drawn at random."""
    rng = random.Random(seed)
    first = {}
    for query_id, judgments in corpus.truth.items():
        best = max(judgments.values())
        first[query_id] = {rng.choice([doc_id for doc_id in judgments if judgments[doc_id] == best]): best}
    return first


def difference(judgments: Mapping[str, Judgments], now: Run, before: Run) -> float:
    """Return how much better today's run is by some judgments."""
    golden = GoldenSet.from_judgments(judgments)
    change = compare(evaluate(golden, now, metrics=[METRIC]), evaluate(golden, before, metrics=[METRIC]))
    return change[METRIC].delta


def measure(
    folder: Path, corpus: Corpus, first: dict[str, Judgments], one: Run, other: Run, labels: int
) -> Outcome:
    """Run the loop in a folder, as a user would."""
    before, now = (one, other) if difference(first, other, one) < 0 else (other, one)
    queries = [
        {"id": query_id, "query": text, "relevant": first[query_id]}
        for query_id, text in corpus.texts.items()
    ]
    lines = ["queries:", *(f"  - {json.dumps(query)}" for query in queries)]
    for name, text in {
        "conftest.py": CONFTEST,
        "test_search.py": TEST,
        "golden.yaml": "\n".join(lines) + "\n",
    }.items():
        (folder / name).write_text(text)
    answer(folder, corpus, before)
    run(folder, ["pytest", "-q", "--ir-baseline-update"], status=0)
    answer(folder, corpus, now)
    run(folder, ["pytest", "-q", "--ir-baseline", "--ir-report=json:run.json"], status=1)
    both_runs = ["--run", BASELINE, "--run", "run.json"]
    listing = ["--by", METRIC, "--limit", str(labels), "--out", "todo.csv"]
    run(folder, ["pytest-irmetrics", "label", "golden.yaml", *both_runs, *listing], status=0)
    judge(folder / "todo.csv", corpus.truth)
    run(folder, ["pytest-irmetrics", "label", "golden.yaml", "--from", "todo.csv"], status=0)
    run(folder, ["pytest", "-q", "--ir-baseline", "--ir-report=json:after.json"])
    (test,) = json.loads((folder / "after.json").read_text())["tests"]
    both = next(row["delta"] for row in test["rows"] if row["metric"] == METRIC)
    return Outcome(difference(corpus.truth, now, before), difference(first, now, before), both)


def answer(folder: Path, corpus: Corpus, run: Run) -> None:
    """Let the project's retriever answer as an engine did."""
    answers = {text: list(run[query_id]) for query_id, text in corpus.texts.items()}
    (folder / "answers.json").write_text(json.dumps(answers))


def run(folder: Path, command: list[str], status: int | None = None) -> str:
    """Run a command of ours in a folder with this Python, and return what it prints."""
    modules = {"pytest": "pytest", "pytest-irmetrics": "pytest_irmetrics.cli"}
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
        "COLUMNS": "80",
    }
    plugin = ["-p", "pytest_irmetrics.plugin", "-p", "no:cacheprovider"] if command[0] == "pytest" else []
    done = subprocess.run(
        [sys.executable, "-m", modules[command[0]], *plugin, *command[1:]],
        cwd=folder,
        env=environment,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    if status is not None and done.returncode != status:
        raise SystemExit(f"{shlex.join(command)} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    return done.stdout


def judge(path: Path, truth: Mapping[str, Judgments]) -> None:
    """Fill in a list of documents truthfully."""
    with path.open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        row["rating"] = str(truth[row["id"]].get(row["docid"], 0))
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)


def main() -> int:
    """Print a table for each seed, and return 1 where a sign is wrong."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seeds", type=int, nargs="+", default=[4], help="of the corpora (default: 4)")
    parser.add_argument("--labels", type=int, default=200, help="documents that are judged (default: 200)")
    parser.add_argument("--variants", type=int, help="the first so many changes of the engine (default: all)")
    options = parser.parse_args()
    wrong = tried = 0
    errors: list[float] = []
    for seed in options.seeds:
        corpus = make_corpus(seed)
        first = first_judgments(corpus, seed)
        base, engines = FullText(corpus.documents), make_engines(corpus.documents)
        at_first = Run({query_id: base(text) for query_id, text in corpus.texts.items()})
        print(f"seed {seed}: {len(first)} queries, {METRIC}, {options.labels} labels")
        print(f"  {'variant':<28}{'full':>9}{'one each':>10}{'both runs':>11}")
        for name, make_engine in list(engines.items())[: options.variants]:
            engine = make_engine()
            variant = Run({query_id: engine(text) for query_id, text in corpus.texts.items()})
            with tempfile.TemporaryDirectory() as folder:
                found = measure(Path(folder), corpus, first, at_first, variant, options.labels)
            signs = [math.copysign(1, value) == math.copysign(1, found.truth) for value in found]
            marks = ["" if right else "!" for right in signs]
            cells = [f"{value:+.4f}{mark or ' '}" for value, mark in zip(found, marks, strict=True)]
            print(f"  {name:<28}{cells[0]:>10}{cells[1]:>10}{cells[2]:>11}", flush=True)
            tried += 1
            wrong += not signs[2]
            errors.append(abs(found.both - found.truth))
    print(f"Signs that are wrong (!): {wrong} of {tried}. Mean error: {math.fsum(errors) / tried:.3f}.")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
