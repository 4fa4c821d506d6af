"""Draws by name: what one gives depends on nothing else."""

from rankwork.inputs.knowledge_base.drawing import Draws


def test_a_draw_depends_on_its_name_alone() -> None:
    draws = Draws(3).under("a")
    first = draws.number(10, 30, 5, "x")
    draws.below(100, "y")
    assert Draws(3).number(10, 30, 5, "a", "x") == first


def test_draws_reach_every_option_and_nothing_else() -> None:
    numbers = {Draws(0).number(10, 30, 5, str(at)) for at in range(200)}
    assert numbers == {10, 15, 20, 25, 30}
