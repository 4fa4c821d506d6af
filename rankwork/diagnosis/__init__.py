"""Where evidence was lost, whether an answer rests on it, and whether a judge of answers is to be trusted."""
