"""An executor of the user's makes the calls; answers come back in order, and whatever is lost on the way is named."""

from __future__ import annotations

import copyreg
import multiprocessing
import os
import pickle
import signal
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

import pytest

from pytest_irmetrics import RetrievalError, batched
from tests.retrievers.ways import LONG, answered, as_async, ask, outcome

FORTY = [f"text {n}" for n in range(40)]

pytestmark = [
    pytest.mark.filterwarnings(
        "ignore:.*fork.*:DeprecationWarning"
    ),  # of other tests' threads, Python 3.12 on
    pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="there is no SIGKILL here"),
]


def search(query, k):
    return [query, str(k), str(os.getpid())]


def search_all(queries, k):
    return [[query, str(k)] for query in queries]


def fail_at_three(query):
    if query == "text 3":
        raise ValueError("three")
    return [query]


def hang_at_three(query):
    if query == "text 3":
        signal.pause()
    return [query]


def die_at_thirty(query):
    if query == "text 30":
        os.kill(os.getpid(), signal.SIGKILL)
    return [query]


def die(_query):
    os._exit(3)


def break_down():
    raise OSError("no index")


def answer_later(query):
    return as_async(lambda: [query])()


def forget_reducers():
    """Drop the way to pickle errors that importing Dask leaves in a process that is forked: it fails for a skip."""
    copyreg.dispatch_table.clear()


@pytest.fixture(scope="module", params=["fork", "spawn"])
def processes(request):
    if request.param not in multiprocessing.get_all_start_methods():
        pytest.skip(f"processes cannot {request.param} here")
    with ProcessPoolExecutor(2, multiprocessing.get_context(request.param), forget_reducers) as executor:
        yield executor


@pytest.mark.parametrize("options", [{}, {"timeout": LONG}, {"repeat": 2, "concurrency": 3}])
def test_processes_answer_as_this_one_does(processes, options):
    found = ask(search, FORTY, executor=processes, **options)
    assert list(found.run) == FORTY
    for text in FORTY:
        for ranking in found.run.answers[text].rankings:
            assert ranking[:2] == (text, "10")
            assert ranking[2] != str(os.getpid())
    found = ask(batched(search_all, 7), FORTY, executor=processes, **options)
    assert answered(found) == {text: [text, "10"] for text in FORTY}


def test_the_query_that_failed_or_is_late_is_named_and_its_worker_goes_on(processes):
    found = ask(fail_at_three, FORTY, executor=processes)
    assert list(found.errors) == ["text 3"]
    assert found.errors["text 3"].startswith("raised ValueError: three (tests/retrievers/test_executors.py:")
    found = ask(hang_at_three, FORTY, executor=processes, timeout=1, repeat=2)
    assert "no answer came within 1 s (ir_timeout)." in found.errors["text 3"]
    assert {*found.errors, *answered(found)} == {*FORTY}


@pytest.mark.parametrize(
    ("retriever", "words"),
    [
        ("(lambda: lambda query: [query])()", "cannot be sent to the processes … a function of a module"),
        ("answer_later", "processes of ir_executor, or its answer back: … coroutine"),
        ("pytest.skip", "or its answer back"),
    ],
)
def test_what_cannot_be_sent_is_explained(processes, retriever, words):
    found = ask(eval(retriever), FORTY, executor=processes)
    assert list(found.errors) == FORTY[:5]
    assert [one for one in words.split(" … ") if one not in found.errors["text 0"]] == []
    assert len(answered(ask(search, FORTY, executor=processes))) == 40


def test_workers_that_die_fail_the_queries_that_they_had():
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as executor:
        assert len(answered(ask(search, FORTY, executor=executor))) == 40
        found = ask(die_at_thirty, FORTY, executor=executor, concurrency=2)
        assert "text 30" in found.errors
        assert {*found.errors, *answered(found)} == {*FORTY}
        (said,) = set(found.errors.values())
        assert "workers of ir_executor died (BrokenProcessPool): they were killed, ran out of memory" in said


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: ThreadPoolExecutor(1, initializer=break_down), "(BrokenThreadPool)"),
        (
            lambda: ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")),
            "(BrokenProcessPool)",
        ),
    ],
)
def test_workers_that_die_before_any_answer_are_explained(make, words):
    with make() as executor:
        said = outcome(ask(die if "Process" in words else search, FORTY, executor=executor))
    assert "or their initializer raised, or they cannot import the retriever's" in said
    assert words in said


def test_an_executor_that_is_shut_down_is_explained():
    executor = ThreadPoolExecutor(1)
    executor.shutdown()
    assert "ir_executor raised RuntimeError" in outcome(ask(search, executor=executor))


def test_what_goes_to_a_process_is_small():
    sizes = []

    class Weighing(ThreadPoolExecutor):
        def submit(self, fn, /, *args, **kwargs):
            sizes.append(len(pickle.dumps((fn, args, kwargs))))
            return super().submit(fn, *args, **kwargs)

    with Weighing(1) as executor:
        ask(search, FORTY, executor=executor)
    assert max(sizes) < 1500


def test_an_async_retriever_is_refused():
    with ThreadPoolExecutor(1) as executor, pytest.raises(RetrievalError, match="ir_concurrency is enough"):
        ask(as_async(search), executor=executor)


def test_calls_that_are_queued_are_not_made_after_the_end():
    asked = []

    def act(query):
        asked.append(query)
        raise ConnectionError("refused")

    with ThreadPoolExecutor(1) as executor:
        found = ask(act, FORTY, executor=executor)
    assert list(found.errors) == FORTY[:5]
    assert asked == FORTY[:5]


def test_the_calls_are_made_in_the_executor_of_the_fixture(project):
    project.write(
        "conftest.py",
        """
        import pickle, pytest
        from concurrent.futures import ThreadPoolExecutor
        from threading import current_thread

        class Far(ThreadPoolExecutor):
            def submit(self, function, retriever, *sent):
                return super().submit(function, retriever, *pickle.loads(pickle.dumps(sent)))

        @pytest.fixture
        def retriever():
            def search(query, k):
                assert current_thread().name.startswith("of-the-fixture")
                return ["doc-12", "doc-9", "doc-1"]

            return search

        @pytest.fixture
        def ir_executor():
            with Far(2, thread_name_prefix="of-the-fixture") as executor:
                yield executor
        """,
    )
    project.run().assert_outcomes(passed=1)
