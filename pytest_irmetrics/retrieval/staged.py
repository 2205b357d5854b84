"""An answer with what stood at earlier stages of the search, so that a failure can say where a document was lost."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Staged:
    """A retriever's answer to one query, with what stood at earlier stages; made by `staged`."""

    ranking: Any
    """The final ranking, which alone is scored, stored and compared."""
    stages: Mapping[str, Any]
    """By the stage's name what stood there, in any shape that a ranking may have, and of any length."""

    def ranks(self, wanted: Collection[str]) -> dict[str, dict[str, int]]:
        """Return by stage the rank, from 1, of each of some documents that is in it. What stood there must have been read."""
        return {
            name: {doc_id: rank for rank, doc_id in enumerate(ids, 1) if doc_id in wanted}
            for name, ids in self.stages.items()
        }


def staged(ranking: Any, /, **stages: Any) -> Staged:
    """Return an answer to one query together with what stood at earlier stages: `staged(reranked, candidates=fused, dense=near)`.

    `ranking` is what a retriever returns without this, and alone is scored, stored and compared. Each stage has any shape
    that `ranking` may have, and any length; name the stage next to the final ranking first, then those before it.
    """
    return Staged(ranking, stages)
