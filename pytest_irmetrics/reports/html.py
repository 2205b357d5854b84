"""The HTML report: one file that needs no network, no other file, and no script to be read. Needs Jinja2."""

from __future__ import annotations

from base64 import b64encode
from dataclasses import dataclass
from hashlib import sha256
from importlib import resources
from typing import TYPE_CHECKING, Any

from pytest_irmetrics.base.escape import escape_html
from pytest_irmetrics.base.numbers import score_text, signed_text
from pytest_irmetrics.base.wording import plural
from pytest_irmetrics.reports import texts
from pytest_irmetrics.reports.query_details import (
    explaining_queries,
    leading_metric,
    missing_by_grade,
    score_delta,
    side_by_side,
    stored_judgments_note,
    took_text,
    worst_first,
)
from pytest_irmetrics.reports.session_report import titles

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from pytest_irmetrics.reports.item_report import ItemReport, QueryReport, ScoreRow
    from pytest_irmetrics.reports.query_details import RankedDocument
    from pytest_irmetrics.reports.session_report import SessionReport

INSTALL = 'The HTML report needs Jinja2: pip install "pytest-irmetrics[html]"'

_IN_FULL = 1000
"""For how many queries of a golden set, the worst, the ranking is shown; with more a browser grows slow."""


@dataclass(frozen=True, slots=True)
class _Score:
    """One metric of one query, as it is printed."""

    metric: str
    now: str
    before: str
    delta: str


@dataclass(frozen=True, slots=True)
class _Query:
    """One query, as the template shows it."""

    anchor: str
    place: int
    """Where it stands in the golden set, from 0."""
    report: QueryReport
    label: str
    """`worse`, `better`, `same`, `new`, `error`, or empty without a baseline."""
    explains: bool
    """Whether it explains a failed gate."""
    now: str
    """Its score by the leading metric."""
    delta: str
    values: str
    """Its score by each metric, for the script: `0.5 1.0 -`."""
    values_before: str
    took: str
    """How many milliseconds it took; empty where no latency is reported."""
    in_full: bool
    """Whether its ranking is shown; the fields below are empty if not."""
    scores: Sequence[_Score] = ()
    ranks: Sequence[tuple[int, RankedDocument | None, RankedDocument | None]] = ()
    missing: Sequence[RankedDocument] = ()
    as_stored: str = ""
    """How its scores fell under the stored judgments, where today's differ."""

    @property
    def asks(self) -> str | None:
        """The query's text, where it is not the id."""
        return self.report.text if self.report.text != self.report.query_id else None


def render(session: SessionReport) -> str:
    """Return the report as HTML. Raises ImportError saying what to install where Jinja2 is missing."""
    items = session.measured_failures_first
    names = titles(items)
    template = _template()
    style, script = _resource("report.css"), _resource("report.js")
    text: str = template.render(
        headline=session.headline(),
        ending=session.ending(),
        unmeasured=session.unmeasured,
        unused_baselines=session.unused_baseline_notes,
        sets=[_golden_set(item, names[item.nodeid], session, number) for number, item in enumerate(items, 1)],
        style=_Trusted(style),
        script=_Trusted(script),
        policy=_Trusted(
            f"default-src 'none'; style-src '{_hash(style)}'; script-src '{_hash(script)}'; img-src data:; "
            "base-uri 'none'; form-action 'none'"
        ),
    )
    return text


class _Trusted(str):
    """Text that is not escaped: it comes from the package, or has been escaped."""

    __slots__ = ()

    def __html__(self) -> str:
        return str(self)


def _template() -> Any:
    try:
        import jinja2  # noqa: PLC0415 - an extra, and only this report needs it
    except ImportError:
        raise ImportError(INSTALL) from None
    environment = jinja2.Environment(
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        # Beyond what autoescape does, what cannot be seen (controls, bidi, lone surrogates) is written out.
        finalize=lambda value: (
            _Trusted(escape_html(value))
            if isinstance(value, str) and not hasattr(value, "__html__")
            else value
        ),
    )
    return environment.from_string(_resource("report.html.jinja"))


def _resource(name: str) -> str:
    return resources.files(__package__).joinpath(name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"


def _golden_set(item: ItemReport, title: str, session: SessionReport, number: int) -> dict[str, Any]:
    """Return what the template shows of one golden set."""
    gates = {
        state: [gate for gate in item.gates if gate.state == state]
        for state in ("failed", "not checked", "passed")
    }
    queries = _queries(item, number)
    return {
        "anchor": f"set-{number}",
        "title": title,
        "report": item,
        "failing": session.fails(item),
        "verdict": texts.verdict(item, session),
        "subject": texts.subject(item),
        "scores": ", ".join(map(texts.gated_score, texts.gated_rows(item))),
        "compared": texts.is_compared(item),
        "other": texts.compared_with(item),
        "rows": [
            {"name": texts.row_name(row), "gate": row.gate, "verdict": row.verdict, **_cells(row)}
            for row in item.rows
        ],
        "table_notes": texts.table_notes(item),
        "slices": [
            {
                "tag": row.tag or "",
                "interval": texts.interval_text(row),
                "trend": texts.slice_trend(row),
                **_cells(row),
            }
            for row in item.slices
        ],
        "conclusion": texts.selftest_conclusion(item.selftest) if item.selftest else "",
        "tried": [
            (tried, texts.deltas_text(tried), texts.caught_text(tried)) for tried in item.selftest or ()
        ],
        "failed": gates["failed"],
        "unchecked": gates["not checked"],
        "passed": gates["passed"],
        "anchors": {query.report.query_id: query.anchor for query in queries},
        "queries": queries,
        "metrics": _metrics(item),
        "leading": leading_metric(item),
        "paired": _is_paired(item),
        "in_full": sum(query.in_full for query in queries),
        "labels": _counts(query.label for query in queries),
        "count": plural(len(queries), "query", "queries"),
    }


def _cells(row: ScoreRow) -> dict[str, str]:
    return {
        "n": f"{row.n:,}",
        "now": texts.now_text(row),
        "baseline": texts.baseline_text(row),
        "delta": texts.delta_text(row),
    }


def _metrics(item: ItemReport) -> list[str]:
    return list(dict.fromkeys(metric for query in item.queries for metric in query.scores))


def _is_paired(item: ItemReport) -> bool:
    """Whether any query has a ranking in the baseline."""
    return any(query.before is not None for query in item.queries)


def _counts(labels: Iterable[str]) -> dict[str, int]:
    found = list(labels)
    return {
        label: found.count(label) for label in ("error", "worse", "better", "same", "new") if label in found
    }


def _queries(item: ItemReport, number: int) -> list[_Query]:
    """Return the queries of one golden set, the worst first."""
    leading, metrics, paired = leading_metric(item), _metrics(item), _is_paired(item)
    places = {query.query_id: place for place, query in enumerate(item.queries)}
    explaining = explaining_queries(item.gates, places)
    queries = []
    for shown, query in enumerate(worst_first(item)):
        delta = score_delta(query, leading)
        place = places[query.query_id]
        in_full = shown < _IN_FULL
        details: dict[str, Any] = {}
        if in_full:
            details = {
                "scores": [_score(query, name) for name in metrics if query.scores.get(name) is not None],
                "ranks": side_by_side(query),
                "missing": missing_by_grade(query),
                "as_stored": stored_judgments_note(query),
            }
        queries.append(
            _Query(
                anchor=f"q-{number}-{place + 1}",
                place=place,
                report=query,
                label=_label(query, delta, paired=paired),
                explains=query.query_id in explaining,
                now=score_text(query.scores.get(leading or "")),
                delta="" if delta is None else signed_text(delta),
                values=_values(query.scores, metrics),
                values_before=_values_before(query, metrics),
                took=took_text(query),
                in_full=in_full,
                **details,
            )
        )
    return queries


def _label(query: QueryReport, delta: float | None, *, paired: bool) -> str:
    if query.error is not None:
        return "error"
    if not paired:
        return ""
    if query.before is None:
        return "new"
    return "same" if not delta else "worse" if delta < 0 else "better"


def _values(scores: Mapping[str, float | None], metrics: Sequence[str]) -> str:
    found = (scores.get(metric) for metric in metrics)
    return " ".join("-" if value is None else f"{value:.9g}" for value in found)


def _values_before(query: QueryReport, metrics: Sequence[str]) -> str:
    """Return the scores before; those that moved by no more than rounding as they are now, for the script to compare."""
    same = {metric: query.scores[metric] for metric in metrics if score_delta(query, metric) == 0}
    return _values({**query.scores_before, **same}, metrics)


def _score(query: QueryReport, metric: str) -> _Score:
    now, before, delta = query.scores[metric], query.scores_before.get(metric), score_delta(query, metric)
    return _Score(
        metric,
        score_text(now, before),
        score_text(before, now),
        "" if delta is None else signed_text(delta),
    )
