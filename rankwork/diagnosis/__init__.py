"""From the traces of a staged system to what went wrong: where evidence was lost, whether cases still hold.

And after retrieval: whether an answer rests on its evidence, and whether a judge of answers is to be trusted.
"""
