"""What a pipeline is built of: the routes that the settings ask for, and the snapshot that names every version."""

from collections.abc import Callable, Iterator, Sequence

from rankwork.digest import digest
from rankwork.errors import ContractError
from rankwork.inputs.documents import Collection
from rankwork.retrieval.context import COUNTER, count_tokens
from rankwork.retrieval.dense import LSA, Dense, Encoder, SentenceModel
from rankwork.retrieval.rerank import Reranker
from rankwork.retrieval.searching import Scorer, in_order, texts
from rankwork.retrieval.settings import EMBEDDED, Settings
from rankwork.retrieval.sparse import BM25


def routes(collection: Collection, settings: Settings) -> Iterator[Scorer]:
    """The routes, over the documents in order of ID."""
    indexed = texts(collection)
    for name in settings.routes:
        yield BM25(indexed, k1=settings.k1, b=settings.b) if name == "bm25" else _dense(indexed, settings)


def weights(made: Sequence[Scorer], settings: Settings) -> dict[str, float]:
    """The weight of each route, 1 where none are given; ContractError for another number or a name twice."""
    names = [route.name for route in made]
    if len(set(names)) < len(names):
        raise ContractError(f"each route can be asked once, got {', '.join(names)}")
    given = (1.0,) * len(names) if settings.weights is None else settings.weights
    if len(given) != len(names):
        raise ContractError(f"there must be one weight for each of {len(names)} routes, got {given}")
    return dict(zip(names, given, strict=True))


def nbytes(made: Sequence[Scorer]) -> int | None:
    """The size of all indexes in bytes; None where one does not know its own."""
    sizes = [getattr(route, "nbytes", None) for route in made]
    return None if None in sizes else sum(size for size in sizes if size is not None)


def snapshot(
    collection: Collection,
    settings: Settings,
    made: Sequence[Scorer],
    reranker: Reranker | None,
    count: Callable[[str], int],
) -> dict[str, str]:
    """The version of everything that takes part in a run, by what it does."""
    indexed = [[document.id, document.title, document.text] for document in in_order(collection)]
    weighted = ", ".join(f"{name} {weight:g}" for name, weight in weights(made, settings).items())
    counter = COUNTER if count is count_tokens else getattr(count, "__name__", "another counter")
    limits = f"quota {settings.quota}, near {settings.near}, parents {settings.parents}"
    return {
        "data": f"{collection.name}, {collection.revision}",
        "parser": collection.parser,
        "chunker": collection.chunker,
        "embedding": next((route.version for route in made if route.name == "dense"), "none"),
        "index": digest(indexed)[:12],
        "retriever": "; ".join(f"{route.name}: {route.version}, depth {settings.depth}" for route in made),
        "fusion": f"rrf, c={settings.c}, weights {weighted}, keeps {settings.fused}",
        "reranker": "none" if reranker is None else f"{reranker.version}, {settings.window} to {settings.cut}",
        "context": f"budget {settings.budget} {counter}, {limits}",
    }


def _dense(indexed: list[str], settings: Settings) -> Dense:
    return Dense(indexed, _encoder(indexed, settings), dtype=settings.dtype)


def _encoder(indexed: list[str], settings: Settings) -> Encoder:
    if settings.model != EMBEDDED:
        return SentenceModel(settings.model)
    return LSA(indexed, dimensions=settings.dimensions, seed=settings.seed)
