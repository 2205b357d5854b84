"""Read commits and files of Git, for `--ir-since`, `history` and what reports say of a baseline; no hook, filter, pager or network is used.

docs/since.md and SECURITY.md say so, too.
Paths are relative to the repository's top folder, with `/`; they may hold any bytes, as `os.fsdecode` gives them.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from functools import partial
from io import BytesIO
from pathlib import Path
from subprocess import DEVNULL, PIPE
from typing import Any, NamedTuple, cast

from pytest_irmetrics.base import IRMetricsError
from pytest_irmetrics.base.files import LFS_POINTER
from pytest_irmetrics.base.wording import printable

_OPTIONS = (
    *("--no-pager", "--no-optional-locks", "--no-replace-objects", "--literal-pathspecs"),
    *("-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false"),
    *("-c", "log.showSignature=false", "-c", "i18n.logOutputEncoding=UTF-8"),
)
_CHANGES = (
    *("-z", "-M50%", "--name-status", "--diff-filter=DR"),
    *("--no-ext-diff", "--no-textconv", "--ignore-submodules=all"),
)
_READ = ("cat-file", "--batch", "--follow-symlinks")
# All of Git's variables but these are unset: in a hook GIT_DIR and GIT_INDEX_FILE are those of the command that called it.
_UNSET = re.compile("GIT_(?!CONFIG|CEILING_DIRECTORIES|DISCOVERY_ACROSS_FILESYSTEM|EXEC_PATH)")
_SET = {"GIT_ALLOW_PROTOCOL": "", "LC_ALL": "C"}  # nothing is fetched, as no protocol is allowed
_WHOLE_CLONE = "In CI, clone the whole history: `fetch-depth: 0` for actions/checkout in GitHub Actions, `GIT_DEPTH: 0` in GitLab CI."
# A part of what Git prints → what to do; docs/since.md has a table of what users meet in CI.
_ADVICE = {
    "safe.directory": " The repository belongs to another user: if you trust it, this makes Git read it.",
    "promisor": " It is a partial clone (--filter), and nothing is fetched here. Fetch all: git fetch --refetch --no-filter origin",
    "not a git repository": " It is in no Git repository. Run this in a clone, with its folder .git.",
    "must be run in a work tree": " It is in no Git repository with files. Run this in a clone.",
}


Read = Callable[[str, str], bytes | None]
"""`Repository.read`, or what `Repository.reader` gives: a commit and a path → the file's content."""


class GitError(IRMetricsError):
    """Git could not say what was asked of it; the message has the command to type."""


class Version(NamedTuple):
    """A commit that changed a file, and the path that the file had in it."""

    commit: str
    time: int
    """When it was committed, in seconds since 1970."""
    subject: str
    path: str


def day_of(time: int) -> str:
    """Return the day of a commit's time, in UTC: ``2026-03-01``."""
    return datetime.fromtimestamp(time, UTC).date().isoformat()


def _next_file(found: Any) -> tuple[bytes, bytes, bytes] | None:
    """Read what `cat-file --batch` prints of the next file: its kind, size and content; None where the output ends before or within that."""
    # `ID blob SIZE`, `ID tree SIZE`, `NAME missing`, `ID submodule`; of a link that leads out of the commit `symlink SIZE`.
    *_, kind, size = found.readline().split() or (b"", b"0")
    rest = int(size) + 1 if size.isdigit() else 0
    data = found.read(rest)
    return (kind, size, data[:-1]) if len(data) == rest else None


class Repository:
    """The Git repository that a folder is in."""

    top: Path
    """Its top folder."""

    def __init__(self, folder: Path) -> None:
        """Find the repository of `folder`, which must exist. Raises GitError."""
        # Of absolute folders alone: the current one may hold the code under review.
        folders = [one for one in os.get_exec_path() if Path(one).is_absolute()]
        found = shutil.which("git", path=os.pathsep.join(folders))
        if found is None:
            raise GitError("There is no program git on PATH. Install Git (apt-get install git, apk add git).")
        self._git = found
        self.top = folder
        self.top = Path(os.fsdecode(self._run("rev-parse", "--show-toplevel").removesuffix(b"\n")))

    def _process(self, *words: str) -> dict[str, Any]:
        """Return with which arguments `subprocess` starts a command of Git: without a shell, and no word of it names a program."""
        env = {name: value for name, value in os.environ.items() if _UNSET.match(name) is None} | _SET
        return {"args": [self._git, *_OPTIONS, *words], "cwd": self.top, "env": env, "stdout": PIPE}

    def _run(self, *words: str, may_fail: bool = False, given: bytes = b"") -> bytes:
        """Run a command of Git, with `given` as its input, and return what it prints. Raises GitError, where it fails only unless it `may_fail`."""
        try:
            done = subprocess.run(**self._process(*words), input=given, stderr=PIPE, timeout=60, check=False)
        except (OSError, ValueError, subprocess.TimeoutExpired) as error:
            raise GitError(f"git {words[0]} cannot be run in {self._where()}: {error}.") from None
        if done.returncode == 0 or may_fail:
            return cast("bytes", done.stdout)
        said = done.stderr.decode("utf-8", "replace").strip() or "it printed nothing"
        advice = next((text for part, text in _ADVICE.items() if part in said), "")
        last = printable(said.splitlines()[-1].strip())
        raise GitError(f"git {words[0]} failed in {self._where()}: {last}.{advice}")

    def _ask(self, *words: str) -> str:
        """Return what a command prints, without white space at the ends; empty where its exit status says no."""
        return self._run(*words, may_fail=True).decode("utf-8", "replace").strip()

    def _where(self) -> str:
        """Return the repository's top folder as messages print it."""
        return printable(str(self.top))

    def _command_to_type(self, *words: str) -> str:
        """Return a command line for the user to type."""
        return shlex.join(["git", "-C", str(self.top), *words])

    def path_of(self, path: Path) -> str:
        """Return a file's or folder's path in the repository, empty for its top. Raises GitError where it is outside.

        Links among its parents are followed, the last part is taken as it is; it may be gone.
        """
        real, top = Path(os.path.realpath(path.parent), path.name), os.path.realpath(self.top)
        if not real.is_relative_to(top):
            raise GitError(f"{printable(str(path))} is not in the Git repository {self._where()}.")
        return "/".join(real.relative_to(top).parts)

    @property
    def is_shallow(self) -> bool:
        """Whether the clone was cut at a depth (`git clone --depth`)."""
        return self._run("rev-parse", "--is-shallow-repository").strip() == b"true"

    def commit(self, revision: str) -> str:
        """Return the id of the commit that a revision names. Raises GitError."""
        asked = ("rev-parse", "--verify", "--quiet", revision + "^{commit}")
        if not revision.startswith("-") and (found := self._ask(*asked)):
            return found
        remote, _, branch = revision.partition("/")
        fetch = ["--tags", "origin"]
        if branch and self._ask("config", f"remote.{remote}.url"):
            fetch = [remote, f"+{branch}:refs/remotes/{remote}/{branch}"]
        shallow = "."
        if self.is_shallow:
            shallow, fetch = f", a shallow clone. {_WHOLE_CLONE}", ["--unshallow", *fetch]
        fetching = f"Fetch it: {self._command_to_type('fetch', *fetch)}; or give"
        cure = fetching if self._ask("remote") else "Give"
        text = f"Git knows no commit {printable(revision)} in {self._where()}{shallow} {cure} another branch, tag or commit."
        raise GitError(text)

    def merge_base(self, revision: str) -> str:
        """Return the commit where HEAD left a revision: their best common ancestor, the latest if there are several.

        Of the merge commit that CI checks out for a pull request (refs/pull/N/merge), whose first parent is the base
        branch, this is that parent: what is compared is what the merge changes. Raises GitError, also where a shallow
        clone lacks the commits that it takes to be sure.
        """
        of_revision = self.commit(revision)
        found = self._ask("merge-base", "--all", "HEAD", of_revision).split()
        # What is itself behind HEAD has no better ancestor in the commits that a shallow clone lacks.
        if found != [of_revision] and self.is_shallow:
            text = f"{self._where()} is a shallow clone, which lacks the commits back to where this branch left {printable(revision)}. Fetch them: {self._command_to_type('fetch', '--unshallow')}. {_WHOLE_CLONE}"
            raise GitError(text)
        if not found:
            text = f"{printable(revision)} and HEAD have no commit in common in {self._where()}. Give the branch, tag or commit that this branch grew from."
            raise GitError(text)
        return self._run("rev-list", "--no-walk", "--max-count=1", *found).decode("ascii").strip()

    def time_of(self, commit: str) -> int:
        """Return when a commit was made, in seconds since 1970."""
        return int(self._run("log", "--max-count=1", "--no-color", "--format=%ct", commit, "--"))

    def read(self, commit: str, path: str) -> bytes | None:
        """Return a file's content in a commit, None where there is no such file. Raises GitError.

        As it was committed: without the line ends and filters of a checkout.
        """
        return self._read(None, commit, path)

    @contextmanager
    def reader(self) -> Iterator[Read]:
        """Give a function that reads files as `read` does, all by one process: to start one takes as long as to score a baseline of 500 queries."""
        with subprocess.Popen(**self._process(*_READ), stdin=PIPE, stderr=DEVNULL) as git:
            yield partial(self._read, git)

    def _read(self, git: Any, commit: str, path: str) -> bytes | None:
        """Read a file as `read` does: by the process that `reader` started, or, where `git` is None or that has ended, by one of its own."""
        name = f"{commit}:{path}"
        if "\n" in path:  # which would be two
            name = self._ask("rev-parse", "--verify", "--quiet", name) or "-"
        line, answer = os.fsencode(f"{name}\n"), None
        if git is not None:
            with suppress(OSError):  # it has ended
                os.write(git.stdin.fileno(), line)
            answer = _next_file(git.stdout)
        # It ends in the middle of a damaged object, too; a new one says why.
        kind, size, data = answer or _next_file(BytesIO(self._run(*_READ, given=line))) or (b"", b"", b"")
        if size == b"missing" or kind in {b"tree", b"notdir"}:
            return None
        if kind != b"blob" or data.startswith(LFS_POINTER):
            what = f"{printable(path)} in commit {commit[:10]}"
            raise GitError(f"{what} is a link, or kept in Git LFS, which is not read. Keep it in Git itself.")
        return data

    def committed_in(self, file: Path) -> Version | None:
        """Return the last commit that changed a file; None where the file differs from it, or the clone lacks commits.

        Raises GitError, and OSError where there is no such file.
        """
        path = self.path_of(file)
        logged = None if self.is_shallow else next(self._log("HEAD", path, "--max-count=1"), None)
        if logged is None or self.read(logged[0].commit, path) != file.read_bytes():
            return None
        return logged[0]

    def files(self, commit: str, path: str) -> list[str]:
        """Return the paths of the files in and below a folder of a commit, "" for all; of a file its own."""
        below = ["--", path] if path else []
        listed = self._run("ls-tree", "-r", "-z", "--name-only", "--full-tree", commit, *below)
        return list(map(os.fsdecode, listed.split(b"\0")[:-1]))

    def changes(self, commit: str) -> tuple[dict[str, str], list[str], set[str]]:
        """Return which of a commit's files were renamed since, and which are gone, as far as that is staged or committed.

        The renamed ones as today's path → that in the commit, the others as paths. Last, which files a sparse checkout leaves out.
        """
        tagged = map(os.fsdecode, self._run("ls-files", "-z", "-t").split(b"\0"))
        left_out = {one.removeprefix("S ") for one in tagged if one.startswith("S ")}
        return *self._changes("diff-index", "--cached", commit, "--"), left_out

    def _changes(self, command: str, *words: str) -> tuple[dict[str, str], list[str]]:
        """Return which files a command that compares two trees says were renamed, today's path → the earlier one, and which are gone."""
        fields = map(os.fsdecode, self._run(command, *_CHANGES, *words).split(b"\0")[:-1])
        renamed, deleted = {}, []
        for status in fields:
            path = next(fields)
            if status.startswith("R"):
                renamed[next(fields)] = path
            else:
                deleted.append(path)
        return renamed, deleted

    def _log(self, start: str, path: str, *options: str) -> Iterator[tuple[Version, str]]:
        """Yield the commits up to one that changed a file of this name, newest first, each with the ids of its parents."""
        log = ("log", "-z", "--first-parent", "--no-color", "--format=%H%x09%P%x09%ct%x09%s", *options)
        for record in self._run(*log, start, "--", path).decode("utf-8", "replace").split("\0"):
            if record:
                commit, parents, time, subject = record.split("\t", 3)
                yield Version(commit, int(time), subject, path), parents

    def history(self, path: str, former: Callable[..., str] = lambda *given: given[-1]) -> Iterator[Version]:
        """Yield the commits that changed a file, newest first, also from before it was renamed; of a merged branch the merge.

        `former(path, commit, gone, git_says)` returns the path that the file had in an earlier commit, empty for none: it is given today's path, that
        commit, the files that the next commit removed, and the one of them that Git takes for it, empty for none.
        """
        start = self._ask("rev-parse", "--verify", "--quiet", "HEAD")
        while start and path:
            commit = parents = ""
            for version, parents in self._log(start, path):  # noqa: B007 - those of the oldest are needed below
                commit = version.commit
                yield version
            # `log --follow` would also take a file for the successor of another that is like it and still there.
            start = parents.partition(" ")[0]
            renamed, gone = self._changes("diff-tree", "-r", start, commit) if start else ({}, [])
            path = former(path, start, gone, renamed.get(path, ""))
