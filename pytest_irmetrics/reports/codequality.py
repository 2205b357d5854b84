"""GitLab's Code Quality report: each failed gate as a finding at the golden set's line, which a merge request shows.

The format is what GitLab documents for ``artifacts:reports:codequality``: a JSON list of findings with ``description``, ``check_name``,
``fingerprint``, ``severity`` and ``location``.
"""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

from pytest_irmetrics.base.escape import escape_terminal
from pytest_irmetrics.base.wording import cut
from pytest_irmetrics.reports.places import Place, failures, place_of_gate
from pytest_irmetrics.reports.query_details import failed_gates

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_irmetrics.reports.session_report import SessionReport

_LONGEST = 1000
"""Characters of a description."""


def render(session: SessionReport) -> str:
    """Return the findings as JSON text, those first that GitLab should show first."""
    return json.dumps(list(_findings(session)), indent=1) + "\n"


def _findings(session: SessionReport) -> Iterator[dict[str, Any]]:
    for number, failure in enumerate(failures(session)):
        if failure.item is None:
            text = f"{failure.nodeid}: {failure.text}"
            yield _finding("unmeasured", failure.place, text, "critical", failure.nodeid, number)
            continue
        for gate in failed_gates(failure.item):
            place = place_of_gate(gate, failure.item, session)
            severity = "critical" if gate.word == "errors" else "major"
            # The same gate is the same finding, whatever the numbers and lines: GitLab tells new ones from known ones.
            identity = failure.nodeid, gate.metric, gate.tag, gate.queries[:1] if gate.single else None
            yield _finding(gate.word, place, f"{failure.item.golden_set}: {gate.text}", severity, *identity)
    since = session.since
    for nodeid, text in session.accepted:
        if since[nodeid].verdict != "refused":
            yield _finding(
                "accepted", Place(since[nodeid].file), text, "minor", nodeid, text.partition(" fell")[0]
            )


def _finding(name: str, place: Place, text: str, severity: str, *identity: object) -> dict[str, Any]:
    """Return a finding; `identity` tells it from others of the same check."""
    known_by = json.dumps([name, *identity]).encode()
    return {
        "description": escape_terminal(cut(text, _LONGEST)),
        "check_name": f"irmetrics.{name}",
        "fingerprint": hashlib.sha256(known_by).hexdigest(),
        "severity": severity,
        "location": {"path": place.file, "lines": {"begin": place.line or 1}},
    }
