"""The records that the events of a classic group write, worked out from the simulator's states."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kafkalearn.group.classic.effects import NONE, CommitAnswered, DeleteAnswered, GroupWritten
from kafkalearn.group.classic.state import Group, Member
from kafkalearn.group_states import EMPTY
from kafkalearn.live.conform.mechanisms.groups.classic_player import encoded_topics
from kafkalearn.live.conform.mechanisms.groups.consumer_records import CLIENT_HOST, HAS_TOPIC_IDS, OFFSET
from kafkalearn.live.conform.mechanisms.groups.written import Written, written
from kafkalearn.versions.releases import at_least

OFFSET_COMMIT, GROUP_METADATA = 1, 2


class ClassicRecords:
    """Writes the records of one group.

    Parameters
    ----------
    release, group_id : str
        Which broker it is, and the group as it stands in the keys.
    topics, topic_ids : mapping of str to str
        The topics and their ids by their names in the steps; commits are for the first partition of ``"t"``.
    """

    def __init__(self, release: str, group_id: str, topics: Mapping[str, str], topic_ids: Mapping[str, str]) -> None:
        """Nothing is written yet."""
        self.release, self.group_id = release, group_id
        self.topics, self.topic_ids = topics, topic_ids
        self.has_committed = False

    def of(self, after: Group) -> list[Written]:
        """What an event has written, in order."""
        found: list[Written] = []
        for each in after.effects:
            match each:
                case CommitAnswered(error="NONE"):
                    self.has_committed = True
                    found.append(self._offset())
                case GroupWritten(is_tombstone=True):
                    is_deleted = DeleteAnswered(NONE) in after.effects
                    found += [self._offset(is_gone=True)] if is_deleted and self.has_committed else []
                    self.has_committed = False
                    found.append(written(GROUP_METADATA, {"group": self.group_id}, None))
                case GroupWritten():
                    found.append(written(GROUP_METADATA, {"group": self.group_id}, self._group(after)))
        return found

    def _offset(self, is_gone: bool = False) -> Written:
        key = {"group": self.group_id, "topic": self.topics["t"], "partition": 0}
        value: dict[str, Any] = {"offset": OFFSET, "metadata": "", "leaderEpoch": -1, "commitTimestamp": 0}
        if at_least(HAS_TOPIC_IDS, self.release):
            value["topicId"] = self.topic_ids["t"]
        return written(OFFSET_COMMIT, key, None if is_gone else value)

    def _group(self, group: Group) -> dict[str, Any]:
        """The group as it is now; before its first generation nothing of it is written but that it is there."""
        is_new = group.generation == 0
        return {
            "protocolType": "" if is_new else group.protocol_type,
            "generation": group.generation,
            "protocol": None if is_new or group.state == EMPTY else group.protocol,
            "leader": None if is_new or group.state == EMPTY else group.leader,
            "currentStateTimestamp": 0,
            "members": [] if is_new else [self._member(group, each) for each in group.members],
        }

    def _member(self, group: Group, member: Member) -> dict[str, Any]:
        return {
            "memberId": member.member_id,
            "groupInstanceId": member.instance_id,
            "clientId": member.client,
            "clientHost": CLIENT_HOST,
            "rebalanceTimeout": member.rebalance_timeout_ms,
            "sessionTimeout": member.session_timeout_ms,
            "subscription": encoded_topics([self.topics[dict(member.protocols)[group.protocol]]]),
            "assignment": (member.assignment or "").encode(),
        }
