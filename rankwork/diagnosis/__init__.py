"""Diagnosis: where evidence was lost, what an answer rests on, and whether a judge is to be trusted."""
