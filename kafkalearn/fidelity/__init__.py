"""The ledger: for each rule, which Kafka it speaks for, what it was checked against, and what it leaves out.

A simulator that is wrong teaches what is wrong. So each rule says here which class or KIP it follows, which releases
it speaks for, and what it was checked against: recordings of real clusters, answers of the real classes, or only laws
and examples of our own. The entries are data, in ``ledger.toml``; a test compares each with the files it names.
The column `checked_live` has the real brokers that were asked, with the day; the runs that ask them write it
(`kafkalearn.fidelity.live`).

>>> print(ledger("coordinator")[0].checks[0])
recording: 300 of data/coordinator.json
"""

from __future__ import annotations

from collections.abc import Iterable

from kafkalearn.errors import unknown_name
from kafkalearn.fidelity.live import live_text
from kafkalearn.fidelity.model import Rule, all_rules
from kafkalearn.phrases import shown
from kafkalearn.tables import text_table

__all__ = ["ledger", "rows", "table"]


def ledger(module: str | None = None) -> tuple[Rule, ...]:
    """The rules of a module, or all of them.

    Parameters
    ----------
    module : str or None
        A package or a module by its own name or its whole one, such as ``"coordinator"``, ``"keyless"`` or
        ``"kafkalearn.partitioning.keyless"``; a function's full name is good too.

    Returns
    -------
    tuple of Rule
        In the order of the ledger; `table` makes a text of it, ``pandas.DataFrame(rows(...))`` shows it in a notebook.

    Raises
    ------
    KafkaLearnError
        If no rule is in a module of that name; the nearest names are given.

    Examples
    --------
    >>> [rule.name for rule in ledger("coordinator")][:3]
    ['group id to offsets partition', 'the formulas people write', 'FindCoordinator']
    >>> ledger("kafkalearn.partitioning.keyless.queue_weights")[0].left_out
    'when the sending thread looks, and which broker counts as stalled, are inputs'
    """
    rules = all_rules()
    if module is None:
        return rules
    inner = (module if isinstance(module, str) else shown(module)).removeprefix("kafkalearn.")
    found = tuple(rule for rule in rules if f"{rule.function}.".startswith(f"kafkalearn.{inner}."))
    found = found or tuple(rule for rule in rules if inner in _modules_of(rule))
    if not found:
        raise unknown_name("module", module, dict.fromkeys(part for rule in rules for part in _modules_of(rule)))
    return found


def _modules_of(rule: Rule) -> list[str]:
    """Where a rule is: its package and the modules within, each by its own name."""
    return rule.function.split(".")[1:-1]


def rows(rules: Iterable[Rule]) -> list[dict[str, str]]:
    """The rules as plain rows of text: a key for each field of `Rule`, and the real brokers that it was held to.

    >>> rows(ledger("coordinator.look_up"))[0]["checks"]
    'recording: 300 of data/coordinator.json; law'
    """
    return [
        {
            "name": rule.name,
            "function": rule.function,
            "versions": rule.versions,
            "source": rule.source,
            "checks": "; ".join(map(str, rule.checks)),
            "checked_live": live_text(rule.name),
            "left_out": rule.left_out,
        }
        for rule in rules
    ]


def table(rules: Iterable[Rule]) -> str:
    """The rules as a text table without their sources, which `rows` has.

    >>> print(table(ledger("assignor.fewest_moves")).splitlines()[0].split())
    ['name', 'versions', 'checks', 'checked_live', 'left_out']
    """
    shown = ("name", "versions", "checks", "checked_live", "left_out")
    return text_table({column: row[column] for column in shown} for row in rows(rules))
