"""Run Git's plumbing commands so that nothing of the repository's is run: no hook, filter, textconv, pager or network.

A command that takes longer than `TIME_LIMIT` is ended. What Git refuses is raised as an error that says what to type.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, cast

from pytest_irmetrics.base.errors import IRMetricsError
from pytest_irmetrics.base.read_file import MAX_RUN_BYTES
from pytest_irmetrics.base.wording import plural, printable

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__tracebackhide__ = True  # pytest leaves these frames out: a traceback shows the user's own lines

TIME_LIMIT = 60.0
"""Seconds that one command, or one answer of `cat-file --batch`, may take."""

_OPTIONS = (
    "--no-pager",
    "--no-optional-locks",
    "--no-replace-objects",
    *("-c", "core.hooksPath=/dev/null"),
    *("-c", "core.fsmonitor=false"),
    *("-c", "i18n.logOutputEncoding=UTF-8"),
    *("-c", "protocol.allow=never"),
    *("-c", "submodule.recurse=false"),
)

# Where configuration is read from, safe.directory among it. All other GIT_ variables are left out: in a hook GIT_DIR and
# GIT_INDEX_FILE are those of the command that called it, and GIT_TRACE would mix with what is read.
_KEPT_VARIABLES = frozenset(
    (
        "GIT_CEILING_DIRECTORIES",
        "GIT_CONFIG_COUNT",
        "GIT_CONFIG_GLOBAL",
        "GIT_CONFIG_NOSYSTEM",
        "GIT_CONFIG_PARAMETERS",
        "GIT_CONFIG_SYSTEM",
        "GIT_DISCOVERY_ACROSS_FILESYSTEM",
        "GIT_EXEC_PATH",
    )
)
_KEPT_PREFIXES = ("GIT_CONFIG_KEY_", "GIT_CONFIG_VALUE_")


class GitError(IRMetricsError):
    """Git could not say what was asked of it; the message has the command to type."""


class NoGitError(GitError):
    """There is no program `git`."""


class NoRepositoryError(GitError):
    """A folder is in no repository, or in one without files (bare)."""


class OwnerError(GitError):
    """The repository belongs to another user, and Git refuses to read it."""


class OutsideRepositoryError(GitError):
    """A path is not below the repository's top folder."""


class UnbornError(GitError):
    """There is no commit yet."""


class UnknownRevisionError(GitError):
    """No commit has this name."""


class ShallowError(GitError):
    """The clone lacks the commits that would answer."""


class NoCommonAncestorError(GitError):
    """Two commits have no history in common."""


class MissingObjectError(GitError):
    """The clone lacks a file of a commit, as partial clones do."""


class LfsPointerError(GitError):
    """A file is kept in Git LFS and is not in this clone."""


class GitTimeoutError(GitError):
    """Git took longer than the time limit."""


class GitProgram:
    """Runs `git` in one folder."""

    def __init__(self, folder: Path) -> None:
        """Find the program. Raises NoGitError."""
        self.folder = folder
        self._git = _find_git()
        self._environment = _environment(os.environ)
        self._reader: _BatchReader | None = None

    @property
    def shown(self) -> str:
        """The folder, for messages."""
        return printable(str(self.folder))

    def to_type(self, *words: str) -> str:
        """Return a command line for the user to type."""
        return shlex.join(["git", "-C", str(self.folder), *words])

    def run(self, *words: str, given: bytes = b"") -> bytes:
        """Return what a command prints; `given` is its input. Raises GitError where it fails."""
        status, out, error = self._call(words, given)
        if status != 0:
            raise self._error_of(words, error)
        return out

    def ask(self, *words: str) -> bytes | None:
        """Return what a command prints, None where it exits with 1, or 128, to say no. Raises GitError."""
        status, out, error = self._call(words, b"")
        if status not in (0, 1, 128):
            raise self._error_of(words, error)
        return out if status == 0 else None

    def _command(self, words: Sequence[str]) -> list[str]:
        return [self._git, *_OPTIONS, *words]

    def _call(self, words: Sequence[str], given: bytes) -> tuple[int, bytes, str]:
        try:
            done = subprocess.run(  # noqa: S603 - no shell, and no word of it is a program
                self._command(words),
                cwd=self.folder,
                env=self._environment,
                input=given,
                capture_output=True,
                timeout=TIME_LIMIT,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise _timed_out(words[0]) from None
        except (OSError, ValueError) as error:
            raise GitError(f"git {words[0]} cannot be run in {self.shown}: {error}.") from None
        return done.returncode, done.stdout, done.stderr.decode("utf-8", "replace")

    def _error_of(self, words: Sequence[str], error: str) -> GitError:
        """Return the error for a command that failed, by what Git printed (in English: LC_ALL is set)."""
        if "dubious ownership" in error or "is owned by someone else" in error:
            folder = _safe_directory(error) or str(self.folder)
            add = shlex.join(["git", "config", "--global", "--add", "safe.directory", folder])
            return OwnerError(
                f"The Git repository of {self.shown} belongs to another user, so Git does not read it. If you trust "
                f"it: {add}"
            )
        if "not a git repository" in error or "must be run in a work tree" in error:
            return NoRepositoryError(
                f"{self.shown} is in no Git repository. Run this in a clone, with its folder .git."
            )
        if "promisor" in error:
            return self._lacks("files of a commit")
        last = error.strip().splitlines()
        why = printable(last[-1]) if last else "it printed nothing"
        return GitError(f"git {words[0]} failed in {self.shown}: {why}")

    def _lacks(self, what: str) -> MissingObjectError:
        fetch = self.to_type("fetch", "--refetch", "--no-filter", "origin")
        return MissingObjectError(
            f"{self.shown} lacks {what}: it is a partial clone (--filter), and nothing is fetched here. Fetch all: {fetch}"
        )

    # Contents.

    def read(self, oid: str) -> bytes:
        """Return a content by its id. Raises MissingObjectError where the clone lacks it."""
        if self._reader is None:
            self._reader = _BatchReader(
                self._command(["cat-file", "--batch"]), self.folder, self._environment
            )
        try:
            data = self._reader.read(oid)
        except GitError:
            self.close()
            raise
        if data is None:
            self.close()
            raise self._lacks(f"the content {oid[:12]} of a commit")
        return data

    def close(self) -> None:
        """End the process that reads contents; the next `read` starts another."""
        if self._reader is not None:
            self._reader.close()
            self._reader = None


class _BatchReader:
    """One `git cat-file --batch` process: ids in, a line each, contents out."""

    def __init__(self, command: list[str], folder: Path, environment: dict[str, str]) -> None:
        try:
            self._process = subprocess.Popen(  # noqa: S603 - no shell, and no word of it is a program
                command,
                cwd=folder,
                env=environment,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
            )
        except OSError as error:
            raise GitError(f"git cat-file cannot be run: {error}.") from None

    def close(self) -> None:
        """End the process."""
        self._process.kill()
        for stream in (self._process.stdin, self._process.stdout):
            with suppress(OSError):
                cast("BinaryIO", stream).close()
        self._process.wait()

    def read(self, oid: str) -> bytes | None:
        """Return the content of an object by its id; None where the repository lacks it, or would have to fetch it."""
        watch = threading.Timer(TIME_LIMIT, self._process.kill)
        watch.daemon = True
        watch.start()
        try:
            data = self._answer(oid)
        except OSError:
            data = None
        finally:
            in_time = watch.is_alive()
            watch.cancel()
        if data is None and not in_time:
            raise _timed_out("cat-file")
        return data

    def _answer(self, oid: str) -> bytes | None:
        asked, answers = cast("BinaryIO", self._process.stdin), cast("BinaryIO", self._process.stdout)
        asked.write(oid.encode("ascii") + b"\n")
        asked.flush()
        head = answers.readline().split()
        if len(head) != 3:  # `ID missing`, or nothing
            return None
        size = int(head[2])
        if size > MAX_RUN_BYTES:
            shown = plural(size // 1_000_000, "megabyte")
            raise GitError(f"The content {oid[:12]} of a commit has {shown}, more than is read.")
        data = answers.read(size + 1)
        return data[:-1] if len(data) == size + 1 else None


def _timed_out(command: str) -> GitTimeoutError:
    return GitTimeoutError(f"git {command} did not end within {TIME_LIMIT:g} s, and was ended. Try again.")


def _safe_directory(error: str) -> str | None:
    """Return the folder that Git wants to be told is safe, out of its own message."""
    _, _, rest = error.partition("safe.directory ")
    with suppress(ValueError):  # a quote that is not closed
        words = shlex.split(rest.partition("\n")[0])
        return words[0] if len(words) == 1 else None
    return None


def _environment(given: Mapping[str, str]) -> dict[str, str]:
    """Return the environment that Git is run with: that of this process without what would change what Git reads."""
    kept = {
        name: value
        for name, value in given.items()
        if not name.upper().startswith("GIT_") or name in _KEPT_VARIABLES or name.startswith(_KEPT_PREFIXES)
    }
    return kept | {
        "GIT_ALLOW_PROTOCOL": "",  # no network, nor another program as transport
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_TERMINAL_PROMPT": "0",
        "LANGUAGE": "",
        "LC_ALL": "C",
    }


def _find_git() -> str:
    """Return the path of `git`, out of absolute folders of PATH alone. Raises NoGitError."""
    folders = os.environ.get("PATH", os.defpath).split(os.pathsep)
    absolute = [folder for folder in folders if Path(folder).is_absolute()]
    found = shutil.which("git", path=os.pathsep.join(absolute)) if absolute else None
    # On Windows `which` looks in the current folder first, which may hold the code under review.
    here = sys.platform == "win32" and found is not None and Path(found).resolve().parent == Path.cwd()
    if found is None or here or not Path(found).is_absolute():
        raise NoGitError("There is no program git on PATH. Install Git (apt-get install git, apk add git).")
    return found
