"""Many queries at once in a test of pytest: async fixtures, skips, Ctrl-C, workers of xdist."""

from __future__ import annotations

import sys
from textwrap import dedent

import pytest

from tests.projects import ASYNCIO_SETTING, text_of

SIZE = 60
GOLDEN = "queries:\n" + "".join(
    f"  - {{id: q{n}, query: text {n}, relevant: [doc-{n}, other-{n}]}}\n" for n in range(SIZE)
)
CLIENT = """
    import asyncio, os, signal, pytest, pytest_asyncio

    class Client:
        '''Belongs to the loop on which it was made; `act` is what happens in a query of this number.'''

        def __init__(self):
            self.loop, self.left, self.act = asyncio.get_running_loop(), [], lambda number: None

        async def search(self, query, k):
            assert asyncio.get_running_loop() is self.loop, "another event loop"
            number = int(query.split()[1])
            try:
                await asyncio.sleep(0.001 * (number * 7 % 5))
                done = self.act(number)
                if done is not None:
                    await done
                return [f"doc-{number}", f"doc-{number + 1}"][: k - number % 2]
            finally:
                self.left.append(number)

    @pytest_asyncio.fixture
    async def client():
        client = Client()
        yield client
        print("LEFT", len(client.left), len(set(client.left)), flush=True)

    @pytest.fixture
    def retriever(client):
        return client.search
"""
SETTINGS = """
    [pytest]
    filterwarnings =
        error
        ignore::pytest.PytestAssertRewriteWarning
    ir_concurrency = %s
    %s
"""
BODY = """
    import asyncio, os, signal, pytest

    NEVER = 3600

    def act(number):
        %s

    @pytest.mark.asyncio
    @pytest.mark.ir_golden('golden/*.yaml')
    @pytest.mark.ir_threshold('mrr', 0.5)
    async def test_search_quality(irmetrics, client):
        client.act = act
        await irmetrics.acheck()

    def test_other():
        pass
"""


@pytest.fixture
def use(project):
    """Write a project with an async test, in which something happens in each query."""

    def use(act="pass", more="", concurrency=16):
        project.write("conftest.py", CLIENT)
        project.write("golden/faq.yaml", GOLDEN)
        project.write("pytest.ini", dedent(SETTINGS) % (concurrency, ASYNCIO_SETTING + more))
        project.write("test_search.py", dedent(BODY) % act)
        return project

    return use


def quiet(result):
    """What a run printed, with no sign of a task or an error left behind."""
    output = text_of(result)
    for sign in ("was destroyed", "never awaited", "never retrieved", "Event loop is"):
        assert sign not in output
    return output


def test_the_baseline_of_many_at_once_is_that_of_one_by_one(use):
    stored = []
    for concurrency, more in ((1, ""), (16, ""), (16, "ir_timeout = 600"), (1, "ir_timeout = 600")):
        project = use(more=more, concurrency=concurrency)
        project.run("--ir-baseline-update").assert_outcomes(passed=2)
        stored.append(project.baseline.read_bytes())
        project.baseline.unlink()
    assert len(set(stored)) == 1


def test_a_plain_retriever_in_an_async_test(use):
    project = use(more="ir_timeout = 600")
    project.edit("conftest.py", "return client.search", "return lambda query, k: ['doc-' + query.split()[1]]")
    project.run().assert_outcomes(passed=2)


@pytest.mark.parametrize(
    ("act", "options", "outcomes", "words"),
    [
        (
            "return asyncio.sleep(NEVER) if number in (7, 33) else None",
            "-o ir_timeout=2",
            {"passed": 1, "failed": 1},
            ["queries could not be retrieved: no answer came within 2 s (ir_timeout).", "faq.yaml:9: q7", "faq.yaml:35: q33"],
        ),
        (
            "if number == 7: pytest.skip('no engine')\n    return asyncio.sleep(NEVER) if number > 7 else None",
            "",
            {"passed": 1, "skipped": 1},
            [],
        ),
    ],
)  # fmt: skip
def test_what_is_in_flight_is_cancelled_and_cleans_up_where_it_ends_early(use, act, options, outcomes, words):
    result = use(act).run("-s", "--ir-baseline-update", *options.split())
    result.assert_outcomes(**outcomes)
    output = quiet(result)
    for word in words:
        assert word in output
    entered, ended = output.partition("LEFT ")[2].split()[:2]
    assert entered == ended  # each call ended once


# A call sends Ctrl-C to its own process, as a terminal does, while the others wait.
CTRL_C = "os.kill(os.getpid(), signal.SIGINT)"
BUSY = """
    import asyncio, os, signal, threading, pytest
    signal.signal(signal.SIGINT, signal.default_int_handler)  # which a shell's background takes away

    def search(query, k):
        if query == "text 20":
            os.kill(os.getpid(), signal.SIGINT)
        if int(query.split()[1]) >= 20:
            threading.Event().wait(3600)
        return ["doc-1"]

    async def asearch(query, k):
        try:
            if query == "text 20":
                os.kill(os.getpid(), signal.SIGINT)
            await asyncio.sleep(3600 if int(query.split()[1]) >= 20 else 0)
            return ["doc-1"]
        finally:
            if query == "text 20":
                print("CLEANED", flush=True)

    @pytest.fixture(scope="session")
    def retriever():
        return RETRIEVER
"""
needs_signals = pytest.mark.skipif(
    sys.platform == "win32", reason="Ctrl-C cannot be sent to one process here"
)


@needs_signals
@pytest.mark.parametrize("retriever", ["search", "asearch", "lambda query, k: asearch(query, k)"])
@pytest.mark.parametrize("more", ["ir_concurrency = 8", "ir_timeout = 3600"])
def test_ctrl_c_ends_a_sync_test(project, retriever, more):
    project.write("conftest.py", dedent(BUSY).replace("RETRIEVER", retriever))
    project.write("golden/faq.yaml", GOLDEN)
    project.write("pytest.ini", f"[pytest]\n{more}\n")
    result = project.run_apart("-s", "--ir-baseline-update")
    assert result.ret == 2
    output = quiet(result)
    assert "KeyboardInterrupt" in output
    assert ("CLEANED" in output) == ("asearch" in retriever)
    assert not project.baseline.exists()


@needs_signals
def test_ctrl_c_ends_an_async_test(use):
    setup = "signal.signal(signal.SIGINT, signal.default_int_handler)"
    act = f"if number == 20: {setup}; {CTRL_C}\n    return asyncio.sleep(NEVER) if number >= 20 else None"
    project = use(act)
    result = project.run_apart("-s", "--ir-baseline-update")
    assert result.ret == 2
    output = quiet(result)
    assert "KeyboardInterrupt" in output
    assert not project.baseline.exists()
