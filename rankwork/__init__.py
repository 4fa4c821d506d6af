"""Which documents were selected, would another correct system select others, and what does that do to the numbers.

The public names load what they need on first use, so that `import rankwork` is as cheap as importing nothing.

>>> import rankwork
>>> rankwork.rank([("A", 9), ("C", 8), ("B", 8)], k=2)
('A', 'B')
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rankwork.contract.certificate import certify as certify
    from rankwork.contract.comparison import compare as compare
    from rankwork.contract.reference import rank as rank
    from rankwork.contract.shards import merge as merge
    from rankwork.contract.ties import boundary as boundary
    from rankwork.contract.ties import recall_range as recall_range
    from rankwork.contract.topk import topk as topk
    from rankwork.evidence.recording import record as record
    from rankwork.measures.auditing import audit as audit
    from rankwork.retrieval.fusion import Fused as Fused
    from rankwork.retrieval.fusion import rrf as rrf

__version__ = "0.1.0"

_HOME = {
    "Fused": "rankwork.retrieval.fusion",
    "audit": "rankwork.measures.auditing",
    "boundary": "rankwork.contract.ties",
    "certify": "rankwork.contract.certificate",
    "compare": "rankwork.contract.comparison",
    "merge": "rankwork.contract.shards",
    "rank": "rankwork.contract.reference",
    "recall_range": "rankwork.contract.ties",
    "record": "rankwork.evidence.recording",
    "rrf": "rankwork.retrieval.fusion",
    "topk": "rankwork.contract.topk",
}
__all__ = [
    "Fused", "audit", "boundary", "certify", "compare", "merge", "rank", "recall_range", "record", "rrf", "topk",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'rankwork' has no attribute {name!r}")
    value = getattr(import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
