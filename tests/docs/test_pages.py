"""The commands of a page, run from top to bottom in one folder: they print what the page shows.

After a change of words, `make expected` writes the outputs anew, but for those of which the page leaves lines out.
"""

from __future__ import annotations

import json
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
import yaml

from tests.git_repository import needs_git
from tests.pages import DOCS, SET_UP, WALKED_PAGES, Project, blocks, commands, is_shown, use


class Endpoint(BaseHTTPRequestHandler):
    """The search endpoint that docs/retriever.md asks."""

    BEST = (("refund policy", "refunds"), ("opening hours", "hours"), ("my parcel is late", "tracking"))

    def answer(self, query, size):
        found = [dict(self.BEST)[query], "delays", *(f"page-{number}" for number in range(10))]
        return {"hits": [{"id": page} for page in found[:size]]}

    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        allowed = self.headers["Authorization"] == "Bearer secret"
        answers = self.answer(asked["query"], asked["size"])
        body = json.dumps(answers if allowed else {}).encode()
        self.send_response(200 if allowed else 401)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
        self.server.asked.append(asked)

    def log_message(self, *_):
        pass


@pytest.fixture
def endpoint():
    """The endpoint's address, and what it was asked."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Endpoint)
    server.asked = []
    threading.Thread(target=server.serve_forever, args=[0.01], daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/search", server.asked
    server.shutdown()
    server.server_close()


@needs_git
@pytest.mark.parametrize("page", WALKED_PAGES)
@pytest.mark.skipif(sys.platform == "win32", reason="the page's commands are for a POSIX shell")
def test_every_command_prints_what_the_page_shows(tmp_path, endpoint, page):
    url, asked = endpoint
    project = Project(tmp_path)
    project.environment.update(SEARCH_URL=url, NO_PROXY="*", no_proxy="*")
    for command in SET_UP.get(page, ()):
        project.run(command, must_pass=True)
    done = use(DOCS / page, project)
    for command, shown, printed in done:
        assert is_shown(shown, printed), f"$ {command}\n{printed}"
    assert len(done) >= WALKED_PAGES[page]
    if page == "retriever.md":
        assert {"query": "opening hours", "size": 10, "filters": {"language": "en"}} in asked


def test_the_tutorial_s_workflow_runs_the_command_that_the_page_ran():
    found = blocks(DOCS / "tutorial.md")
    (workflow,) = (yaml.safe_load(block.text) for block in found if ".github" in (block.file or ""))
    asked = workflow["jobs"]["gate"]["steps"][-1]["run"].replace("origin/${{ github.base_ref }}", "main")
    ran = [command for block in found if block.kind == "console" for command, _ in commands(block.text)]
    assert asked.removesuffix(" --ir-report=$GITHUB_STEP_SUMMARY") in ran
