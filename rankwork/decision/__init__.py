"""Decisions: may a change ship, what to watch afterwards, and how a failure comes back as a test."""
