"""Read many versions of one stored run: a query's line that several versions have is parsed once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_irmetrics.run import json as run_json
from pytest_irmetrics.run.answer import RunError, decode
from pytest_irmetrics.run.run import Run

if TYPE_CHECKING:
    from pytest_irmetrics.run.answer import Answer

_BEGIN, _BETWEEN, _END = '"queries": [\n', ",\n", "\n]\n}\n"


class RunVersions:
    """Reads the versions of one stored run; equal lines give the same Answer object."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[str, Answer]] = {}

    def read(self, data: bytes, shown: str) -> Run:
        """Read one version; `shown` is how errors call it. Raises RunError."""
        text = decode(data, shown).replace("\r\n", "\n")
        head, begin, rest = text.partition(_BEGIN)
        if not begin or not rest.endswith(_END):  # empty, reformatted or broken
            return Run.loads(text, shown)
        lines = rest.removesuffix(_END).split(_BETWEEN)
        known = self._known
        fresh = [line for line in lines if line not in known]
        try:
            answers, header = run_json.read(head + begin + _BETWEEN.join(fresh) + _END, shown)
        except RunError:
            return Run.loads(text, shown)  # whose error has the right line
        if len(answers) != len(fresh):  # several queries on one line, or one on several
            return Run.loads(text, shown)
        known.update(zip(fresh, answers.items(), strict=True))
        found = dict(map(known.__getitem__, lines))
        if len(found) != len(lines):  # a query that is there twice
            return Run.loads(text, shown)
        return Run.of(found, *header)
