"""What a branch accepts since the commit where it left another (``--ir-since``), in sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_irmetrics.base.numbers import change_text, signed_text
from pytest_irmetrics.base.wording import listed, plural

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pytest_irmetrics.reports.item_report import Edit, SinceReport

_NAMED = 5
"""How many queries or edits a sentence names."""

LEADS = {"accepted": "ACCEPTED", "refused": "REFUSED", "unreadable": "UNKNOWN"}
"""Verdict → the word that a line on it begins with."""

_STATES = ("refused", "accepted", "unreadable", "changed", "new", "unchanged")
"""In the order in which they are counted."""

_WHY = {
    "baseline": "this branch stores its baseline anew",
    "limits": "this branch loosened its limits",
}

_EDITS = {
    "dropped": ("query dropped", "queries dropped"),
    "excluded": ("query excluded (xfail)", "queries excluded (xfail)"),
    "renamed": ("query renamed, and so not compared", "queries renamed, and so not compared"),
    "reworded": ("query reworded (text, params or passages)", "queries reworded (text, params or passages)"),
    "included": ("query not excluded any more", "queries not excluded any more"),
    "added": ("query added", "queries added"),
    "judgment": ("judgment changed", "judgments changed"),
    "weight": ("weight changed", "weights changed"),
    "tags": ("query with other tags", "queries with other tags"),
    "no_answer": ("query with another no_answer", "queries with another no_answer"),
    "forbidden": ("forbidden document changed", "forbidden documents changed"),
    "relevance level": ("relevance level changed", "relevance levels changed"),
    "depth": ("depth changed", "depths changed"),
    "limit": ("limit differs", "limits differ"),
}
"""Kind of edit → what it is called, of one and of several."""


def headlines(since: SinceReport) -> list[str]:
    """Return a sentence on each verdict that is accepted, or on why nothing can be said; none where neither is so."""
    if since.state == "unreadable":
        verdict = "Not accepted, as ir_accept is `fail`" if since.refused else "What is accepted is unknown"
        return [f"{verdict}: the baseline of {since.where} cannot be read. {since.why}"]
    if since.refused:
        return [
            f"{one.text} {_WHY[one.why].capitalize()}, which `ir_accept = fail` does not allow."
            for one in since.accepted
        ]
    return [f"{one.text} It passes, because {_WHY[one.why]}." for one in since.accepted]


def cure(since: SinceReport) -> str:
    """Return how to accept what ``ir_accept = fail`` refuses, or else to mend it, in a sentence."""
    accept = "add `-o ir_accept=warn` to this command"
    if since.state == "unreadable":
        return f"To let it pass, {accept}."
    return f"To accept it, {accept}; else mend the search, and store its baseline again."


def details(since: SinceReport) -> list[str]:
    """Return a sentence on what is undecided, on the queries that pay, on each gated mean that moved, and on each kind of edit."""
    return [
        *(f"Its baseline was {path}." for path in [since.renamed_from] if path),
        *since.undecided,
        *since.pays,
        *_means(since),
        *edit_sentences(since.edits),
        *([f"Note: {since.why}"] if since.why and since.state != "unreadable" else []),
    ]


def one_line(since: SinceReport) -> str:
    """Return in a phrase how a test stands to that commit."""
    if since.state == "new":
        return f"new since {since.where}: there is no baseline of this test to compare with"
    return f"{since.verdict or since.state} since {since.where}"


def _means(since: SinceReport) -> Iterator[str]:
    accepted = {(one.metric, one.tag) for one in since.accepted}
    for mean in since.means:
        if [*mean.parts] != ["retriever"] or (
            mean.metric,
            mean.tag,
        ) not in accepted:  # else the headline said it
            parts = ", ".join(f"{part} {signed_text(delta)}" for part, delta in mean.parts.items())
            name = mean.metric if mean.tag is None else f"{mean.metric} [{mean.tag}]"
            yield f"{name} {change_text(mean.before, mean.now)}: {parts}."


def edit_sentences(edits: Sequence[Edit]) -> Iterator[str]:
    """Yield a sentence on each kind of edit, those that hold less first."""
    for kind, (one, many) in _EDITS.items():
        alike = sorted((edit for edit in edits if edit.kind == kind), key=lambda edit: not edit.weaker)
        if alike:
            yield f"{plural(len(alike), one, many)}: {listed(alike, _NAMED, _edit)}."


def _edit(edit: Edit) -> str:
    values = "" if edit.before == edit.now else f"{edit.before or 'none'} → {edit.now or 'none'}"
    return " ".join(filter(None, [edit.what, values, "(holds less)" if edit.weaker else ""]))


def gone(path: str, since: SinceReport) -> str:
    """Say that a baseline is gone, and its test with it."""
    return f"Gone since {since.where}: the baseline {path}. Its test is not gated any more."


def counted(items: Sequence[SinceReport]) -> str:
    """Return how many tests are in which state, and how many are held to less.

    `since origin/main (1a2b3c4d5): 1 accepted, 2 changed, 40 unchanged; 1 test has a limit that holds less`.
    """
    states = [one.verdict or one.state for one in items]
    counts = [f"{states.count(state):,} {state}" for state in _STATES if state in states]
    weaker = sum(one.holds_less for one in items)
    held = f"{plural(weaker, 'test has a limit', 'tests have limits')} that {'holds' if weaker == 1 else 'hold'} less"
    return f"since {items[0].where}: {', '.join(counts)}{f'; {held}' if weaker else ''}"
