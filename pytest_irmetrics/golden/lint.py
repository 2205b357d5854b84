"""Find what is doubtful in a valid golden set: ids that look alike, ineffective thresholds, duplicate queries.

tests/golden/test_notes.py has each; docs/golden-sets.md and the help of `check` (cli/check.py) sum them up.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice
from unicodedata import category, name, normalize

from pytest_irmetrics.base.escape import is_invisible
from pytest_irmetrics.base.numbers import TOLERANCE, score_text
from pytest_irmetrics.base.wording import cut, quote
from pytest_irmetrics.golden.golden_set import GoldenSet
from pytest_irmetrics.golden.query import Query, folded, known_ids
from pytest_irmetrics.metrics import Metric, Scorer, mean_of_scored
from pytest_irmetrics.run.answer import params_key
from pytest_irmetrics.thresholds import EACH_TAG, WORDS, Limit

_Note = tuple[str, str]
"""A place, ``path:line``, and a sentence."""


_MAX_OF_A_KIND = 10
"""How many notes of one kind are listed; of any others the first place."""
_PLAIN = re.compile(r"[!-~](?:[ -~]*[!-~])?")
"""Nearly all ids and texts: visible ASCII with blanks inside."""
_NUMBERED = re.compile(r"[^\s,]*\d[^\s,]*(?:, +[^\s,]*\d[^\s,]*)+")
"""Words with digits, a comma and a space between them."""
_USUAL_IN_TEXT = frozenset("\t\n\r\u200c\u200d")
"""Line ends, and joiners: invisible, and a part of the spelling of Persian, of Indic scripts and of emoji."""
_PUNCTUATION = ".,;:!?…。？！¿¡"


def lint(golden: GoldenSet) -> Iterator[str]:
    """Yield what is doubtful in a golden set, ``path:line: note: what. What to do.``; at most ten of a kind."""
    for kind in (_doubtful_texts, _cut_texts, _joined_ids, _ineffective_thresholds, _equal_queries):
        for count, (where, message) in enumerate(islice(kind(golden), _MAX_OF_A_KIND + 1)):
            yield f"{where}: note: {message if count < _MAX_OF_A_KIND else 'More of this kind begin here.'}"


# Ids and texts that look like others


def _doubtful_texts(golden: GoldenSet) -> Iterator[_Note]:
    """Find doubtful query ids, texts, tags and document ids, each once."""
    spellings: dict[tuple[str, str], str] = {}
    first: dict[tuple[str, str], Query] = {}
    for query in golden.queries.values():
        ids = [query.id] if query.id != query.text else []
        named = {"query": [query.text or ""], "query id": ids, "tag": query.tags}
        for what, texts in (*named.items(), ("document id", known_ids(query))):
            for text in texts:
                first.setdefault((what, text), query)
    for (what, text), query in first.items():
        doubts = [] if _PLAIN.fullmatch(text) else [*_doubts_of(text, what)]
        other = spellings.setdefault((what, normalize("NFC", text).casefold()), text)
        if other != text and what != "query":
            alike = f"The {what}s {_in_ascii(text)} and {_in_ascii(other)} are two spellings of one text, and two ids here."
            doubts.append(f"{alike} Write the one that the index has.")
        if doubts:
            where = golden.where_judged(query.id, text) if what == "document id" else golden.where(query.id)
            yield from ((where, doubt) for doubt in doubts)


def _doubts_of(text: str, what: str) -> Iterator[str]:
    """Yield what is doubtful about one text, which is not plain ASCII."""
    shown = _in_ascii(text)
    if text != text.strip():
        which = "begins" if text[0].isspace() else "ends"
        yield f"The {what} {shown} {which} with white space. Remove it, if it is not meant."
    allowed = _USUAL_IN_TEXT if what == "query" else ()
    hidden = (sign for sign in text.strip() if is_invisible(sign) or (sign != " " and category(sign) == "Zs"))
    odd = next((sign for sign in hidden if sign not in allowed), None)
    if odd is not None:
        called = name(odd, "").lower()
        sign = f"U+{ord(odd):04X}{f' ({called})' if called else ''}"
        yield f"The {what} {shown} has a character that cannot be seen, {sign}. Remove it, if it is not meant."


def _in_ascii(text: str) -> str:
    r"""Return a text in quotes with all but ASCII written out, as `'caf\xe9'`: what looks alike is then told apart."""
    return ascii(cut(text, 60))


def _cut_texts(golden: GoldenSet) -> Iterator[_Note]:
    """Find texts that YAML cuts at a comment: of the query `issue #42 again` it reads `issue`."""
    texts = {passage.text for query in golden.queries.values() for passage in query.passages}
    texts.update(query.text or "" for query in golden.queries.values())
    is_yaml = str(golden.path).endswith((".yaml", ".yml"))
    for number, line in enumerate(golden.lines if is_yaml else (), 1):
        before, _, comment = line.partition(" #")
        key, _, text = before.partition(": ")
        if key.strip(" -") in ("query", "text") and text.strip() in texts and comment[:1].strip():
            message = f"The text {_in_ascii(text.strip())} ends before {_in_ascii('#' + comment)}, which YAML reads as a comment."
            yield f"{golden.shown}:{number}", f"{message} If that is a part of it, put all of it in quotes."


def _joined_ids(golden: GoldenSet) -> Iterator[_Note]:
    """Find document ids that are several others with commas between them: lists without their brackets."""
    for query_id, query in golden.queries.items():
        for doc_id in known_ids(query):
            parts = map(str.strip, doc_id.split(","))
            joined = "," in doc_id and golden.document_ids.issuperset(parts)
            if joined or _NUMBERED.fullmatch(doc_id):
                message = f"The document id {_in_ascii(doc_id)} is one id, though its parts look like ids."
                advice = f"If a list is meant, write [{doc_id}]."
                yield golden.where_judged(query_id, doc_id), f"{message} {advice}"


# Thresholds


def _ineffective_thresholds(golden: GoldenSet) -> Iterator[_Note]:
    """Find limits that no result can fail, and limits that no ranking can meet."""
    queries = list(golden.queries.values())
    pairs = [(one, [q for q in queries if one.tag in (None, EACH_TAG, *q.tags)]) for one in golden.thresholds]
    pairs += [(threshold, [query]) for query in queries for threshold in query.thresholds]
    for threshold, over in pairs:
        for word, limit in threshold.limits.items():
            said = f"`{word}: {limit}` of {threshold.metric}"
            if limit is not None and _always_passes(threshold.metric, word, limit, len(over)):
                yield threshold.origin, f"{said} is a gate that nothing fails. Write a limit, or off."
            elif limit is not None and WORDS[word].is_least and threshold.tag != EACH_TAG:
                counted = [query for query in over if query.xfail is None and query.judgments]
                best = _best_possible(threshold.metric, word, counted, golden)
                if best is not None and best < limit.value - TOLERANCE:
                    score = score_text(best, limit.value)
                    message = f"{said} cannot be met: with these judgments the best ranking there is scores {score}."
                    advice = "Lower it, or choose a metric that allows for how many documents are relevant (r_precision, ndcg)."
                    yield threshold.origin, f"{message} {advice}"


def _always_passes(metric: Metric, word: str, limit: Limit, queries: int) -> bool:
    """Say whether no result of so many queries can fail a limit."""
    if WORDS[word].range == "count":
        return limit.value >= queries
    if WORDS[word].looser == "higher":
        return limit.value >= (100 if limit.percent else metric.upper)
    return WORDS[word].is_least and limit.value <= metric.lower


def _best_possible(metric: Metric, word: str, counted: Sequence[Query], golden: GoldenSet) -> float | None:
    """Return the mean, or the lowest score, of ideal rankings: the judged documents, best grade first.

    None for a metric whose best score does not follow from the judgments, or that no query has.
    """
    if metric.kind != "ranking":
        return None
    scorer = Scorer([metric], relevance_level=golden.relevance_level)
    judgments = [query.judgments for query in counted]
    scores = [scorer.row(grades, sorted(grades, key=lambda doc: -grades[doc]))[0] for grades in judgments]
    if WORDS[word].of_each:
        return min((score for score in scores if score is not None), default=None)
    return mean_of_scored(scores, [query.weight for query in counted])


# Queries


def _equal_queries(golden: GoldenSet) -> Iterator[_Note]:
    """Find queries whose texts are equal but for case, Unicode form, white space and punctuation.

    Queries with different params are never the same; with different tags only if their judgments differ.
    """
    found: dict[tuple[str, str], Query] = {}
    for query in golden.queries.values():
        words = [word.strip(_PUNCTUATION) for word in folded(query.text or "").split()]
        text = " ".join(filter(None, words))
        params = params_key(query.params)
        other = found.setdefault((text, params), query) if text else query
        if other is query or (other.judgments == query.judgments and other.tags != query.tags):
            continue
        but = "" if query.text == other.text else " but for case, punctuation or Unicode form"
        same = f"{quote(query.text or '')} is {quote(other.text or '')} on line {other.line}{but}."
        advice = "Both count in the means. Keep one; or tag one of them, if that is on purpose."
        yield golden.where(query.id), f"{same} {advice}"
