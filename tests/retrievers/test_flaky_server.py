"""A search server that is flaky, slow and partly failing: every failure is named, none is scored, the rest is intact."""

from __future__ import annotations

import json
import threading
import time
import urllib.parse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from tests.projects import ASYNCIO_SETTING, text_of

SIZE = 48
LATE = "no answer came within 2 s (ir_timeout)."
# What goes wrong with which query, and how its error begins; a client of each kind words it in its own way.
FAULTS = {
    3: ("500", ("raised urllib.error.HTTPError: HTTP Error 500", "raised OSError: HTTP 500")),
    11: ("hang", (LATE, LATE)),
    17: (
        "drop",
        (
            "raised http.client.RemoteDisconnected: Remote end closed connection",
            "raised asyncio.exceptions.IncompleteReadError",
        ),
    ),
    23: ("truncated", ("raised json.decoder.JSONDecodeError",) * 2),
    29: ("timed_out", ("came back: dict {", "came back: dict {")),
    31: ("shards", ("came back: dict {", "came back: dict {")),
    37: ("drip", (LATE, LATE)),
    41: ("503", ("raised urllib.error.HTTPError: HTTP Error 503", "raised OSError: HTTP 503")),
    43: ("short", ("raised http.client.IncompleteRead", "raised asyncio.exceptions.IncompleteReadError")),
    45: ("twice", ("'doc-45' came back at rank 1 and again at rank 2.",) * 2),
}


class Flaky(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        query = urllib.parse.parse_qs(urllib.parse.urlsplit(self.path).query)["q"][0]
        number = int(query.split()[1])
        fault = FAULTS.get(number, ("",))[0] if query.startswith("text") else ""
        hits = [f"doc-{number}", f"doc-{number + (fault != 'twice')}"]
        body = {
            "timed_out": fault == "timed_out",
            "_shards": {"failed": 2 * (fault == "shards")},
            "hits": {"hits": [{"_id": doc} for doc in hits]},
        }
        data = json.dumps(body).encode()
        time.sleep(0.002 * (number % 5))
        if fault == "hang":
            self.server.over.wait(60)
        if fault in {"hang", "drop"}:
            self.close_connection = True
            return
        self.send_response(int(fault) if fault.isdigit() else 200)
        if fault == "truncated":
            data = data[:-20]
        self.send_header("Content-Length", str(len(data) + 10 * (fault == "short")))
        self.send_header("Connection", "close")
        self.end_headers()
        if fault == "drip":
            while not self.server.over.wait(0.05):
                self.wfile.write(b" ")
                self.wfile.flush()
            return
        self.wfile.write(data)

    def log_message(self, *_args):
        """Nobody wants it in the test's output."""


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, *_args):
        """A client that hung up on us is what this is about."""


@pytest.fixture(scope="module")
def address():
    with Server(("127.0.0.1", 0), Flaky) as server:
        server.over = threading.Event()
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.over.set()
        server.shutdown()


CLIENTS = """
    import asyncio, json, os, urllib.parse, urllib.request
    import pytest

    ADDRESS = os.environ["SEARCH_SERVER"]

    def search(query, k):
        url = f"{ADDRESS}/?{urllib.parse.urlencode({'q': query, 'size': k})}"
        with urllib.request.urlopen(url, timeout=30) as response:
            return json.load(response)

    async def asearch(query, k):
        host, port = ADDRESS.removeprefix("http://").split(":")
        reader, writer = await asyncio.open_connection(host, int(port))
        try:
            target = "/?" + urllib.parse.urlencode({"q": query, "size": k})
            writer.write(f"GET {target} HTTP/1.1\\r\\nHost: {host}\\r\\n\\r\\n".encode())
            head = (await reader.readuntil(b"\\r\\n\\r\\n")).decode()
            status = head.split()[1]
            if status != "200":
                raise OSError(f"HTTP {status}")
            length = int(head.lower().split("content-length:")[1].split()[0])
            return json.loads(await reader.readexactly(length))
        finally:
            writer.close()

    @pytest.fixture(scope="session")
    def retriever():
        return RETRIEVER
"""

TESTS = """
    import pytest

    @MARK@pytest.mark.ir_golden("golden/*.yaml")
    @pytest.mark.ir_threshold("mrr", 0.5)
    ASYNCdef test_search_quality(irmetrics):
        AWAITirmetrics.ACHECKcheck()

    def test_other():
        pass
"""


def golden(word):
    return "queries:\n" + "".join(
        f"  - {{id: q{n}, query: {word} {n}, relevant: [doc-{n}]}}\n" for n in range(SIZE)
    )


@pytest.mark.parametrize("mode", ["threads", "async", "async test", "sync in async test"])
def test_every_failure_is_named_and_the_rest_of_the_session_is_intact(project, monkeypatch, address, mode):
    monkeypatch.setenv("SEARCH_SERVER", address)
    is_async, in_async_test = mode.startswith("async"), mode.endswith("async test")
    project.write("conftest.py", CLIENTS.replace("RETRIEVER", "asearch" if is_async else "search"))
    words = ("@pytest.mark.asyncio\n    @", "async ", "await ", "a") if in_async_test else ("@", "", "", "")
    tests = TESTS
    for name, word in zip(("@MARK@", "ASYNC", "AWAIT", "ACHECK"), words, strict=True):
        tests = tests.replace(name, word)
    project.write("test_search.py", tests)
    project.write("golden/faq.yaml", golden("text"))
    project.write("golden/sound.yaml", golden("other"))
    more = ASYNCIO_SETTING if in_async_test else ""
    project.write("pytest.ini", f"[pytest]\nir_timeout = 2\nir_concurrency = 12\n{more}")

    result = project.run("-v", "--ir-baseline-update", "--ir-report=report.json")
    text_of(result)
    result.assert_outcomes(passed=2, failed=1)
    output = result.stdout.str()
    assert "No mean was computed." in output
    errors = told(output)
    for number, (fault, starts) in FAULTS.items():
        said = errors.pop(f"golden/faq.yaml:{number + 2}: q{number}")
        assert said.startswith((starts[is_async], LATE)), (fault, said)
    assert {*errors.values()} <= {LATE}  # a busy machine may be late with any
    for sign in ("never awaited", "was destroyed"):
        assert sign not in output
    assert [path.name for path in project.baseline.parent.iterdir()] == ["test_search_quality[sound].json"]
    report = json.loads((project.path / "report.json").read_text(encoding="utf-8"))
    by_set = {test["golden_set"]: test for test in report["tests"]}
    assert by_set["golden/faq.yaml"]["rows"] == []
    assert by_set["golden/faq.yaml"]["run"] is None
    assert by_set["golden/sound.yaml"]["rows"]


def told(output):
    """Place and id of each query that failed → its error; of several with one error it is told once, before them."""
    errors, places, said = {}, [], ""
    lines = output.splitlines()
    begin = next(n for n, line in enumerate(lines) if "could not be retrieved" in line)
    for line in [*lines[begin + 1 :], ""]:
        text = line.strip()
        if not text:
            errors.update(dict.fromkeys(places, said.partition(" queries: ")[2] or said))
            places, said = [], ""
        elif text.startswith("golden/faq.yaml:") and ": q" in text:
            places.append(text)
        else:
            said = f"{said} {text}".strip()
    return errors


def test_a_server_that_is_down_is_asked_five_times(project, monkeypatch):
    monkeypatch.setenv("SEARCH_SERVER", "http://127.0.0.1:9")
    project.write("conftest.py", CLIENTS.replace("RETRIEVER", "search"))
    project.write("golden/faq.yaml", golden("text"))
    project.write("pytest.ini", "[pytest]\nir_concurrency = 12\n")
    result = project.run()
    result.assert_outcomes(failed=1)
    output = text_of(result)
    assert "5 of 48 queries could not be retrieved: raised urllib.error.URLError" in output
    assert "The first five failed in a row, and the others were not asked." in output
