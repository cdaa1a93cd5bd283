"""The house has a budget: each part its lines of code."""

from tools.size import budgets, sizes


def test_no_part_is_beyond_its_budget():
    found, allowed = sizes(), budgets()

    assert found.keys() == allowed.keys()
    beyond = {part: (size.code, allowed[part]) for part, size in found.items() if size.code > allowed[part]}
    assert beyond == {}, "write less, or raise the budget in tools/budget.toml in a commit of its own that says why"
