"""Read commits, trees and files out of a Git repository; nothing is checked out, written or fetched.

Paths are relative to the repository's top folder, with `/`; they may hold any bytes, as `os.fsdecode` gives them.
"""

from __future__ import annotations

import os
import posixpath
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_irmetrics.base.git_program import (
    GitError,
    GitProgram,
    LfsPointerError,
    NoCommonAncestorError,
    OutsideRepositoryError,
    ShallowError,
    UnbornError,
    UnknownRevisionError,
)
from pytest_irmetrics.base.read_file import MAX_RUN_BYTES
from pytest_irmetrics.base.wording import printable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Self

__all__ = ["Entry", "GitError", "Repository", "Version"]

__tracebackhide__ = True  # pytest leaves these frames out: a traceback shows the user's own lines

_LFS = b"version https://git-lfs.github.com/spec/"
_MAX_POINTER = 1024  # bytes, by the specification of Git LFS
_MAX_LINKS = 8
_FOLDER, _LINK, _SUBMODULE = "040000", "120000", "160000"
_ID_LENGTHS = (40, 64)  # of SHA-1 and SHA-256
_NO_PROGRAMS = ("--no-ext-diff", "--no-textconv", "--ignore-submodules=all")
_RENAMES = ("-z", "-M50%", "--name-status", *_NO_PROGRAMS)
_FORMAT = "--format=%H%x09%ct%x09%P%x09%s"
_WHOLE_CLONE = "In CI, clone the whole history: `fetch-depth: 0` for actions/checkout in GitHub Actions, `GIT_DEPTH: 0` in GitLab CI."


@dataclass(frozen=True, slots=True)
class Entry:
    """A file, a symbolic link, a folder or a submodule in the tree of a commit."""

    path: str
    mode: str
    """As `100644`; `120000` is a link, `040000` a folder, `160000` a submodule."""
    oid: str
    """The id of its content: the same content has the same id, in every commit."""


@dataclass(frozen=True, slots=True)
class Version:
    """A commit, and the content that it gave a file."""

    commit: str
    time: int
    """When it was committed, in seconds since 1970."""
    parents: tuple[str, ...]
    subject: str
    path: str = ""
    """The file's path in this commit; an earlier version can have another."""
    oid: str | None = None
    """The id of the file's content, None where the commit deleted it. Equal ids need to be read once."""


class Repository:
    """The Git repository that a folder is in. A context manager: it holds a `git` process from the first `read` on."""

    top: Path
    """Its top folder."""

    def __init__(self, folder: Path) -> None:
        """Find the repository of `folder`, which must exist. Raises GitError."""
        top = GitProgram(folder).run("rev-parse", "--show-toplevel")
        self.top = Path(os.fsdecode(top.removesuffix(b"\n")))
        self._git = GitProgram(self.top)
        self._listings: dict[tuple[str, str], dict[str, Entry]] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the process that reads contents; the next `read` starts another."""
        self._git.close()

    # Where things are.

    def path_of(self, path: Path) -> str:
        """Return a file's or folder's path in the repository, empty for its top. Raises OutsideRepositoryError.

        Links among its parents are followed, the last part is taken as it is; it may be gone.
        """
        real = Path(os.path.realpath(path.parent), path.name)
        try:
            relative = real.relative_to(os.path.realpath(self.top))
        except ValueError:
            raise OutsideRepositoryError(
                f"{printable(str(path))} is not in the Git repository {printable(str(self.top))}."
            ) from None
        return "" if relative == Path() else relative.as_posix()

    def superproject(self) -> Path | None:
        """Return the top folder of the repository that has this one as a submodule, None where none has."""
        found = self._git.run("rev-parse", "--show-superproject-working-tree").removesuffix(b"\n")
        return Path(os.fsdecode(found)) if found else None

    @property
    def is_shallow(self) -> bool:
        """Whether the clone was cut at a depth (`git clone --depth`)."""
        return self._git.run("rev-parse", "--is-shallow-repository").strip() == b"true"

    # Commits.

    def commit(self, revision: str = "HEAD") -> str:
        """Return the id of the commit that a revision names. Raises UnknownRevisionError, ShallowError, UnbornError."""
        found = self._commit(revision)
        if found is not None:
            return found
        if self._commit("HEAD") is None:
            raise UnbornError(
                f"The Git repository {self._git.shown} has no commit yet. Commit the baselines first."
            )
        shown = printable(revision) if revision.strip() else repr(revision)
        missing = f"Git knows no commit {shown} in {self._git.shown}"
        fetch = f"Fetch it: {self._fetch_command(revision)}"
        if self.is_shallow:
            raise ShallowError(f"{missing}, a shallow clone. {fetch}. {_WHOLE_CLONE}")
        raise UnknownRevisionError(f"{missing}. {fetch}; or give another branch, tag or commit.")

    def _commit(self, revision: str) -> str | None:
        if (
            not revision or revision.startswith("-") or "\0" in revision
        ):  # an option, or what cannot be passed on
            return None
        found = self._git.ask("rev-parse", "--verify", "--quiet", revision + "^{commit}")
        return None if found is None else found.decode("ascii").strip()

    def merge_base(self, revision: str, head: str = "HEAD") -> str:
        """Return the commit where `head` left `revision`: their best common ancestor, the latest if there are several.

        Of the merge commit that CI checks out for a pull request (refs/pull/N/merge), whose first parent is the base
        branch, this is that parent: what is compared is what the merge changes. Raises GitError; ShallowError where
        the clone lacks the commits that it takes to be sure.
        """
        of_revision, of_head = self.commit(revision), self.commit(head)
        found = (self._git.ask("merge-base", "--all", of_head, of_revision) or b"").decode("ascii").split()
        # What is itself behind `head` has no better ancestor in the commits that a shallow clone lacks.
        if found != [of_revision] and self.is_shallow:
            raise ShallowError(
                f"{self._git.shown} is a shallow clone, which lacks the commits back to where this branch left "
                f"{printable(revision)}. Fetch them: {self._git.to_type('fetch', '--unshallow')}. {_WHOLE_CLONE}"
            )
        if not found:
            raise NoCommonAncestorError(
                f"{printable(revision)} and {printable(head)} have no commit in common in {self._git.shown}. Give the "
                "branch, tag or commit that this branch grew from."
            )
        return found[0] if len(found) == 1 else max(found, key=lambda one: (self.describe(one).time, one))

    def describe(self, commit: str) -> Version:
        """Return a commit's time, parents and subject."""
        return next(_read_commits(self._git.run("rev-list", "--max-count=1", _FORMAT, commit, "--")))

    # Trees and files.

    def entries(self, commit: str, folder: str = "", *, recursive: bool = True) -> list[Entry]:
        """Return what a folder of a commit holds, by path; with `recursive`, the files of all folders below it.

        Empty where the commit has no such folder.
        """
        within = [folder.rstrip("/") + "/"] if folder else []
        return self._tree(commit, within, *(["-r"] if recursive else []))

    def entry(self, commit: str, path: str) -> Entry | None:
        """Return a commit's entry at a path, links followed to what they lead to; None where there is nothing."""
        for _ in range(_MAX_LINKS):
            found = self._listed(commit, posixpath.dirname(path)).get(path)
            if found is None:
                return None
            if found.mode != _LINK:
                return found
            target = os.fsdecode(self.read(found.oid))
            path = posixpath.normpath(posixpath.join(posixpath.dirname(path), target))
            if path.startswith(("../", "/")):
                return None
        return None

    def _listed(self, commit: str, folder: str) -> dict[str, Entry]:
        """Return what a folder of a commit holds, by path; read once, as long as the commit is given by its id."""
        key = commit, folder
        found = self._listings.get(key)
        if found is None:
            found = {entry.path: entry for entry in self.entries(commit, folder, recursive=False)}
            if len(commit) in _ID_LENGTHS:
                self._listings[key] = found
        return found

    def submodule_of(self, commit: str, path: str) -> Entry | None:
        """Return the submodule that a path lies in, with the commit of it that this one names as its `oid`; or None."""
        parts = path.split("/")
        above = ["/".join(parts[:count]) for count in range(1, len(parts) + 1)]
        return next((entry for entry in self._tree(commit, above) if entry.mode == _SUBMODULE), None)

    def _tree(self, commit: str, paths: Sequence[str], *options: str) -> list[Entry]:
        printed = self._git.run(
            "--literal-pathspecs", "ls-tree", "-z", "--full-tree", *options, commit, "--", *paths
        )
        return list(_read_tree(printed))

    def read_file(self, commit: str, path: str) -> bytes | None:
        """Return a file's content in a commit, None where there is no such file. Raises GitError.

        As it was committed: without the line ends and filters of a checkout. Of a file in Git LFS, what it stands for.
        """
        entry = self.entry(commit, path)
        if entry is None or entry.mode in (_FOLDER, _SUBMODULE):
            return None
        return self.read(entry.oid, path)

    def read(self, oid: str, path: str = "") -> bytes:
        """Return the content of an object by its id.

        With `path`, which errors name, it is the content behind a pointer of Git LFS. Raises MissingObjectError and LfsPointerError where the clone lacks it.
        """
        data = self._git.read(oid)
        if not path or len(data) > _MAX_POINTER or not data.startswith(_LFS):
            return data
        stored = self._lfs_object(data)
        if stored is None:
            raise LfsPointerError(
                f"{printable(path)} is kept in Git LFS, and this clone lacks the content of that commit. Fetch it: "
                f"{self._git.to_type('lfs', 'fetch', '--all', 'origin')}"
            )
        return stored

    def _lfs_object(self, pointer: bytes) -> bytes | None:
        """Return the content that a pointer of Git LFS names, if it was fetched; no program of Git LFS is run."""
        fields = dict(line.partition(b" ")[::2] for line in pointer.splitlines())
        oid = fields.get(b"oid", b"").removeprefix(b"sha256:").decode("ascii", "replace")
        if not set(oid) <= set("0123456789abcdef"):
            return None
        common = os.fsdecode(self._git.run("rev-parse", "--git-common-dir").removesuffix(b"\n"))
        file = self.top / common / "lfs" / "objects" / oid[:2] / oid[2:4] / oid
        with suppress(OSError):
            if file.stat().st_size <= MAX_RUN_BYTES:
                return file.read_bytes()
        return None

    # History.

    def renamed_and_deleted(self, commit: str, glob: str) -> tuple[dict[str, str], list[str]]:
        """Return which of a commit's files were renamed since, and which are gone, as far as that is staged or committed.

        The renamed ones as today's path → that of then, the others as paths. Only files that
        match `glob`, as in ``**/*.json``, before and after.
        """
        options = ["--cached", *_RENAMES, "--diff-filter=DR"]
        return _read_changes(self._git.run("diff-index", *options, commit, "--", f":(glob){glob}"))

    def history(self, path: str, revision: str = "HEAD", *, first_parent: bool = False) -> Iterator[Version]:
        """Yield the commits that changed a file, newest first, also those from before it was renamed.

        With `first_parent`, a merged branch counts as one commit, that of the merge.
        """
        options = ["--first-parent"] if first_parent else []
        found: tuple[str, str] | None = (self.commit(revision), path)
        while found is not None:
            start, path = found
            words = ["--literal-pathspecs", "rev-list", *options, _FORMAT, start, "--", path]
            versions = self._with_oids(list(_read_commits(self._git.run(*words))), path)
            yield from versions
            found = self._before(versions[-1]) if versions else None

    def _before(self, created: Version) -> tuple[str, str] | None:
        """Return a parent of the commit that created a file, and the path there, if that commit renamed it."""
        for parent in created.parents:
            printed = self._git.run("diff-tree", "-r", *_RENAMES, "--diff-filter=R", parent, created.commit)
            path = _read_changes(printed)[0].get(created.path)
            if path is not None:
                return parent, path
        return None

    def _with_oids(self, commits: Sequence[Version], path: str) -> list[Version]:
        """Return those of the commits that changed a file, each with the id of its content."""
        asked = "".join(f"{one.commit}\n" for one in commits).encode("ascii")
        options = [
            "--stdin",
            "-r",
            "-z",
            "-m",
            "--root",
            "--raw",
            "--no-abbrev",
            "--no-renames",
            *_NO_PROGRAMS,
        ]
        printed = self._git.run("--literal-pathspecs", "diff-tree", *options, "--", path, given=asked)
        known = {one.commit for one in commits}
        oids: dict[str, str | None] = {}
        commit = ""
        for field in printed.split(b"\0"):
            words = field.decode("ascii", "replace").split(" ")
            if (
                words[0].startswith(":") and len(words) == 5
            ):  # `:mode mode id id status`, and the path follows
                oids[commit] = words[3] if words[3].strip("0") else None
            elif words[0] in known:
                commit = words[0]
        return [replace(one, path=path, oid=oids[one.commit]) for one in commits if one.commit in oids]

    def _fetch_command(self, revision: str) -> str:
        """Return the command line that fetches a revision: a branch of a remote by its name, else all tags."""
        remote, _, branch = revision.partition("/")
        known = self._git.ask("config", "--get-regexp", r"^remote\..*\.url$") or b""
        if branch and f"remote.{remote}.url " in known.decode("utf-8", "replace"):
            return self._git.to_type("fetch", remote, f"+{branch}:refs/remotes/{remote}/{branch}")
        return self._git.to_type("fetch", "--tags", "origin")


def _read_commits(printed: bytes) -> Iterator[Version]:
    """Yield the commits that `rev-list` printed in `_FORMAT`; it leads each in with a line `commit ID`."""
    for line in printed.split(b"\n"):
        fields = line.decode("utf-8", "replace").split("\t", 3)
        if len(fields) == 4:
            commit, time, parents, subject = fields
            yield Version(commit, int(time), tuple(parents.split()), subject)


def _read_tree(printed: bytes) -> Iterator[Entry]:
    """Yield the entries that `ls-tree -z` printed: `mode type id`, a tab, the path."""
    for record in printed.split(b"\0"):
        head, tab, path = record.partition(b"\t")
        if tab:
            mode, _, oid = head.decode("ascii").split()
            yield Entry(os.fsdecode(path), mode, oid)


def _read_changes(printed: bytes) -> tuple[dict[str, str], list[str]]:
    """Return the renames, new path → old, and the deleted paths, as `--name-status -z` prints them."""
    fields = map(os.fsdecode, printed.split(b"\0")[:-1])
    renamed, deleted = {}, []
    for status in fields:
        path = next(fields)
        if status.startswith("R"):
            renamed[next(fields)] = path
        else:
            deleted.append(path)
    return renamed, deleted
