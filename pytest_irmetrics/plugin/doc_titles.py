"""The titles that reports show beside the ids of documents: those of the fixture ``ir_doc_title``, else those that came back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pytest_irmetrics.base.wording import cut
from pytest_irmetrics.retrieval.describe import describe
from pytest_irmetrics.retrieval.passages import document_of

if TYPE_CHECKING:
    from collections.abc import Iterable

_LONGEST = 120


class DocTitles:
    """The titles of the documents of one test."""

    def __init__(self, given: Any) -> None:
        """``given`` is what the fixture ``ir_doc_title`` returns: a function of an id, a mapping, or None."""
        self._given = given
        self.returned: dict[str, str] = {}
        """Id → the title of the document that came back."""
        self.problem = ""
        """Why no further title is shown, for a note; empty where nothing went wrong."""

    def of(self, doc_ids: Iterable[str], passages: Mapping[str, str]) -> dict[str, str]:
        """Return the titles of those documents that have one; of a chunk, or of one of ``passages``, that of its document."""
        titles = {}
        for doc_id in doc_ids:
            title = self._title(passages.get(doc_id) or document_of(doc_id))
            if title:
                titles[doc_id] = cut(" ".join(title.split()), _LONGEST)
        return titles

    def _title(self, doc_id: str) -> str | None:
        if self._given is None:
            return self.returned.get(doc_id)
        if self.problem:
            return None
        try:
            title = self._given.get(doc_id) if isinstance(self._given, Mapping) else self._given(doc_id)
        except Exception as error:  # noqa: BLE001 - the user's function may raise anything, and a title decides nothing
            self.problem = f"ir_doc_title raised {describe(error)} for the document {cut(doc_id)}; no more titles are shown."
            return None
        if title is not None and not isinstance(title, str):
            self.problem = (
                f"ir_doc_title gave {describe(title)} for the document {cut(doc_id)}; a title is a text, or None where there "
                "is none. No more titles are shown."
            )
            return None
        return title
