"""Command `label --interactive` on a terminal: single keys, Ctrl-C, resuming, and the terminal afterwards."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from pytest_irmetrics.cli import keys
from pytest_irmetrics.golden import GoldenSet
from tests.unit.cli.test_label import FILE, GOLDEN, folder  # noqa: F401 - a fixture that all use
from tests.unit.cli.typed_keys import Terminal

posix = pytest.mark.skipif(
    sys.platform == "win32", reason="Windows has no pseudo-terminals that Python can open"
)
ASKS = "q quit: "


def judged(query="refund"):
    return GoldenSet.load(FILE).queries[query].judgments


@posix
def test_a_key_counts_without_enter_and_a_next_session_goes_on():
    with Terminal("label", FILE, "-i") as terminal:
        terminal.expect(ASKS)
        terminal.press("0")
        terminal.expect("2 of 3")
        assert judged() == {"d1": 1, "u1": 0}
        terminal.expect(ASKS)
        terminal.press("u")
        terminal.expect("1 of 3")
        assert Path(FILE).read_text() == GOLDEN
        terminal.expect(ASKS)
        terminal.press("2sq")
        assert terminal.status() == 0
        assert "1 judgment written, 1 skipped. 2 left" in " ".join(terminal.text.split())
    with Terminal("label", FILE, "-i") as terminal:
        terminal.expect("1 of 2")
        terminal.expect(ASKS)
        terminal.press("\x04")  # Ctrl-D
        assert terminal.status() == 0
    assert judged() == {"d1": 1, "u1": 2}


@posix
def test_ctrl_c_leaves_what_was_written_and_the_terminal_as_it_was():
    with Terminal("label", FILE, "-i") as terminal:
        terminal.expect(ASKS)
        terminal.press("1")
        terminal.expect(ASKS)
        terminal.press("\x03")
        assert terminal.status() == 130
        assert "Traceback" not in terminal.text
        assert terminal.text.rstrip().endswith(
            "golden/faq.yaml: 1 judgment written. 2 left: the same command goes on with them."
        )
        assert terminal.mode() == terminal.before
    assert judged() == {"d1": 1, "u1": 1}
    assert [path.name for path in Path("golden").iterdir()] == ["faq.yaml"]


@posix
def test_keys_count_without_enter_after_it_was_stopped():
    with Terminal("label", FILE, "-i") as terminal:
        terminal.expect(ASKS)
        terminal.stop_and_go_on()
        terminal.press("1")
        terminal.expect("2 of 3")
        terminal.press("q")
        assert terminal.status() == 0


@posix
def test_arrows_and_function_keys_are_no_grades():
    with Terminal("label", FILE, "-i", "--scale", "9") as terminal:
        for sequence in ("\x1b[A", "\x1b[1;5C", "\x1b[5~", "\x1bOP", "\x1b", "\u00e9"):
            terminal.expect(ASKS)
            terminal.press(sequence)
            terminal.expect("Press one of these keys.")
        terminal.expect(ASKS)
        terminal.press("q")
        assert terminal.status() == 0
    assert Path(FILE).read_text() == GOLDEN


@posix
def test_a_narrow_terminal_has_narrow_lines():
    with Terminal("label", FILE, "-i", columns=46) as terminal:
        terminal.expect(ASKS)
        terminal.press("1q")
        assert terminal.status() == 0
        assert max(map(len, terminal.text.splitlines())) <= 46


@posix
def test_a_terminal_that_knows_lines_alone_takes_enter():
    with Terminal("label", FILE, "-i", term="dumb") as terminal:
        terminal.expect("q quit, and Enter: ")
        terminal.press("1\n")
        terminal.expect("q quit, and Enter: ")
        terminal.press("\n")
        terminal.expect("Press one of these keys.")
        terminal.press("q\n")
        assert terminal.status() == 0
    assert judged() == {"d1": 1, "u1": 1}


class TestWindows:
    @pytest.fixture
    def typed(self, monkeypatch):
        """Make the keyboard that of Windows, on which these characters are typed."""

        def typed(characters):
            left = list(characters)
            monkeypatch.setattr(keys, "termios", None)
            monkeypatch.setattr(keys, "msvcrt", SimpleNamespace(getwch=lambda: left.pop(0)))
            return keys.keyboard(sys.stdin)

        return typed

    def test_keys_are_read_without_enter(self, typed):
        with typed("1s\u00e9\r") as keyboard:
            assert [keyboard.key() for _ in range(4)] == ["1", "s", "\u00e9", "\r"]
            assert not keyboard.needs_enter

    def test_an_arrow_is_no_grade(self, typed):
        with typed("\xe05\0" + "1\x1bq") as keyboard:
            assert [keyboard.key() for _ in range(4)] == [keys.UNKNOWN, keys.UNKNOWN, keys.UNKNOWN, "q"]

    def test_ctrl_c_interrupts_and_ctrl_z_ends(self, typed):
        with typed("\x1a\x03") as keyboard:
            assert keyboard.key() == keys.END
            with pytest.raises(KeyboardInterrupt):
                keyboard.key()

    def test_lines_are_read_as_usual(self, typed, monkeypatch):
        import io

        monkeypatch.setattr("sys.stdin", io.StringIO("2-3\n"))
        with typed("") as keyboard:
            assert keyboard.line() == "2-3"
            assert keyboard.line() is None
