"""The index that the search of qdrant on docs/engines.md asks; pages.py finds it by the name of this file."""

import json
from pathlib import Path

from embedding import embed
from qdrant_client import QdrantClient
from qdrant_client.models import Distance, PointStruct, VectorParams

documents = json.loads(Path("documents.json").read_text(encoding="utf-8"))
vectors = [embed(document["title"]) for document in documents]
client = QdrantClient(":memory:")
client.create_collection("docs", vectors_config=VectorParams(size=len(vectors[0]), distance=Distance.COSINE))
points = [
    PointStruct(id=number, vector=vector.tolist(), payload={"id": document["id"]})
    for number, (document, vector) in enumerate(zip(documents, vectors, strict=True))
]
client.upsert("docs", points, wait=True)
