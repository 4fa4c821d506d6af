"""What stands behind the numbers of a ranking: the tests of rankwork."""
