"""Whole error messages, advice included, held against files below tests/expected/messages; `make expected` writes these anew.

The cases are those of the tests of each room, which look at a part of each message.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator

import pytest

from pytest_irmetrics.retrieval import batched, retrieve
from tests.expected import assert_as_expected
from tests.unit.retrieval import test_answers, test_batches
from tests.unit.retrieval.helpers import QUERIES, ids


def cases_of(test):
    """The rows of a parametrized test."""
    return next(mark.args[1] for mark in test.pytestmark if mark.name == "parametrize")


def retrieval(_tmp_path):
    for answer, _ in cases_of(test_answers.TestAnswers.test_other_answers_are_explained):
        if not isinstance(answer, Iterator):  # another test has gone through it
            yield ids(answer)
    for answer, _ in cases_of(
        test_batches.TestBatches.test_an_answer_without_one_result_for_each_query_is_explained
    ):
        if not isinstance(answer, Iterator):
            yield retrieve(QUERIES, batched(functools.partial(lambda answer, _: answer, answer))).errors["q7"]


OTHER_PEOPLES_WORDS = re.compile(
    r"(?<=is not JSON: )[^.]*|(?<=cannot be stored: )[^.]*|(?<=Accepted, )best first: .*"
)

OTHER_PEOPLES_REPR = re.compile(r" at 0x| id='\d|\bnp\.|\barray\(")


@pytest.mark.parametrize("room", [retrieval], ids=lambda room: room.__name__)
def test_messages_are_as_expected(room, tmp_path):
    """Without what differs by versions of Python and NumPy, and without what each answer's message ends with."""
    messages = [OTHER_PEOPLES_WORDS.sub("…", message) for message in room(tmp_path)]
    shown = [message[:500] for message in messages if not OTHER_PEOPLES_REPR.search(message)]
    assert_as_expected(f"messages/{room.__name__}.txt", "".join(f"{message}\n" for message in shown))


def test_a_message_about_an_answer_ends_with_all_that_is_accepted():
    assert_as_expected("messages/accepted.txt", ids(None) + "\n")
