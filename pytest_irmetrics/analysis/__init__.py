"""Explain results beyond the verdict: the kind of change, golden-set edits, trust in scores, the self-test, labelling."""
