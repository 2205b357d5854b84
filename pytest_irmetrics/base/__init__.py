"""What all rooms share: the base of their errors, words, numbers and paths for messages, strict JSON, whole-file writing."""


class IRMetricsError(Exception):
    """An error that the user can mend: what is wrong with a file, a setting, a mark, a metric or an answer, and what to do.

    Whatever else is raised is a defect of ours or of the user's own code.
    """
