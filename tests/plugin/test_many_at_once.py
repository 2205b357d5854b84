"""Many queries at once, seen from a test: async fixtures, -x, Ctrl-C, executors and workers of xdist."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time

import pytest

from tests.plugin.conftest import ASYNCIO_SETTING, OLD_ASYNCIO, printed

SIZE = 60
GOLDEN = "queries:\n" + "".join(
    f"  - {{id: q{n}, query: text {n}, relevant: [doc-{n}, other-{n}]}}\n" for n in range(SIZE)
)
SETTINGS = """
    [pytest]
    filterwarnings =
        error
        # What is loaded already is not written anew; before 8.1 pytest warns of that for any run in this process.
        ignore::pytest.PytestAssertRewriteWarning
        {leaks}
    ir_concurrency = {concurrency}
    {more}
"""

# What another test's plugin left behind is found whenever Python looks for it.
LEAKS = "ignore::pytest.PytestUnraisableExceptionWarning" if OLD_ASYNCIO else ""

# A client that belongs to the loop of its test, and that knows when it is closed.
CLIENT = """
    import pytest

    class Client:
        def __init__(self, here, sleep):
            self.here, self.sleep, self.loop = here, sleep, here()
            self.inside = self.most = 0
            self.left = []

        async def search(self, query, k):
            assert self.here() is self.loop, "another event loop"
            number = int(query.split()[1])
            self.inside += 1
            self.most = max(self.most, self.inside)
            try:
                await self.sleep(self.seconds(number))
                return [f"doc-{number}", f"doc-{number + 1}"][: k - number % 2]
            finally:
                self.inside -= 1
                self.left.append(number)

        def seconds(self, number):
            return 0.001 * (number * 7 % 5)

    def client_of(library):
        import asyncio
        return Client(asyncio.get_running_loop, asyncio.sleep)
"""
FIXTURES = {
    "asyncio": """
        import pytest_asyncio

        @pytest_asyncio.fixture
        async def client():
            client = client_of("asyncio")
            yield client
            assert not client.inside
        """,
    "anyio": """
        @pytest.fixture
        async def client(anyio_backend_name):
            client = client_of(anyio_backend_name)
            yield client
            assert not client.inside
        """,
}
RETRIEVER = """

    @pytest.fixture
    def retriever(client):
        return client.search
"""


def use(project, mark, body="await irmetrics.acheck()", more="", concurrency=16, backend="asyncio"):
    project.write("conftest.py", "\n".join(map(_dedented, (CLIENT, FIXTURES[mark], RETRIEVER))))
    project.write("golden/faq.yaml", GOLDEN)
    if mark == "asyncio":
        more += f"\n{ASYNCIO_SETTING}"
    project.write("pytest.ini", _dedented(SETTINGS).format(concurrency=concurrency, more=more, leaks=LEAKS))
    backend = f'\n@pytest.fixture\ndef anyio_backend():\n    return "{backend}"\n' if mark == "anyio" else ""
    project.write(
        "test_search.py",
        f"import pytest\n{backend}\n@pytest.mark.{mark}\n@pytest.mark.ir_golden('golden/*.yaml')\n"
        f"@pytest.mark.ir_threshold('mrr', 0.5)\nasync def test_search_quality(irmetrics, client):\n    {body}\n"
        "\ndef test_other():\n    pass\n",
    )


def _dedented(text):
    from textwrap import dedent

    return dedent(text)


with_pytest_asyncio = pytest.mark.skipif(
    OLD_ASYNCIO, reason="before 0.24 pytest-asyncio leaves loops and tasks behind"
)
LOOPS = [
    pytest.param("asyncio", "asyncio", marks=with_pytest_asyncio),
    ("anyio", "asyncio"),
]


@pytest.mark.parametrize(("mark", "backend"), LOOPS)
def test_async_fixtures_serve_many_queries_and_the_baseline_is_that_of_one_by_one(project, mark, backend):
    stored = []
    for concurrency, more in ((1, ""), (16, ""), (16, "ir_timeout = 60"), (1, "ir_timeout = 60")):
        body = f"await irmetrics.acheck()\n    assert client.most == {concurrency}, client.most"
        use(project, mark, body, more, concurrency, backend)
        project.run("--ir-baseline-update").assert_outcomes(passed=2)
        stored.append(project.baseline.read_bytes())
        project.baseline.unlink()
    assert len(set(stored)) == 1


@pytest.mark.parametrize(("mark", "backend"), LOOPS)
def test_sync_retrievers_in_async_tests(project, mark, backend):
    use(project, mark, backend=backend, more="ir_timeout = 60")
    path = project.path / "conftest.py"
    text = path.read_text().replace(
        "return client.search", "return lambda query, k: ['doc-' + query.split()[1]]"
    )
    path.write_text(text)
    project.run().assert_outcomes(passed=2)


@pytest.mark.parametrize(("mark", "backend"), LOOPS)
def test_late_queries_are_named_and_nothing_is_left_running(project, mark, backend):
    body = (
        "client.seconds = lambda number: 3600 if number in (7, 33) else 0\n    try:\n"
        "        await irmetrics.acheck()\n    finally:\n        assert sorted(client.left) == list(range(60))"
    )
    use(project, mark, body, "ir_timeout = 2", backend=backend)
    result = project.run("--ir-baseline-update")
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(
        [
            "2 of 60 queries could not be retrieved: no answer came within 2 s (ir_timeout).*",
            "*No mean was computed.",
            "2 queries:",
            "  golden/faq.yaml:9: q7",
            "  golden/faq.yaml:35: q33",
        ]
    )
    assert not project.baseline.exists()
    _no_trace(result.stdout.str())


def _no_trace(output):
    for sign in (
        "Traceback",
        "was destroyed",
        "never awaited",
        "never retrieved",
        "INTERNALERROR",
        "Event loop is",
    ):
        assert sign not in output


@pytest.mark.parametrize(("mark", "backend"), LOOPS)
def test_the_first_error_ends_it_under_x_and_the_rest_is_cancelled(project, mark, backend):
    body = (
        "def seconds(number):\n        if number == 7:\n            raise ConnectionError('refused')\n"
        "        return 3600 if number > 7 else 0\n    client.seconds = seconds\n    try:\n"
        "        await irmetrics.acheck()\n    finally:\n        assert not client.inside and len(client.left) < 30"
    )
    use(project, mark, body, backend=backend)
    result = project.run("-x")
    result.assert_outcomes(failed=1)
    output = printed(result)
    assert re.search(
        r"1 of 60 queries could not be retrieved: raised ConnectionError: refused \((conftest|test)\S*\)\. "
        r"No mean was computed\. With -x the first error ends it",
        output,
    )
    assert "golden/faq.yaml:9: q7" in output
    _no_trace(output)


@pytest.mark.parametrize(("mark", "backend"), LOOPS)
def test_a_skip_in_one_query_is_the_tests_and_the_rest_is_cancelled(project, mark, backend):
    body = (
        "def seconds(number):\n        if number == 7:\n            pytest.skip('no engine')\n"
        "        return 3600 if number > 7 else 0\n    client.seconds = seconds\n    try:\n"
        "        await irmetrics.acheck()\n    finally:\n        assert not client.inside and len(client.left) < 30"
    )
    use(project, mark, body, backend=backend)
    result = project.run()
    result.assert_outcomes(skipped=1, passed=1)
    _no_trace(result.stdout.str())


# What is started in the background of a shell ignores Ctrl-C, and all that it starts; this does not.
HEEDING_CTRL_C = """
import signal, sys, pytest
signal.signal(signal.SIGINT, signal.default_int_handler)
sys.exit(pytest.console_main())
"""


def interrupted(project, *args, sign="asked"):
    """Run pytest, send it Ctrl-C once the retriever says that it was asked, and give its status and output."""
    command = [
        sys.executable,
        "-c",
        HEEDING_CTRL_C,
        *project._arguments(["-s", "--ir-baseline-update", *args]),
    ]
    with subprocess.Popen(
        command,
        cwd=project.path,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    ) as process:
        output = []
        try:
            for line in process.stdout:
                output.append(line)
                if sign in line:
                    break
            time.sleep(0.5)  # until all who are asked wait: before that an event loop may be at anything
            os.killpg(process.pid, signal.SIGINT)  # as a terminal does, to all processes in the foreground
            rest, _ = process.communicate(timeout=120)
        except BaseException:
            os.killpg(process.pid, signal.SIGKILL)
            raise
    return process.returncode, "".join(output) + rest


needs_signals = pytest.mark.skipif(not hasattr(os, "killpg"), reason="there are no process groups here")


@needs_signals
@pytest.mark.parametrize(("mark", "backend"), LOOPS)
def test_ctrl_c_in_an_async_test(project, mark, backend):
    body = (
        "client.seconds = lambda number: print('asked', flush=True) or 3600 if number == 20 else (3600 if number > 20 else 0)\n"
        "    try:\n        await irmetrics.acheck()\n    finally:\n        print('INSIDE', client.inside, flush=True)"
    )
    use(project, mark, body, backend=backend)
    status, output = interrupted(project)
    assert status == 2, output
    assert "KeyboardInterrupt" in output
    assert "INSIDE 0" in output
    assert not project.baseline.exists()
    for sign in ("was destroyed", "never awaited", "never retrieved", "INTERNALERROR"):
        assert sign not in output


BUSY = """
    import asyncio, time, pytest
    from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

    def search(query, k):
        if query == "text 20":
            print("asked", flush=True)
        time.sleep(3600 if int(query.split()[1]) >= 20 else 0)
        return ["doc-1"]

    async def asearch(query, k):
        try:
            if query == "text 20":
                print("asked", flush=True)
            await asyncio.sleep(3600 if int(query.split()[1]) >= 20 else 0)
            return ["doc-1"]
        finally:
            if query == "text 20":
                print("CLEANED", flush=True)

    @pytest.fixture(scope="session")
    def retriever():
        return RETRIEVER
"""


@needs_signals
@pytest.mark.parametrize("retriever", ["search", "asearch", "lambda query, k: asearch(query, k)"])
@pytest.mark.parametrize("more", ["ir_concurrency = 8", "ir_timeout = 3600"])
def test_ctrl_c_in_a_sync_test(project, retriever, more):
    project.write("conftest.py", _dedented(BUSY).replace("RETRIEVER", retriever))
    project.write("golden/faq.yaml", GOLDEN)
    project.write("pytest.ini", f"[pytest]\n{more}\n")
    status, output = interrupted(project)
    assert status == 2, output
    assert "KeyboardInterrupt" in output
    assert ("CLEANED" in output) == ("asearch" in retriever)
    assert not project.baseline.exists()
    for sign in ("was destroyed", "never awaited", "never retrieved", "INTERNALERROR"):
        assert sign not in output


@needs_signals
def test_ctrl_c_with_processes(project):
    executor = (
        "\n@pytest.fixture(scope='session')\ndef ir_executor():\n"
        "    with ProcessPoolExecutor(2) as executor:\n        yield executor\n"
    )
    # Only one query hangs: a pool, which goes on with what is queued, would hang at the next.
    busy = _dedented(BUSY).replace("RETRIEVER", "search").replace(">= 20", "== 20")
    project.write("conftest.py", busy + executor)
    project.write("golden/faq.yaml", GOLDEN)
    status, output = interrupted(project)
    assert status == 2, output
    assert not project.baseline.exists()


def test_a_plain_retriever_is_called_in_the_executor_of_the_fixture(project):
    project.write(
        "conftest.py",
        """
        import pytest
        from concurrent.futures import ThreadPoolExecutor
        from threading import current_thread

        @pytest.fixture
        def retriever():
            def search(query, k):
                assert current_thread().name.startswith("of-the-fixture")
                return ["doc-" + query.split()[1]]

            return search

        @pytest.fixture
        def ir_executor():
            with ThreadPoolExecutor(2, thread_name_prefix="of-the-fixture") as executor:
                yield executor
        """,
    )
    project.write("golden/faq.yaml", GOLDEN)
    project.run().assert_outcomes(passed=1)


def test_a_dead_process_is_told_and_the_other_tests_go_on(project):
    project.write(
        "conftest.py",
        """
        import os, pytest, signal
        from concurrent.futures import ProcessPoolExecutor

        def search(query, k):
            if query == "text 40":
                os.kill(os.getpid(), signal.SIGKILL)
            return ["doc-" + query.split()[1]]

        @pytest.fixture
        def retriever():
            return search

        @pytest.fixture
        def ir_executor():
            with ProcessPoolExecutor(2) as executor:
                yield executor
        """,
    )
    project.write("golden/faq.yaml", GOLDEN)
    project.write("golden/small.yaml", "queries: [{query: text 1, relevant: [doc-1]}]\n")
    result = project.run("--ir-baseline-update")
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["*queries could not be retrieved: a worker of ir_executor died*", "*q40*"])
    _no_trace(result.stdout.str())
    stored = [path.name for path in project.baseline.parent.iterdir()]
    assert stored == ["test_search_quality[[]small].json".replace("[[]", "[")]


def test_executors_concurrency_and_batches_store_the_same_bytes(project):
    project.write("golden/faq.yaml", GOLDEN)
    project.write(
        "engine.py",
        """
        def search(query, k):
            number = int(query.split()[1])
            return [f"doc-{number + n}" for n in range(number % 7)][:k]

        async def asearch(query, k):
            return search(query, k)

        def search_all(queries, k):
            return [search(query, k) for query in queries]
        """,
    )
    stored = {}
    for executor, retriever, settings in (
        ("None", "engine.search", ""),
        ("None", "engine.search", "ir_concurrency = 8"),
        ("None", "engine.search", "ir_concurrency = 8\nir_timeout = 60"),
        ("None", "engine.asearch", "ir_concurrency = 8"),
        ("None", "batched(engine.search_all, 7)", "ir_concurrency = 3"),
        ("ThreadPoolExecutor(4)", "engine.search", ""),
        ("ThreadPoolExecutor(4)", "batched(engine.search_all, 7)", "ir_timeout = 60"),
        ("ProcessPoolExecutor(2, mp_context=get_context('spawn'))", "engine.search", "ir_timeout = 60"),
    ):
        project.write(
            "conftest.py",
            f"""
            import engine, pytest
            from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
            from multiprocessing import get_context
            from pytest_irmetrics import batched

            @pytest.fixture
            def retriever():
                return {retriever}

            @pytest.fixture
            def ir_executor():
                executor = {executor}
                yield executor
                if executor is not None:
                    executor.shutdown()
            """,
        )
        project.write("pytest.ini", f"[pytest]\npythonpath = .\n{settings}\n")
        run = project.run_apart if "spawn" in executor else project.run
        run("--ir-baseline-update").assert_outcomes(passed=1)
        stored[executor, retriever, settings] = project.baseline.read_bytes()
        project.baseline.unlink()
    assert len(set(stored.values())) == 1


XDIST = [
    ["-n", "2"],
    ["-n", "2", "--dist", "loadfile"],
    ["-n", "0", "--dist", "load", "--tx", "2*popen//python=" + sys.executable],
]


def test_golden_sets_spread_over_workers_of_xdist_store_the_same_bytes(project):
    for name in ("a", "b", "c", "d", "e"):
        project.write(f"golden/{name}.yaml", GOLDEN)
    (project.path / "golden/faq.yaml").unlink()
    project.write(
        "conftest.py",
        """
        import pytest

        @pytest.fixture(scope="session")
        def retriever():
            return lambda query, k: ["doc-" + query.split()[1], "doc-0"][: 1 if query == "text 0" else k]
        """,
    )
    folder = project.baseline.parent
    expected, summary = None, None
    for args in ([], *XDIST):
        for path in folder.glob("*"):
            path.unlink()
        result = project.run_apart("--ir-baseline-update", *args)
        result.assert_outcomes(passed=5)
        stored = {path.name: path.read_bytes() for path in folder.iterdir()}
        section = sorted(line for line in result.outlines if line.startswith(("golden/", "baseline ")))
        if expected is None:
            expected, summary = stored, section
        assert stored == expected, args
        assert section == summary, args
    assert len(expected) == 5
    assert len(summary) == 10
