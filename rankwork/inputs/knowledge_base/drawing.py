"""Draws that depend on their name alone: what one of them gives never moves another.

Random numbers taken in turn change altogether when one is added. Here each is a hash of the seed and of its name.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

T = TypeVar("T")


@dataclass(frozen=True)
class Draws:
    """Named draws from a seed; `under` narrows the names, as a folder does.

    >>> draws = Draws(1).under("tenant")
    >>> draws.below(10, "heap") == Draws(1).below(10, "tenant", "heap")
    True
    """

    seed: int
    path: tuple[str, ...] = ()

    def under(self, *names: str) -> "Draws":
        """The draws whose names begin so."""
        return Draws(self.seed, (*self.path, *names))

    def below(self, bound: int, *names: str) -> int:
        """A whole number from 0 up to, not including, `bound`."""
        name = "\x1f".join((str(self.seed), *self.path, *names))
        return int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "big") % bound

    def number(self, low: int, high: int, step: int, *names: str) -> int:
        """One of low, low + step, ... up to and including `high`."""
        return low + step * self.below((high - low) // step + 1, *names)

    def one(self, options: Sequence[T], *names: str) -> T:
        """One of the options."""
        return options[self.below(len(options), *names)]
