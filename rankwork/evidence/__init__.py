"""Evidence: executed notebooks kept as records that another machine can verify."""
