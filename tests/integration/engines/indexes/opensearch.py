"""The index that the search of opensearch on docs/engines.md asks; pages.py finds it by the name of this file."""

import json
import os
from pathlib import Path

from opensearchpy import OpenSearch, helpers

documents = json.loads(Path("documents.json").read_text(encoding="utf-8"))
text = {"type": "text", "analyzer": "english"}
fields = {"id": {"type": "keyword"}, "title": text, "body": text}
client = OpenSearch(os.environ["OPENSEARCH_URL"])
client.indices.delete(index="docs", ignore_unavailable=True)
client.indices.create(
    index="docs", body={"settings": {"number_of_shards": 1}, "mappings": {"properties": fields}}
)
actions = [{"_index": "docs", "_id": document["id"], **document} for document in documents]
helpers.bulk(client, actions, refresh=True)
