"""Tests that need an NVIDIA GPU; skipped where there is none."""
