"""The formats of report files: each module of this folder is the format of its name, which is also its suffix.

`render` returns a session's report as text, `BEGINNING` is how it begins; a module that lacks what it needs raises ImportError.
"""
