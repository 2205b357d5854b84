"""A Chromium that opens a report: as much of the WebDriver protocol as tests and benchmarks take."""

from __future__ import annotations

import base64
import contextlib
import json
import re
import shutil
import subprocess
import time
import urllib.request
from pathlib import Path

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
DRIVER = shutil.which("chromedriver")


class Browser:
    """One session of a browser."""

    def __init__(self, port, profile):
        self.server = f"http://127.0.0.1:{port}"
        self.session = ""
        options = {
            "binary": CHROMIUM,
            "args": [
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-dev-shm-usage",
                "--no-first-run",
                "--disable-background-networking",
                "--disable-component-update",
                "--disable-sync",
                "--hide-scrollbars",
                f"--user-data-dir={profile}",
            ],
        }
        capabilities = {
            "browserName": "chrome",
            "goog:chromeOptions": options,
            "goog:loggingPrefs": {"browser": "ALL"},
            "unhandledPromptBehavior": "ignore",
            "timeouts": {"script": 300_000, "pageLoad": 300_000},
        }
        opened = self.ask("POST", "/session", {"capabilities": {"alwaysMatch": capabilities}})
        self.session = f"/session/{opened['sessionId']}"

    def ask(self, method, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(
            self.server + self.session + path, data, {"Content-Type": "application/json"}, method=method
        )
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with opener.open(request, timeout=320) as answer:
            return json.load(answer)["value"]

    def show(self, path, *, width=1280, height=900, script=True, scheme="light", media="", fragment=""):
        """Open a file as a screen or a printer of this width has it."""
        self.devtools("Emulation.setScriptExecutionDisabled", value=not script)
        self.resize(width, height)
        self.devtools(
            "Emulation.setEmulatedMedia",
            media=media,
            features=[{"name": "prefers-color-scheme", "value": scheme}],
        )
        self.ask("POST", "/url", {"url": "about:blank"})
        self.ask("POST", "/url", {"url": Path(path).as_uri() + fragment})

    def resize(self, width, height=900):
        self.devtools(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=width < 600,
        )

    def do(self, script):
        return self.ask("POST", "/execute/sync", {"script": script, "args": []})

    def wait_for(self, script):
        """Run a script that calls `done` with its result."""
        begin = "const done = arguments[arguments.length - 1];"
        return self.ask("POST", "/execute/async", {"script": begin + script, "args": []})

    def wait_until(self, script):
        """Wait until a script, which is asked again and again, returns something that is true; return that."""
        end = time.monotonic() + 60
        while not (found := self.do(script)):
            assert time.monotonic() < end, f"not so within a minute: {script}"
            time.sleep(0.02)
        return found

    def devtools(self, command, **parameters):
        return self.ask("POST", "/goog/cdp/execute", {"cmd": command, "params": parameters})

    def complaints(self):
        return self.ask("POST", "/se/log", {"type": "browser"})

    def picture(self, form="png"):
        """Return what is on the screen, as the bytes of a PNG or, much smaller, a WebP."""
        if form == "png":
            return base64.b64decode(self.ask("GET", "/screenshot"))
        shot = self.devtools("Page.captureScreenshot", format=form, quality=85)
        return base64.b64decode(shot["data"])

    def axe(self, script):
        """Return what axe-core, given as its source, finds to complain about."""
        self.devtools("Runtime.evaluate", expression=script)
        return self.wait_for(
            "axe.run({resultTypes: ['violations']})"
            ".then(all => done(all.violations.map(v => v.id + ' ' + v.nodes[0].html)))"
        )


@contextlib.contextmanager
def open_browser(profile):
    """Start chromedriver and a browser with this folder for its profile."""
    with subprocess.Popen([DRIVER, "--port=0"], stdout=subprocess.PIPE, text=True) as server:
        try:
            port = next(
                found[1]
                for line in server.stdout
                if (found := re.search(r"successfully on port (\d+)", line))
            )
            opened = Browser(port, profile)
            try:
                yield opened
            finally:
                opened.ask("DELETE", "")
        finally:
            server.terminate()
            with contextlib.suppress(ValueError):
                server.stdout.close()
