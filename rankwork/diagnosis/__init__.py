"""From the traces of a staged system to what went wrong: where evidence was lost, and whether cases still hold."""
