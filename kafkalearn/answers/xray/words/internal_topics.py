"""What is in the internal topics in words: groups, and transactions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from kafkalearn.answers.answer import wrapped
from kafkalearn.answers.units import lasting, moment, size
from kafkalearn.answers.xray.groups import GroupsXray, GroupXray, OffsetXray
from kafkalearn.answers.xray.words.tables import table
from kafkalearn.phrases import counted, listed
from kafkalearn.transaction_log.replay import ReplayedTransactions

REASONS_SHOWN = 3


def groups_words(found: GroupsXray) -> Iterator[str]:
    """Groups and their offsets, and why dead ones are kept."""
    dead = [each for each in found.groups if each.is_dead]
    yield wrapped(
        f"{counted(len(found.groups), 'group')}, {len(dead)} of them dead but kept: nobody is in them, and their "
        "offsets have not expired."
    )
    if found.groups:
        yield from table([_group_row(each) for each in found.groups], "group")
    if found.gone_count:
        yield wrapped(
            f"Of {counted(found.gone_count, 'group')} that {'is' if found.gone_count == 1 else 'are'} gone, records of "
            f"{size(found.gone_bytes)} wait for the cleaner."
        )
    why = Counter(each.kept_because for each in dead)
    if len(found.groups) == 1 and found.groups[0].offsets:
        yield from table([*map(_offset_row, found.groups[0].offsets)], "offset")
    for because, count in why.most_common(REASONS_SHOWN):
        first = next(each.group_id for each in dead if each.kept_because == because)
        more = "" if count == 1 else f" and {count - 1} more"
        yield wrapped(f"Kept are {first}{more}: {because}.")


def _group_row(each: GroupXray) -> dict[str, object]:
    return {
        "group": each.group_id,
        "state": each.state,
        "members": each.member_count,
        "commits": f"{each.commit_count:,}",
        "last commit": "" if each.last_commit_ms is None else moment(each.last_commit_ms).removesuffix(" UTC"),
        "an hour": "" if each.commits_an_hour is None else f"{each.commits_an_hour:,.0f}",
        "share": f"{100 * each.share:.0f} %",
        "kept until": "" if each.kept_until_ms is None else moment(each.kept_until_ms).removesuffix(" UTC"),
    }


def _offset_row(each: OffsetXray) -> dict[str, object]:
    return {
        "partition": f"{each.topic}-{each.partition}",
        "offset": each.offset,
        "committed": "" if each.commit_ms < 0 else moment(each.commit_ms).removesuffix(" UTC"),
        "expires": "not while it is so" if each.expires_ms is None else moment(each.expires_ms).removesuffix(" UTC"),
    }


def transactions_words(found: ReplayedTransactions, now_ms: int) -> Iterator[str]:
    """Transactional ids by their state, and the open ones."""
    states = Counter(each.state for each in found.ids)
    words = listed(f"{count} {state}" for state, count in sorted(states.items()))
    yield wrapped(f"{counted(len(found.ids), 'transactional id')}: {words}.")
    still_open = [each for each in found.ids if each.is_open]
    if still_open:
        rows = [
            {
                "transactional id": each.transactional_id,
                "producer": each.producer_id,
                "epoch": each.producer_epoch,
                "state": each.state,
                "since": "" if each.started_ms is None else lasting(now_ms - each.started_ms),
                "partitions": len(each.partitions),
            }
            for each in still_open
        ]
        yield from table(rows, "transaction")
