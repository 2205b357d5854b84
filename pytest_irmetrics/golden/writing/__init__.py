"""GoldenSet → files: what a format can hold, in its words; and judgments appended to a file that is there."""
