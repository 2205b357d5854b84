"""Decide whether each gate of a test passes, from an evaluation and its comparison with the baseline."""
