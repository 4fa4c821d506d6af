"""Readers: files and tables of the outside world become `Rankings` and `Judgements`, or a clear error."""
