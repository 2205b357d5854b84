"""Retrieval: call styles, accepted answers, passages, schedules, event loops and executors."""
