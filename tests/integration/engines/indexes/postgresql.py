"""The index that the search of postgresql on docs/engines.md asks; pages.py finds it by the name of this file."""

import json
import os
from pathlib import Path

import psycopg

documents = json.loads(Path("documents.json").read_text(encoding="utf-8"))
with psycopg.connect(os.environ["DATABASE_URL"]) as db:
    db.execute("DROP TABLE IF EXISTS docs")
    db.execute("""
        CREATE TABLE docs (id text PRIMARY KEY, title text, body text, words tsvector GENERATED ALWAYS AS (
            setweight(to_tsvector('english', title), 'A') || setweight(to_tsvector('english', body), 'D')
        ) STORED)
    """)
    db.execute("CREATE INDEX ON docs USING gin (words)")
    with db.cursor() as cursor:
        cursor.executemany("INSERT INTO docs VALUES (%(id)s, %(title)s, %(body)s)", documents)
