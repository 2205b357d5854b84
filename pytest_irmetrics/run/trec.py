"""Read and write TREC runs: lines of ``query Q0 document rank score tag``; golden/format_txt.py refuses them as golden sets."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from pytest_irmetrics.base.files import CONFLICT
from pytest_irmetrics.base.wording import plural, quote
from pytest_irmetrics.run.answer import Answer, Answers, RunError, decode, how_to_restore, ranked

_WRITE = "Write `query Q0 document rank score tag`, ids without white space."


def lines(answers: Answers) -> Iterator[str]:
    """Yield a line for each document of the first repeats, for `Run.save` and `convert`. Raises RunError for what no such line can hold."""
    for query_id in sorted(answers):
        ranking = answers[query_id].rankings[0]
        for number, name in enumerate((query_id, *ranking)):
            if why := _why_unfit(name, is_query=number == 0):
                cure = "Save" if number else "Give the query an `id` of its own, or save"
                raise RunError(f"{quote(name)} is no id of a TREC run: {why}. {cure} with the suffix .json.")
        for rank, doc in enumerate(ranking):
            # Scores that fall by one keep the order for every reader, also for those that compare floats.
            yield f"{query_id} Q0 {doc} {rank + 1} {len(ranking) - rank} pytest-irmetrics\n"


def _why_unfit(name: str, *, is_query: bool) -> str:
    """Say why a name would not be read back as it is; empty where it would."""
    data = name.encode("utf-8", "surrogatepass")
    if not name:
        return "it is empty"
    if data.split() != [data]:
        return "it holds white space, which parts the fields"
    if any("\ud800" <= char <= "\udfff" for char in name):
        return "it has no UTF-8"
    if is_query and name == "#":
        return "a line that begins with it is a comment"
    return ""


def read(data: bytes, shown: str) -> dict[str, Answer]:
    """Read lines in any order; documents come in the order of trec_eval: by score. Ranks are only compared with that order (`agreeing`).

    A line has six fields, which are split in bytes, at ASCII white space, as trec_eval does: an id may hold a no-break
    space. Comments are not read. `shown` is how errors call the file. Raises RunError.
    """
    decode(data, shown, "Save the file as UTF-8.")  # raises RunError where it is no text

    def error(number: int, fault: str, cure: str = _WRITE) -> RunError:
        return RunError(f"{shown}:{number}: {fault}. {cure}")

    found: dict[bytes, dict[str, tuple[float, bytes]]] = {}
    """Query → document → score, and rank as it is written."""
    for number, line in enumerate(data.removeprefix(b"\xef\xbb\xbf").splitlines(), 1):
        fields = line.split()
        try:  # NaN stands for no score, and 1_0 is none: the line is blank, a comment or wrong
            query_id, _, doc, rank, written, _ = fields
            score = math.nan if b"_" in written or query_id == b"#" else float(written)
        except ValueError:
            score = math.nan
        if math.isnan(score):
            if not fields or line[:1] == b"#":
                continue
            if CONFLICT.match(line.decode()):
                raise error(number, "is in a merge conflict", how_to_restore(shown))
            if len(fields) == 6:
                raise error(number, f"the score {quote(fields[4].decode())} is not a number")
            raise error(number, f"{plural(len(fields), 'field')}, not 6")
        ranking, doc_id = found.setdefault(query_id, {}), doc.decode()
        if doc_id in ranking:
            fault = f"the document {quote(doc_id)} comes twice for query {quote(query_id.decode())}"
            raise error(number, fault, "Keep one of the lines.")
        ranking[doc_id] = score, rank
    if not found:
        raise error(1, "the file is empty", "Give a TREC run, of lines `query Q0 document rank score tag`.")
    answers = {}
    for query_id, results in found.items():
        best_first = ranked((doc_id, score) for doc_id, (score, _) in results.items())
        agreeing = _agreeing([results[doc_id][1] for doc_id in best_first])
        answers[query_id.decode()] = Answer((best_first,), agreeing=agreeing)
    return answers


def _agreeing(ranks: Sequence[bytes]) -> int | None:
    """Count the results from the top that are in the order of their ranks; None where all are, or ranks are no numbers."""
    try:
        numbers = [int(rank) for rank in ranks]
    except ValueError:
        return None
    rising = sorted(numbers)
    return next((place for place, rank in enumerate(numbers) if rank != rising[place]), None)
