"""What a pipeline is asked for: every number that can move a result, in one strict object."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, FiniteFloat, NonNegativeInt, PositiveFloat, PositiveInt

from rankwork.retrieval.narrowing import Dtype

RouteName = Literal["bm25", "dense"]
LEARNED = "learned"
EMBEDDED = "lsa"


class Settings(BaseModel):
    """The settings of one run; unknown names and values out of range are refused.

    Routes: `routes` are asked for `depth` candidates each; `model` makes the dense vectors (`lsa`, or a
    sentence-transformers model by path or name), of `dimensions` where it is `lsa`; `dtype` is what dense scores are
    compared in; `k1` and `b` are BM25's. Fusion: RRF with `c` and `weights` by route (None: 1 each), of which `fused`
    are kept. Rerank: `reranker` (`learned`, a CrossEncoder by path or name, or None) looks at `window` and keeps `cut`;
    `training` is how many dev cases `learned` is trained on at most. Context: at most `budget` tokens, `quota` items of
    a source, no text with a share `near` of its word sequences in common with another; `parents` puts whole documents
    in the place of chunks. Limits: a route or reranker that took longer than `route_timeout_ms` or
    `rerank_timeout_ms` counts as not having answered. `seed` starts what is random.

    >>> Settings(depth=50).fused
    100
    """

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    run: str = "rankwork"
    routes: Annotated[tuple[RouteName, ...], Field(min_length=1, strict=False)] = ("bm25", "dense")
    depth: PositiveInt = 100
    model: Annotated[str, Field(min_length=1)] = EMBEDDED
    dimensions: PositiveInt = 300
    dtype: Dtype = "float32"
    k1: Annotated[FiniteFloat, Field(ge=0)] = 1.5
    b: Annotated[FiniteFloat, Field(ge=0, le=1)] = 0.75
    c: NonNegativeInt = 60
    weights: Annotated[tuple[PositiveFloat, ...] | None, Field(strict=False)] = None
    fused: PositiveInt = 100
    reranker: Annotated[str, Field(min_length=1)] | None = LEARNED
    window: PositiveInt = 50
    cut: PositiveInt = 20
    training: PositiveInt = 500
    budget: PositiveInt | None = 2000
    quota: PositiveInt | None = None
    near: Annotated[FiniteFloat, Field(gt=0, le=1)] | None = 0.9
    parents: bool = False
    route_timeout_ms: PositiveFloat | None = None
    rerank_timeout_ms: PositiveFloat | None = None
    seed: int = 0
