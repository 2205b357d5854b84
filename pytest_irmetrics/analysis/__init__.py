"""What a reader should know besides the verdict: kind of change, edits, trust, self-test, labelling."""
