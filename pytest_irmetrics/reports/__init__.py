"""Test results as text: the terminal summary, failure messages, and report files."""
