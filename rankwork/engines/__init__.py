"""What other libraries return as the top k: observed, counted, and never trusted."""
