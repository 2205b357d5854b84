"""The index that the search of faiss on docs/engines.md asks; pages.py finds it by the name of this file."""

import json
from pathlib import Path

import faiss
import numpy as np
from embedding import embed

documents = json.loads(Path("documents.json").read_text(encoding="utf-8"))
documents.sort(key=lambda document: document["id"])
vectors = np.stack([embed(document["title"]) for document in documents])
index = faiss.IndexFlatIP(vectors.shape[1])
index.add(vectors)
faiss.write_index(index, "docs.faiss")
Path("ids.json").write_text(json.dumps([document["id"] for document in documents]), encoding="utf-8")
