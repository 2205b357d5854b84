"""The index that the page's search of faiss asks."""

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
