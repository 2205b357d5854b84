"""Evaluations and verdicts as text. Pure: data in, text out."""
