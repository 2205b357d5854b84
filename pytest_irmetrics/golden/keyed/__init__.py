"""The formats with the keys of a golden set, YAML and JSONL: from nodes to queries, and every complaint about them."""
