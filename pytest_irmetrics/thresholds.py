"""Read thresholds, such as `ndcg@10 0.7 max_drop=0.01`, and merge those of several places into the gates of a test."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import InitVar, dataclass
from difflib import get_close_matches
from typing import Literal, NamedTuple, get_args

from pytest_irmetrics.base import IRMetricsError
from pytest_irmetrics.base.numbers import as_whole_number, finite_number, read_number
from pytest_irmetrics.base.wording import cut, quote
from pytest_irmetrics.metrics import Metric, parse_metric

EACH_TAG = "*"
"""The tag of a limit on each tag that `MIN_TAGGED` queries or more carry."""
MIN_TAGGED = 10
"""How many queries must carry a tag for a limit on each tag to be on it; docs/reference/marks.md and CHANGELOG.md say it, too."""

_OFF = "off"
"""The limit that cancels one of a place further away."""
_MAX_SHOWN = 60  # characters of a user's text that a message repeats
# Text in parentheses or quotes is one token, spaces included.
_TOKEN = re.compile(r"""(?:\([^()]*\)|"[^"]*"|'[^']*'|[^\s])+""")


class ThresholdError(IRMetricsError, ValueError):
    """A threshold that cannot be used: the message says what is wrong, and what to write instead."""


class Limit(NamedTuple):
    """A number to hold a score against: on the metric's own scale, or in per cent of the baseline; or `auto`."""

    value: float
    percent: bool = False
    """Whether `value` is in per cent, so that 5 means five hundredths of the baseline."""
    auto: bool = False
    """Whether it is `auto`: a fall up to `value` passes, one beyond `AUTO_FAILS_BEYOND` fails; between them it fails unless chance explains it."""

    def __str__(self) -> str:
        """As one would write it: ``0.7``, ``5%``, ``3``, ``auto``."""
        return "auto" if self.auto else repr(self.value).removesuffix(".0") + ("%" if self.percent else "")


AUTO = Limit(0.01, auto=True)
"""How far a mean may fall from the baseline where nothing says so; see `AUTO_FAILS_BEYOND`.

CHANGELOG.md and docs/index.md, messages.md, thresholds.md and statistics.md have the numbers.
"""

AUTO_FAILS_BEYOND = 0.05
"""The fall beyond which `auto` fails whatever chance explains; of a metric without an upper bound, as one's own is, a share of the baseline's mean."""


class Word(NamedTuple):
    """A word of thresholds: how it is shown, which limits it takes, and what it compares with."""

    sign: str
    """What stands before its limit in a table of scores."""
    example: str
    """What may be written for its limit; `%` and `auto` in it are what it takes besides numbers and `off`, in the JSON Schema too."""
    fails_when: str
    """When a gate of this word fails, after "fails where"."""
    range: Literal["score", "change", "count", "level"]
    """Its limits: a score of the metric, a difference of two, a number of queries, or a level between 0 and 1."""
    advice: str = ""
    """What to write in place of a limit out of its range; of a score the range says it."""
    looser: Literal["higher", "lower"] = "higher"
    """Which limit lets more pass."""
    for_query: bool = False
    """Whether a query's own threshold may have it; the others are about many queries."""
    compares_with: Literal["", "baseline", "run"] = ""
    """What a run is held against: nothing, the baseline, or any other run."""
    of_each: bool = False
    """Whether each query is held to it, so that `--ir-query` judges it too; else a mean, or a number of queries."""

    @property
    def is_least(self) -> bool:
        """Whether it says how low a score may be; such words alone hold `overlap`."""
        return self.range == "score" and self.looser == "lower"


WORDS: Mapping[str, Word] = {
    "min": Word("≥", "0.7", "the mean is below it", "score", looser="lower", for_query=True),
    "max": Word("≤", "0.7", "the mean is above it", "score"),
    "max_drop": Word("drop≤", "0.01, 5% or auto", "the mean fell further than this from the baseline", "change", "Write how far it may fall, such as 0.01, or 5% of the baseline.", for_query=True, compares_with="baseline"),
    "min_each": Word("each≥", "0.7", "any query scores below it", "score", looser="lower", of_each=True),
    "max_lost": Word("lost≤", "3", "more queries than this fell to 0 against the baseline", "count", "Write how many queries, a whole number, 0 or more.", compares_with="baseline"),
    "significance": Word("p<", "0.05", "there is no `max_drop` to narrow; a fall beyond that whose p-value is not below this is undecided", "level", "Write a level between 0 and 1, such as 0.05.", looser="lower"),
    "min_gain": Word("gain≥", "0.01", "the mean did not rise by at least this over what it is compared with", "change", "Write how far it must rise, such as 0.01; `max_drop` says how far it may fall.", looser="lower", compares_with="run"),
}  # fmt: skip
"""The words of thresholds, in the order in which they are listed."""

QUERY_WORDS = tuple([name for name, word in WORDS.items() if word.for_query])
BASELINE_WORDS = tuple([name for name, word in WORDS.items() if word.compares_with == "baseline"])
"""The words that hold a run against the baseline: it must not have become worse."""

COMPARING_WORDS = tuple([name for name, word in WORDS.items() if word.compares_with])
"""The words that hold a run against another, which need not be the baseline."""


def _out_of_range(metric: Metric, word: Word, limit: Limit) -> str:
    """Say what is wrong with a limit, after `NAME is LIMIT`; empty where nothing is."""
    value, lower, upper = limit.value, metric.lower, metric.upper
    within = {
        "score": lower <= value <= upper,
        "change": 0 <= value <= (100 if limit.percent else upper),
        "count": value >= 0 and value == int(value),
        "level": 0 < value < 1,
    }[word.range]
    if within or word.advice:
        return "" if within else f", out of its range. {word.advice}"
    if not math.isfinite(upper):
        return f". Write a number, {Limit(lower)} or more."
    hint = f" For {limit} per cent, write {value / 100:g}." if upper < value <= 100 else ""
    return f", which it can never be. Write a number from {Limit(lower)} to {Limit(upper)}.{hint}"


class Threshold(NamedTuple):
    """The limits that one place (a mark, a golden set, a setting) sets on one metric."""

    metric: Metric
    limits: Mapping[str, Limit | None]
    """Word → limit, in the order written; None is `off`, which cancels the limit of a place further away."""
    tag: str | None
    """Which queries: those with this tag; None is all of them."""
    origin: str
    """Where it was written: ``golden/faq.yaml:12:3``, or what else helps to find it."""
    by_default: bool = False
    """Whether nobody wrote it: it applies because of a setting's default."""


class Gate(NamedTuple):
    """One limit that one test is held to: on a metric's mean over all queries or those with a tag, or on one query's score."""

    metric: Metric
    tag: str | None
    """Which queries: those with this tag; None is all of them."""
    word: str
    """What the limit says of the metric, one of `WORDS`: ``min``, ``max_drop``, …"""
    limit: Limit
    origin: str
    """Where the limit was written: ``golden/faq.yaml:12:3``, or what else helps to find it."""
    by_default: bool = False
    """Whether nobody wrote it: it applies because of a setting's default."""
    query_id: str | None = None
    """The one query that it is on, by a threshold of its own; None is a mean."""

    @property
    def compares(self) -> bool:
        """Whether it holds a run against another, so that without one it is not checked."""
        return bool(WORDS[self.word].compares_with) or self.metric.kind == "overlap"

    @property
    def sign(self) -> str:
        """The limit as tables show it: `≥0.8`, `drop≤5%`."""
        return f"{WORDS[self.word].sign}{self.limit}"

    def allowed(self, baseline: float | None) -> float:
        """Return the limit as a number on the metric's scale; `baseline` is the mean that a share is taken of."""
        return self._scaled(self.limit.value / 100 if self.limit.percent else self.limit.value, baseline)

    def fails_beyond(self, baseline: float | None) -> float:
        """Return the fall beyond which a `max_drop` fails whatever chance explains; of `auto` more than `allowed`."""
        return self._scaled(AUTO_FAILS_BEYOND, baseline) if self.limit.auto else self.allowed(baseline)

    def _scaled(self, number: float, baseline: float | None) -> float:
        # Of a metric without an upper bound, as one's own is, 0.01 may be much or nothing: `auto` is a share of its baseline there.
        is_share = self.limit.percent or (self.limit.auto and not math.isfinite(self.metric.upper))
        return number * abs(baseline or 0.0) if is_share else number


State = Literal["failed", "accepted", "undecided", "not checked", "passed"]
"""What a gate came to, in the order of every output.

``undecided``: the mean fell further than its limit, but no further than chance or run noise explains; ``accepted``: this
branch has stored the fall in its baseline. Both pass.
"""

STATES: tuple[State, ...] = get_args(State)


@dataclass(eq=False)
class Gates:
    """All gates of one test, grouped by metric and tag in the order in which thresholds name them."""

    gates: InitVar[Iterable[Gate]] = ()
    own: Mapping[str, Sequence[Threshold]] | None = None
    """Query id → the thresholds of its own; None: those of the golden set at hand."""
    also: Sequence[Gates] = ()
    """Further limits on the same run: of two verdicts on one thing the worse one counts."""
    off: Sequence[tuple[Metric, str | None, str]] = ()
    """Metric, tag and word of each limit on each tag that is `off` for that tag."""
    too_small: Sequence[str] = ()
    """The tags that a limit on each tag leaves out, as too few queries carry them."""
    unreadable: Sequence[str] = ()
    """Of the limits that were stored with a run those on metrics, or by words, that are none today: ``mine max_drop 0.5``."""

    def __post_init__(self, gates: Iterable[Gate]) -> None:
        self.slices: dict[tuple[Metric, str | None], dict[str, Gate]] = {}
        """The gates of each metric and tag that has one, in order, by word."""
        for gate in gates:
            self.slices.setdefault((gate.metric, gate.tag), {})[gate.word] = gate

    def __iter__(self) -> Iterator[Gate]:
        for words in self.slices.values():
            yield from words.values()

    def where(self, kept: Callable[[Gate], bool]) -> Gates:
        """Return the gates for which `kept` is true, and what is `off`."""
        return Gates(filter(kept, self), off=self.off)

    def of(self, metric: Metric, tag: str | None = None) -> Mapping[str, Gate]:
        """Return the gates on a metric over the queries with `tag` (None: over all queries), by word."""
        return self.slices.get((metric, tag), {})

    def own_thresholds(self, query_id: str, written: Sequence[Threshold]) -> Sequence[Threshold]:
        """Return the thresholds of a single query's own: those that were stored with these gates, else those `written` for it."""
        return written if self.own is None else self.own.get(query_id, ())

    def own_gates(self, written: Iterable[tuple[str, Sequence[Threshold]]]) -> Iterator[Gate]:
        """Yield the gates on single queries, by thresholds of their own; `written` are the id of each and what is written for it."""
        for query_id, thresholds in written:
            for threshold in self.own_thresholds(query_id, thresholds):
                for word, limit in threshold.limits.items():
                    if limit is not None:
                        yield Gate(threshold.metric, None, word, limit, threshold.origin, query_id=query_id)


def as_written(limit: Limit | None) -> str | float:
    """Return a limit as files have it: a number, or a text such as ``5%``, ``auto`` or ``off``."""
    if limit is None:
        return _OFF
    return str(limit) if limit.percent or limit.auto else as_whole_number(limit.value)


def read_limit(
    metric: Metric, word: str, value: object, name: str | None = None, *, for_query: bool = False
) -> Limit | None:
    """Read the limit that `word` sets on `metric`: a number, its text, ``"off"`` (None), ``"5%"`` or ``"auto"`` where its example has these.

    `WORDS` has the ranges; a percentage is from 0% to 100%. A latency has `max` alone, and a single query's own threshold
    (`for_query`) fewer words and no `auto`. Raises ThresholdError, which calls the limit by `name`, else by word and metric.
    """
    name = name or f"`{word}` of {metric}"
    if problem := _unusable_word(metric, word, for_query=for_query):
        raise ThresholdError(problem)
    if isinstance(value, str):
        if value == _OFF:
            return None
        if value == "auto" and "auto" in WORDS[word].example and not for_query:
            return AUTO
        shown, percent, number = quote(value), value.endswith("%"), read_number(value.removesuffix("%"))
    else:
        shown, percent, number = cut(repr(value), _MAX_SHOWN), False, finite_number(value)
    if percent and "%" not in WORDS[word].example:
        takers = _code_list(one for one in WORDS if "%" in WORDS[one].example)
        raise ThresholdError(f"{name} is {shown}, but only {takers} takes per cent. Write a number.")
    if number is None:
        example = WORDS[word].example.removesuffix(" or auto" if for_query else "")
        raise ThresholdError(f"{name} is {shown}, which is no number. Write for example {example}, or off.")
    limit = Limit(number, percent)
    if problem := _out_of_range(metric, WORDS[word], limit):
        raise ThresholdError(f"{name} is {limit}{problem}")
    return limit


def _unusable_word(metric: Metric, word: str, *, for_query: bool) -> str:
    """Say why a threshold on a metric, or with `for_query` a query's own, cannot have a word; empty where it can."""
    allowed = QUERY_WORDS if for_query else tuple(WORDS)
    if word not in allowed:
        if word in WORDS:
            return f"`{word}` is about many queries, and this threshold is about one. Use {_code_list(QUERY_WORDS)}."
        close = get_close_matches(word.lower(), allowed)
        advice = f"Did you mean `{close[0]}`?" if close else f"The words are {_code_list(allowed)}."
        return f"{quote(word)} is not a keyword of a threshold. {advice}"
    if metric.kind == "latency" and word != "max":
        return f"`{word}` does not apply to {metric}, where lower is better. Use `max`, in milliseconds."
    if metric.kind == "overlap" and not WORDS[word].is_least:
        return f"`{word}` does not apply to {metric}, which compares with the baseline itself. Use `min` or `min_each`."
    return ""


def build(
    metric_text: str, words: Mapping[str, object], tag: str | None, origin: str, custom: Collection[str]
) -> Threshold:
    """Make a Threshold of a metric's name and of limits as the user wrote them.

    `custom` holds the names of metrics of one's own. Raises MetricError and ThresholdError.
    """
    metric = parse_metric(metric_text, custom=custom)
    if not words:
        raise ThresholdError(f"The threshold on {metric} has no limit. Write one: {_code_list(WORDS)}.")
    limits = {word: read_limit(metric, word, value) for word, value in words.items()}
    return Threshold(metric, limits, tag, origin)


def parse_line(line: str, origin: str, custom: Collection[str]) -> Threshold:
    """Read a setting's line: ``METRIC [MIN] word=value … [tag=NAME]``.

    A tag with spaces stands in quotes. Raises MetricError and ThresholdError.
    """
    metric, *tokens = _TOKEN.findall(line) or [""]
    words: dict[str, str] = {}
    for position, token in enumerate(tokens):
        word, _, value = token.partition("=")
        if not position and (read_number(token) is not None or token == _OFF):
            word, value = "min", token
        elif not (word and value):
            advice = "Write for example max_drop=0.01, without spaces around the `=`."
            raise ThresholdError(f"{quote(token)} is not `word=value`. {advice}")
        if word in words:
            raise ThresholdError(f"`{word}` is given twice. Keep one.")
        words[word] = value[1:-1] if value[0] == value[-1] and value[0] in "\"'" else value
    tag = words.pop("tag", None)
    if tag is not None and not tag.strip():
        raise ThresholdError("`tag` is blank. Write a tag that queries carry.")
    return build(metric, words, tag=tag, origin=origin, custom=custom)


def resolve(levels: Iterable[Iterable[Threshold]]) -> Gates:
    """Merge the thresholds of several places, nearest first, into the gates that hold.

    The nearest wins, word by word, for each metric and tag; `off` removes what places further away say. Raises
    ThresholdError where one place sets a word of a metric and tag twice.
    """
    # Metric and tag → word → the nearest threshold that sets it. A place keeps its order even where it says `off`.
    nearest: dict[tuple[Metric, str | None], dict[str, Threshold]] = {}
    for level in levels:
        here: dict[tuple[Metric, str | None, str], str] = {}
        for threshold in level:
            metric, tag = threshold.metric, threshold.tag
            words = nearest.setdefault((metric, tag), {})
            for word in threshold.limits:
                if (metric, tag, word) in here:
                    slice_ = "" if tag is None else f" for the tag {quote(tag)}"
                    places = " and ".join(dict.fromkeys((here[metric, tag, word], threshold.origin)))
                    message = f"`{word}` of {metric.name}{slice_} is set twice ({places}). Keep one."
                    raise ThresholdError(message)
                here[metric, tag, word] = threshold.origin
                words.setdefault(word, threshold)
    gates, off = [], []
    for (metric, tag), words in nearest.items():
        for word, threshold in words.items():
            limit = threshold.limits[word]
            if limit is not None:
                gates.append(Gate(metric, tag, word, limit, threshold.origin, threshold.by_default))
            elif word in nearest.get((metric, EACH_TAG), {}):
                off.append((metric, tag, word))
    return Gates(gates, off=off)


def _code_list(words: Iterable[str]) -> str:
    return ", ".join(f"`{word}`" for word in words)
