"""A model of sentence-transformers that is made here, since no test downloads one."""

from __future__ import annotations

from tests.integration.packages import need


def tiny(texts, path):
    """Save a model that knows the words of these texts, a random vector a word. Gives its path."""
    transformers = need("sentence_transformers")
    torch, tokenizers = need("torch"), need("tokenizers")
    modules = need("sentence_transformers.sentence_transformer.modules")
    words = sorted({word for text in texts for word in text.lower().split()})
    model = tokenizers.models.WordLevel(
        {word: place for place, word in enumerate(["[UNK]", *words])}, "[UNK]"
    )
    tokenizer = tokenizers.Tokenizer(model)
    tokenizer.normalizer = tokenizers.normalizers.Lowercase()
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    torch.manual_seed(7)
    static = modules.StaticEmbedding(tokenizer, embedding_dim=64)
    transformers.SentenceTransformer(modules=[static], device="cpu").save(str(path))
    return path
