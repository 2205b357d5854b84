"""The search box of the documentation's site finds pages."""

from __future__ import annotations

import functools
import subprocess
import sys
import threading
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import pytest

from tests.browser import DRIVER, open_browser
from tests.integration.packages import need_there
from tests.pages import ROOT

need_there("mkdocs", "material")

TYPE = """
document.querySelector("#__search").checked = true;
const box = document.querySelector(".md-search__input");
box.focus();
box.value = "%s";
box.dispatchEvent(new Event("keyup", {bubbles: true}));
"""
FOUND = """
const links = [...document.querySelectorAll(".md-search-result__item > a")];
return links.length && links.map(link => link.pathname.split("/").pop());
"""


class QuietHandler(SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--quiet", "--site-dir", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, timeout=300)
    handler = functools.partial(QuietHandler, directory=folder)
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/index.html"
        server.shutdown()


@pytest.mark.skipif(not DRIVER, reason="there is no chromedriver here")
def test_the_search_box_finds_pages(address, tmp_path):
    with open_browser(tmp_path) as browser:
        for words, page in (("max_drop", "thresholds.html"), ("elasticsearch", "engines.html")):
            browser.ask("POST", "/url", {"url": address})
            browser.do(TYPE % words)
            assert page in browser.wait_until(FOUND)
