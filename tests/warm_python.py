"""A Python that has loaded pytest and the package. A command that is run by a fork of it takes a quarter of the time.

`python_words()` are the words to begin a command with, in place of `sys.executable`, also in a shell: a client, which hands its
streams, folder, environment and words to the server that forks. For a test that is about how Python starts, or what is loaded,
there is `sys.executable`.
"""

from __future__ import annotations

import atexit
import os
import shutil
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

# As it is before any test sets a variable: a server that began with a test's encoding would print so for all that come after.
_ENVIRONMENT = {**os.environ, "PYTHONUTF8": "1"}

_CLIENT = """
import json, os, socket, sys

with socket.socket(socket.AF_UNIX) as server:
    server.connect(sys.argv[1])
    asked = json.dumps([os.getcwd(), dict(os.environ), sys.argv[2:]]).encode()
    socket.send_fds(server, [b"%20d" % len(asked)], [0, 1, 2])
    server.sendall(asked)
    status = server.makefile().read()
if status == "cold":
    os.execv(sys.executable, [sys.executable, *sys.argv[2:]])
sys.exit(int(status or 99))
"""

_SERVER = """
import atexit, contextlib, gc, importlib, json, os, pkgutil, runpy, select, socket, sys, threading

import pytest, pytest_irmetrics

for module in pkgutil.walk_packages(pytest_irmetrics.__path__, "pytest_irmetrics."):
    if not module.name.endswith("__main__"):
        importlib.import_module(module.name)
GIVEN = {("PYTHONUTF8", "1"), ("PYTHONIOENCODING", "utf-8"), *os.environ.items()}

def starts_otherwise(environment):
    "Whether Python would not start with these variables as it did here."
    read = {one for one in environment.items() if one[0].startswith(("PYTHON", "LC_", "LANG"))}
    return bool({name for name, _ in read - GIVEN} - {"PYTHONPATH", "PYTHONDONTWRITEBYTECODE"})

def reap():
    "Let go of forks that have ended."
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass

def asked():
    "Wait for the next client; return, in a fork for it, its streams, folder, environment and words."
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(sys.argv[1])
    listener.listen()
    print(flush=True)
    while listener in select.select([listener, 0], [], [])[0]:  # else the tests have ended
        client = listener.accept()[0]
        if os.fork():
            client.close()
            reap()
            continue
        size, streams, *_ = socket.recv_fds(client, 20, 3)
        folder, environment, words = json.loads(client.recv(int(size), socket.MSG_WAITALL))
        if starts_otherwise(environment):
            client.sendall(b"cold")
            os._exit(0)
        if child := os.fork():
            for stream in streams:
                os.close(stream)
            client.sendall(b"%d" % os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
            os._exit(0)
        client.close()
        listener.close()
        return streams, folder, environment, words
    os._exit(0)

def end(status):
    "End as Python does, without taking apart all that is loaded: that is a quarter of a run. What cannot be flushed, Python tells."
    with contextlib.suppress(Exception):
        if threading.active_count() == 1:
            atexit._run_exitfuncs()
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(status & 255)

gc.collect()
gc.freeze()
streams, folder, environment, words = asked()
for number, stream in enumerate(streams):
    os.dup2(stream, number)
    os.close(stream)
for stream in (sys.stdout, sys.stderr):
    stream.reconfigure(line_buffering=stream.isatty() or stream is sys.stderr)
os.chdir(folder)
os.environ.clear()
os.environ.update(environment)
sys.dont_write_bytecode = bool(environment.get("PYTHONDONTWRITEBYTECODE"))
sys.path[:1] = [folder, *filter(None, environment.get("PYTHONPATH", "").split(os.pathsep))]
kind, name, *sys.argv[1:] = words
try:
    if name == "pytest":  # as its script, by whose name commands to copy are printed
        sys.argv[0] = name
        sys.exit(pytest.main())
    elif kind == "-m":
        runpy.run_module(name, run_name="__main__", alter_sys=True)
    elif kind == "-c":
        sys.argv[0] = "-c"
        exec(name)
    end(0)
except SystemExit as exit:
    if exit.code is None or isinstance(exit.code, int):
        end(exit.code or 0)
    raise
"""


def pytest_words():
    """Return the words that run pytest with this plugin alone, where others are not loaded of themselves."""
    return [*python_words(), "-m", "pytest", "-p", "pytest_irmetrics.plugin", "-p", "no:cacheprovider"]


@cache
def python_words() -> tuple[str, ...]:
    """Words that run Python with `-m` or `-c`, as `sys.executable` does; the first call starts the server."""
    if not hasattr(os, "fork"):
        return (sys.executable,)
    folder = Path(tempfile.mkdtemp(prefix="warm-"))
    (folder / "client.py").write_text(_CLIENT, encoding="utf-8")
    server = subprocess.Popen(
        [sys.executable, "-c", _SERVER, folder / "socket"],
        env=_ENVIRONMENT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    server.stdout.readline()  # it listens

    def end() -> None:
        server.communicate()
        shutil.rmtree(folder)

    atexit.register(end)
    return sys.executable, "-IS", str(folder / "client.py"), str(folder / "socket")
