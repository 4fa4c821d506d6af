"""From query to context: a collection, the routes that search it, reranking and the context, each step on record."""
