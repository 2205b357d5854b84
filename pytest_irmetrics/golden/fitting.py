"""What of a golden set a format holds, and in words what it does not."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from pytest_irmetrics.base.errors import IRMetricsError
from pytest_irmetrics.base.wording import listed, quote
from pytest_irmetrics.golden.golden_set import GoldenSet
from pytest_irmetrics.golden.values import QUERY_KEYS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from pytest_irmetrics.golden.query import Query

__all__ = ["FORMATS", "Format", "UnfitError", "fit", "own_name", "refuse"]

_NAMED = 5


class UnfitError(IRMetricsError, ValueError):
    """What a format has no way to write; names it, and says what to do."""


@dataclass(frozen=True, slots=True)
class Format:
    """A format by what it holds beside texts and grades by document."""

    title: str
    """As a sentence begins with it."""
    holds: frozenset[str]
    """Keys of a query; `passages` among its judgments; `set` for what is said of the whole set."""
    whole_grades: bool = False
    """Whether other readers take grades for integers."""
    unjudged: bool = True
    """Whether queries without a relevant document, and grades below 0, mean what they do to trec_eval."""


FORMATS = {
    "yaml": Format("YAML", QUERY_KEYS | {"passages", "set"}, unjudged=False),
    "jsonl": Format("JSONL", QUERY_KEYS | {"passages"}),
    "csv": Format("CSV", frozenset(("id", "tags", "weight", "params"))),
    "tsv": Format("TSV", frozenset(("id", "tags", "weight", "params"))),
    "trec": Format("TREC qrels", frozenset(("id",)), whole_grades=True),
    "beir": Format("A BEIR folder", frozenset(("id",)), whole_grades=True),
    "quepid": Format("Quepid's CSV", frozenset()),
}
"""Those that can be written."""


def fit(golden: GoldenSet, into: Format) -> tuple[GoldenSet, list[str]]:
    """Return what a format can hold of a golden set, and a sentence for each sort of thing that it cannot.

    Raises UnfitError.
    """
    said = []
    lost = list(_of_set(golden)) if "set" not in into.holds else []
    queries = list(golden.queries.values())
    without: list[Query] = []
    if "no_answer" not in into.holds:
        without = [query for query in queries if query.no_answer]
        queries = [query for query in queries if not query.no_answer]
    lost += _of_queries(queries, into)
    if "id" not in into.holds:
        counts = Counter(query.text for query in queries)
        twice = (text for text, count in counts.items() if text is not None and count > 1)
        refuse(twice, f"{into.title} holds one query of a text", "Keep one each of")
    fitted = [_reduced(query, into.holds) for query in queries]
    unjudged = [query for query in fitted if not query.judgments and not query.no_answer]
    if not into.unjudged:
        negative = sum(grade < 0 for query in fitted for grade in query.judgments.values())
        if negative:
            said.append(
                f"{into.title} holds no grades below 0 ({negative}): 0 is written, which scores the same."
            )
            fitted = [_without_negative(query) for query in fitted]
        level = golden.relevance_level
        hopeless = [
            query
            for query in fitted
            if query.judgments and max(query.judgments.values()) < level and not query.no_answer
        ]
        if hopeless:
            said.append(
                f"{into.title} holds no query without a relevant document, so {_listed(hopeless)} {_is_are(hopeless)} left "
                "out. They scored 0 and counted in every mean."
            )
            unjudged += hopeless
    if lost:
        verb = "holds" if not into.title.endswith("qrels") else "hold"
        said.insert(0, f"{into.title} {verb} no {', '.join(lost)}.")
    if without:
        said.append(
            f"Without an answer to judge, {_listed(without)} {_is_are(without)} left out (`no_answer`)."
        )
    by_passage = [query for query in unjudged if not query.judgments]
    if by_passage:
        said.append(f"Judged by passage alone, {_listed(by_passage)} {_is_are(by_passage)} left out.")
    if into.whole_grades:
        broken = sum(grade != int(grade) for query in fitted for grade in query.judgments.values())
        if broken:
            said.append(
                f"Grades that are no whole numbers ({broken}) are written as they are; other readers may cut or refuse them."
            )
    if golden.left_out:
        said.append(f"Without any judgment, {_names(golden.left_out)} {_is_are(golden.left_out)} left out.")
    gone = {query.id for query in unjudged}
    kept = GoldenSet(
        [query for query in fitted if query.id not in gone],
        path=golden.path,
        name=golden.name,
        relevance_level=golden.relevance_level if "set" in into.holds else 1,
        thresholds=golden.thresholds if "set" in into.holds else (),
    )
    return kept, said


def own_name(golden: GoldenSet) -> str | None:
    """Return the name that a golden set has beside its file's; None if it has none."""
    return (
        None
        if golden.path is not None and golden.name in (golden.path.stem, golden.path.name)
        else golden.name
    )


def refuse(names: Iterable[str], why: str, what: str) -> None:
    """Raise UnfitError if there are any names, each of which is told with what to do about it."""
    found = list(dict.fromkeys(names))
    if found:
        raise UnfitError(f"{why}. {what}: {_names(found)}.")


def _of_set(golden: GoldenSet) -> Iterable[str]:
    name = own_name(golden)
    if name is not None:
        yield f"name ({quote(name)})"
    if golden.relevance_level != 1:
        yield f"relevance level ({golden.relevance_level:g})"
    own = [threshold for threshold in golden.thresholds if threshold.tag is None]
    if own:
        yield f"thresholds ({len(own)})"
    slices = {threshold.tag for threshold in golden.thresholds} - {None}
    if slices:
        yield f"slices ({len(slices)})"


def _of_queries(queries: Sequence[Query], into: Format) -> Iterable[str]:
    has: dict[str, tuple[str, Callable[[Query], object]]] = {
        "id": ("ids beside the texts", lambda query: query.text is not None and query.id != query.text),
        "forbidden": ("forbidden documents", lambda query: query.forbidden),
        "tags": ("tags", lambda query: query.tags),
        "weight": ("weights", lambda query: query.weight != 1),
        "params": ("params", lambda query: query.params),
        "thresholds": ("thresholds of single queries", lambda query: query.thresholds),
        "xfail": ("xfail", lambda query: query.xfail),
        "note": ("notes", lambda query: query.note),
        "passages": ("passages", lambda query: query.passages),
    }
    for key, (what, test) in has.items():
        count = sum(bool(test(query)) for query in queries)
        if count and key not in into.holds:
            yield f"{what} ({count} {'query' if count == 1 else 'queries'})"


def _reduced(query: Query, holds: frozenset[str]) -> Query:
    """Return a query without what the format does not hold."""
    judgments = query.judgments
    if query.passages and "passages" not in holds:
        keys = {passage.key for passage in query.passages}
        judgments = {doc_id: grade for doc_id, grade in judgments.items() if doc_id not in keys}
        query = replace(query, passages=())
    return replace(
        query,
        id=query.id if "id" in holds or query.text is None else query.text,
        judgments=judgments,
        forbidden=query.forbidden if "forbidden" in holds else (),
        tags=query.tags if "tags" in holds else (),
        weight=query.weight if "weight" in holds else 1.0,
        params=query.params if "params" in holds else {},
        thresholds=query.thresholds if "thresholds" in holds else (),
        xfail=query.xfail if "xfail" in holds else None,
        note=query.note if "note" in holds else None,
    )


def _without_negative(query: Query) -> Query:
    if all(grade >= 0 for grade in query.judgments.values()):
        return query
    return replace(query, judgments={doc_id: max(grade, 0) for doc_id, grade in query.judgments.items()})


def _listed(queries: Sequence[Query]) -> str:
    return _names([query.id for query in queries])


def _names(ids: Sequence[str]) -> str:
    return listed(ids, _NAMED, quote)


def _is_are(things: Sequence[object]) -> str:
    return "is" if len(things) == 1 else "are"
