"""Records as one HTML file that needs nothing else: no network, no other file, and no script to be read."""

from __future__ import annotations

from base64 import b64encode
from dataclasses import dataclass
from hashlib import sha256
from importlib import resources
from typing import TYPE_CHECKING, Any

from pytest_irmetrics.base.escape import escape_html
from pytest_irmetrics.base.numbers import score_text, signed_text
from pytest_irmetrics.base.wording import plural
from pytest_irmetrics.reports import selftest
from pytest_irmetrics.reports import view as digest

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from pytest_irmetrics.reports.item_report import ItemReport, QueryReport
    from pytest_irmetrics.reports.view import Command, Place

INSTALL = 'The HTML report needs Jinja2: pip install "pytest-irmetrics[html]"'

_IN_FULL = 1000
"""Queries of one golden set whose rankings are shown, the worst; beyond, a browser grows slow. The rest have a line."""


@dataclass(frozen=True, slots=True)
class _Score:
    """One metric of one query."""

    metric: str
    now: str
    before: str
    delta: str


@dataclass(frozen=True, slots=True)
class _Query:
    """One query as the template shows it."""

    anchor: str
    place: int
    """Where it stands in the golden set, from 0."""
    view: QueryReport
    label: str
    """`worse`, `better`, `same`, `new`, `error`, or empty without a baseline."""
    explains: bool
    now: str
    delta: str
    values: str
    """Of each metric the score, for the script: `0.5 1.0 -`."""
    values_before: str
    scores: list[_Score]
    ranks: list[tuple[int, Place | None, Place | None]]
    missing: list[Place]
    as_stored: str
    """How it fell by the judgments that were stored, where today's are others; else empty."""
    in_full: bool

    @property
    def asks(self) -> str | None:
        """The query's text, where it says more than the id."""
        return self.view.text if self.view.text != self.view.query_id else None


def render(records: Sequence[ItemReport], command: Command) -> str:
    """Write a report. Raises ImportError with what to install where Jinja2 is missing."""
    records = digest.in_order(records, command)
    template = _template()
    style, script = _part("report.css"), _part("report.js")
    text: str = template.render(
        headline=digest.headline(records, command),
        failing=any(digest.fails(record, command) for record in records) or bool(command.unmeasured),
        ending=digest.ending(records, command),
        unmeasured=command.unmeasured,
        stale=digest.stale(records),
        sets=[_set(record, command, number) for number, record in enumerate(digest.told_apart(records), 1)],
        style=_Trusted(style),
        script=_Trusted(script),
        policy=_Trusted(
            f"default-src 'none'; style-src '{_hash(style)}'; script-src '{_hash(script)}'; img-src data:; "
            "base-uri 'none'; form-action 'none'"
        ),
    )
    return text


class _Trusted(str):
    """Text of the package's own that goes into the page as it is."""

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
    return environment.from_string(_part("report.html.jinja"))


def _part(name: str) -> str:
    return resources.files(__package__).joinpath(name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"


def _set(record: ItemReport, command: Command, number: int) -> dict[str, Any]:
    gates = {
        state: [gate for gate in record.gates if gate.state == state]
        for state in ("failed", "not checked", "passed")
    }
    queries = _queries(record, number)
    anchors = {query.view.query_id: query.anchor for query in queries}
    metrics = list(dict.fromkeys(metric for view in record.views for metric in view.scores))
    return {
        "anchor": f"set-{number}",
        "record": record,
        "failing": digest.fails(record, command),
        "verdict": digest.verdict(record, command),
        "subject": digest.subject(record),
        "scores": digest.gated_scores(record),
        "compared": digest.is_compared(record),
        "other": digest.other_side(record),
        "rows": [
            {
                "name": digest.row_name(row),
                "n": f"{row.n:,}",
                "now": digest.now_text(row),
                "baseline": digest.baseline_text(row),
                "delta": digest.delta_text(row),
                "gate": row.gate,
                "verdict": row.verdict,
            }
            for row in record.rows
        ],
        "full_means": digest.full_means(record),
        "slices": [
            {
                "tag": row.tag or "",
                "n": f"{row.n:,}",
                "now": digest.now_text(row),
                "baseline": digest.baseline_text(row),
                "delta": digest.delta_text(row),
                "interval": digest.interval(row),
                "moved": digest.slice_moved(row),
            }
            for row in record.slices
        ],
        "conclusion": selftest.conclusion(record.selftest) if record.selftest else "",
        "tried": [(tried, digest.moved(tried), digest.caught(tried)) for tried in record.selftest or ()],
        "failed": gates["failed"],
        "unchecked": gates["not checked"],
        "passed": gates["passed"],
        "anchors": anchors,
        "queries": queries,
        "metrics": metrics,
        "leading": digest.leading_metric(record),
        "paired": any(view.before is not None for view in record.views),
        "in_full": sum(query.in_full for query in queries),
        "labels": _counted(query.label for query in queries),
        "count": plural(len(queries), "query", "queries"),
    }


def _counted(labels: Iterable[str]) -> dict[str, int]:
    found = list(labels)
    return {
        label: found.count(label) for label in ("error", "worse", "better", "same", "new") if label in found
    }


def _queries(record: ItemReport, number: int) -> list[_Query]:
    metric = digest.leading_metric(record)
    explained = digest.explaining(record)
    compared = any(view.before is not None for view in record.views)
    places = {view.query_id: place for place, view in enumerate(record.views)}
    metrics = list(dict.fromkeys(metric for view in record.views for metric in view.scores))
    queries = []
    for shown, view in enumerate(digest.worst_first(record)):
        moved = digest.delta(view, metric)
        in_full = shown < _IN_FULL
        place = places[view.query_id]
        queries.append(
            _Query(
                anchor=f"q-{number}-{place + 1}",
                place=place,
                view=view,
                label=_label(view, moved, compared=compared),
                explains=view.query_id in explained,
                now=score_text(view.scores.get(metric or "")),
                delta="" if moved is None else signed_text(moved),
                values=_values(view.scores, metrics),
                values_before=_values_before(view, metrics),
                scores=[_score(view, name) for name in metrics if view.scores.get(name) is not None]
                if in_full
                else [],
                ranks=digest.side_by_side(view) if in_full else [],
                missing=digest.missing(view) if in_full else [],
                as_stored=digest.as_stored(view) if in_full else "",
                in_full=in_full,
            )
        )
    return queries


def _label(view: QueryReport, moved: float | None, *, compared: bool) -> str:
    if view.error is not None:
        return "error"
    if not compared:
        return ""
    if view.before is None:
        return "new"
    return "same" if not moved else "worse" if moved < 0 else "better"


def _values(scores: Mapping[str, float | None], metrics: Sequence[str]) -> str:
    found = (scores.get(metric) for metric in metrics)
    return " ".join("-" if value is None else f"{value:.9g}" for value in found)


def _values_before(view: QueryReport, metrics: Sequence[str]) -> str:
    """Give the scores before, where nothing moved those of now: the script need not know of rounding."""
    same = {metric: view.scores[metric] for metric in metrics if digest.delta(view, metric) == 0}
    return _values({**view.scores_before, **same}, metrics)


def _score(view: QueryReport, metric: str) -> _Score:
    now, before, moved = view.scores[metric], view.scores_before.get(metric), digest.delta(view, metric)
    return _Score(
        metric,
        score_text(now, before),
        score_text(before, now),
        "" if moved is None else signed_text(moved),
    )
