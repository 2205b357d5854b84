"""The index that the search of sqlite on docs/engines.md asks; pages.py finds it by the name of this file."""

import json
import sqlite3
from pathlib import Path

documents = json.loads(Path("documents.json").read_text(encoding="utf-8"))
db = sqlite3.connect("docs.db")
with db:
    db.execute("DROP TABLE IF EXISTS docs")
    db.execute("CREATE VIRTUAL TABLE docs USING fts5(id UNINDEXED, title, body, tokenize = 'porter')")
    db.executemany("INSERT INTO docs VALUES (:id, :title, :body)", documents)
db.close()
