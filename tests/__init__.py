"""What stands behind the numbers of a ranking: the tests of rankwork."""

from hypothesis import settings

# No test asserts a time: a slow machine must not fail an example.
settings.register_profile("rankwork", deadline=None)
settings.load_profile("rankwork")
