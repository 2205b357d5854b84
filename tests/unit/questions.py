"""What a retriever is asked where no golden set is needed."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass
class Query:
    id: str
    text: str | None = "text"
    params: dict = field(default_factory=dict)


QUERIES = [Query(f"q{number}", f"text {number}") for number in range(8)]
ONE = QUERIES[:1]
