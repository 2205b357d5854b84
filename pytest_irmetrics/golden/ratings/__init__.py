"""The formats of one rating each, query, document and grade: TREC qrels, tables, BEIR folders, Quepid's exports."""
