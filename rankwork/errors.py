"""The errors a caller can expect. Each is also the builtin error that a caller would catch.

Messages name the offending value, what was expected, and where:

>>> raise ContractError("k must be between 0 and 6, got 7")
Traceback (most recent call last):
    ...
rankwork.errors.ContractError: k must be between 0 and 6, got 7
"""


class RankworkError(Exception):
    """Any error that a user can cause; the command line turns it into one sentence and exit code 2."""


class ContractError(RankworkError, ValueError):
    """A ranking that cannot be ordered: duplicate or mixed IDs, a score that is not finite, k outside 0..n."""


class InputError(RankworkError, ValueError):
    """A file or table that cannot be read as what it is said to be; the message gives file, line and value."""


class ParameterError(RankworkError, ValueError):
    """A notebook's parameter that is unknown, missing, of the wrong type or out of range."""


class EvidenceError(RankworkError, RuntimeError):
    """A record or a store that cannot be used as asked."""
