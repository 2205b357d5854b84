"""What all rooms share: errors, words, numbers, ids and paths for messages, strict JSON, whole-file writing."""
