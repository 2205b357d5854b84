"""Sentences on what a branch accepts (``--ir-since``), for the terminal and all report files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_irmetrics.base.numbers import change_text, score_text, signed_text
from pytest_irmetrics.base.wording import listed, plural
from pytest_irmetrics.reports.since_report import SinceReport

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pytest_irmetrics.reports.item_report import ItemReport
    from pytest_irmetrics.reports.since_report import EditSince, MeanSince, QueryMove, QuerySince

_NAMED = 5
"""How many queries or edits a sentence names."""

LEADS = {"accepted": "ACCEPTED", "refused": "REFUSED", "unreadable": "UNKNOWN", "": ""}
"""Verdict → the word that a line on it begins with."""

_HOW = {
    "dropped": ("dropped", "scored then"),
    "excluded": ("excluded (xfail)", "scored then, and now"),
    "reworded": ("reworded (text, params or passages)", "scored then, and now"),
    "included": ("not excluded any more", "scored then, and now"),
    "added": ("added", "score"),
}

_EDITS = {
    "judgment": ("judgment", "judgments"),
    "weight": ("weight", "weights"),
    "tags": ("query with other tags", "queries with other tags"),
    "no_answer": ("query with another no_answer", "queries with another no_answer"),
    "forbidden": ("forbidden document", "forbidden documents"),
}


def headlines(since: SinceReport) -> list[str]:
    """Return a sentence on each fall that is accepted, or on why nothing can be said; none where neither is so."""
    where = f"since {since.ref} ({since.short_commit})"
    if since.state == "unreadable":
        verdict = (
            "Not accepted, as ir_accept is `fail`"
            if since.refused
            else "Nothing is known of what is accepted"
        )
        return [f"{verdict} {where}: the baseline of then cannot be read. {since.why}"]
    return [
        f"{_fall(mean)} {where}; {_allowed(mean)}. {_why_it_passes(mean, since)}"
        for mean in since.accepted_means
    ]


def _fall(mean: MeanSince) -> str:
    before, now = mean.fell or (0.0, 0.0)
    scored = {"then": ", by the golden set of then,", "stored": " in the stored baseline"}.get(
        mean.fell_by, ""
    )
    moved = f"from {score_text(before, now)} to {score_text(now, before)} ({signed_text(now - before)})"
    return f"{_name(mean)} fell{scored} {moved}"


def _allowed(mean: MeanSince) -> str:
    return f"at most {score_text(mean.allowed)} is allowed"


def _why_it_passes(mean: MeanSince, since: SinceReport) -> str:
    if mean.accepted == "limits":
        what = "this branch raised how far it may fall"
    elif mean.fell_by == "then":
        what = "this branch edits the golden set and stores its baseline anew"
    else:
        stored = mean.after if mean.stored is None else mean.stored
        what = f"this branch stores a baseline of {score_text(stored, mean.before)}"
    if since.refused:
        return f"{what[0].upper()}{what[1:]}, which `ir_accept = fail` does not allow."
    return f"It passes, because {what}."


def cure(since: SinceReport) -> str:
    """Return how to accept a fall that ``ir_accept = fail`` refuses, or else to mend it, in a sentence."""
    accept = "add `-o ir_accept=warn` to this command"
    if since.state == "unreadable":
        return f"To let it pass, {accept}."
    return f"To accept it, {accept}; else mend the search, and store its baseline again."


def paying(mean: MeanSince) -> str:
    """Name the queries that score lower than then; empty where there are none."""
    if not mean.worse:
        return ""
    more = mean.worse_count - min(len(mean.worse), _NAMED)
    named = ", ".join(map(_move, mean.worse[:_NAMED]))
    return f"{_name(mean)}: {plural(mean.worse_count, 'query pays', 'queries pay')}: {named}{f' and {more} more' if more else ''}."


def _move(move: QueryMove) -> str:
    return f"{move.query_id}: {change_text(move.before, move.now)}"


def details(since: SinceReport) -> list[str]:
    """Return a sentence on each gated mean that moved, on the queries that pay, left or came, and on each kind of edit."""
    return [
        *(f"Its baseline was {path} then." for path in [since.renamed_from] if path),
        *_means(since),
        *filter(None, (paying(mean) for mean in since.means[:1] or ())),
        *_queries(since),
        *_edits(since),
        *([f"Note: {since.why}"] if since.why and since.state != "unreadable" else []),
    ]


def sentences_on(item: ItemReport) -> list[str]:
    """Return how a test stands to what it was then, and what changed since, in sentences; none without ``--ir-since``."""
    since = SinceReport.of(item)
    if since is None:
        return []
    lead = one_line(since)
    return [f"{lead[0].upper()}{lead[1:]}.", *details(since)]


def one_line(since: SinceReport) -> str:
    """Return in a phrase how a test stands to what it was then."""
    where = f"since {since.ref} ({since.short_commit or 'no commit'})"
    if since.state == "new":
        return f"new {where}: there is no baseline of this test to compare with"
    return f"{'refused' if since.refused else since.state} {where}"


def _name(mean: MeanSince) -> str:
    return mean.metric if mean.tag is None else f"{mean.metric} [{mean.tag}]"


def _means(since: SinceReport) -> Iterator[str]:
    for mean in since.means:
        alone = mean.accepted and [part.part for part in mean.parts] == ["retriever"]  # the headline said it
        if mean.parts and not alone:
            parts = ", ".join(f"{part.part} {signed_text(part.delta)}" for part in mean.parts)
            yield f"{_name(mean)} {change_text(mean.then, mean.now)}: {parts}."


def _queries(since: SinceReport) -> Iterator[str]:
    mean = since.means[0] if since.means else None
    for how, (words, scored) in _HOW.items():
        queries = [query for query in since.queries if query.how == how]
        if queries:
            named = listed(queries, _NAMED, lambda query: _scores(query, mean))
            metric = "" if mean is None else f", with the {_name(mean)} that they {scored}"
            yield f"{plural(len(queries), 'query', 'queries')} {words}{metric}: {named}."
    if mean is not None and mean.with_left is not None:
        yield f"With those that left, at these scores, {_name(mean)} would be {score_text(mean.with_left, mean.now)}, not {score_text(mean.now, mean.with_left)}."
    if mean is not None and mean.without_added is not None:
        yield f"Without those that were added, {_name(mean)} is {score_text(mean.without_added, mean.now)}, not {score_text(mean.now, mean.without_added)}."


def _scores(query: QuerySince, mean: MeanSince | None) -> str:
    if mean is None:
        return query.query_id
    before, now = query.before.get(mean.metric), query.now.get(mean.metric)
    shown = [score_text(score) for score in (before, now) if score is not None]
    return f"{query.query_id} ({' → '.join(shown)})" if shown else query.query_id


def _edits(since: SinceReport) -> Iterator[str]:
    for kind, (one, many) in _EDITS.items():
        edits = [edit for edit in since.edits if edit.kind == kind]
        if edits:
            yield f"{plural(len(edits), one, many)} changed: {listed(edits, _NAMED, _edit)}."
    others = [edit for edit in since.edits if edit.kind not in _EDITS]
    for edit in sorted(others, key=lambda edit: not edit.weaker):
        yield f"{_edit_lead(edit)}: {edit.before or 'none'} → {edit.now or 'none'}{' (holds less)' if edit.weaker else ''}."


def _edit(edit: EditSince) -> str:
    return f"{edit.what} {edit.before or 'none'} → {edit.now or 'none'}"


def _edit_lead(edit: EditSince) -> str:
    lead = "Mark in" if edit.kind == "mark" else f"{edit.kind[0].upper()}{edit.kind[1:]}"
    return f"{lead} {edit.what}" if edit.what else lead


def gone(path: str, since: SinceReport) -> str:
    """Say that a baseline is gone, and its test with it."""
    return (
        f"Gone since {since.ref} ({since.short_commit}): the baseline {path}. Its test is not gated any more."
    )


def counted(items: Sequence[SinceReport]) -> str:
    """Return how many tests are in which state, and how many are held to less.

    `since origin/main (1a2b3c4): 1 accepted, 2 changed, 40 unchanged; 1 test has a limit that holds less`.
    """
    words = {
        "refused": "refused",
        "accepted": "accepted",
        "unreadable": "unreadable then",
        "changed": "changed",
        "new": "new",
        "unchanged": "unchanged",
    }
    counts = [
        f"{count:,} {word}"
        for state, word in words.items()
        if (count := sum((one.verdict or one.state) == state for one in items))
    ]
    weaker = sum(one.holds_less for one in items)
    said = (
        f"; {plural(weaker, 'test has a limit', 'tests have limits')} that {'holds' if weaker == 1 else 'hold'} less"
        if weaker
        else ""
    )
    return f"since {items[0].ref} ({items[0].short_commit}): {', '.join(counts)}{said}"
