"""A coordinator that answers as Kafka does in every stage: the class that a reader is to write.

It reads from top to bottom in the order of the stages. The tests change it in one place each, and see at which stage.
"""

import uuid


class Member:
    """A member of a classic group."""

    def __init__(self, member_id, instance_id):
        self.id = member_id
        self.instance_id = instance_id
        self.protocols = {}
        self.session_ms = self.rebalance_ms = self.deadline_ms = 0
        self.assignment = b""
        self.join_reply = self.sync_reply = None


class Group:
    """A group, of either kind; one that only has offsets is a classic one without members."""

    def __init__(self):
        self.state = "Empty"
        self.generation = 0
        self.kind = None
        self.protocol = self.leader = None
        self.members = {}
        self.pending = set()
        self.is_new = False  # somebody came while the first round waits
        self.empty_since_ms = None
        self.offsets = {}
        self.consumers = {}
        self.epoch = 1
        self.target_epoch = 1
        self.target = {}

    @property
    def is_empty(self):
        return not self.members and not self.consumers


class Consumer:
    """A member of a KIP-848 group."""

    def __init__(self, member_id):
        self.id = member_id
        self.epoch = self.previous_epoch = 0
        self.topics = []
        self.assigned = set()
        self.revoking = set()
        self.deadline_ms = 0


class Coordinator:
    def __init__(self, broker):
        self.broker = broker
        self.settings = broker.settings
        self.groups = {}
        self.sweep()

    # Which broker?

    def leader_of(self, group_id):
        number = 0
        units = group_id.encode("utf-16-be")
        for at in range(0, len(units), 2):
            number = (31 * number + int.from_bytes(units[at : at + 2], "big")) % 2**32
        number = number - 2**32 if number >= 2**31 else number
        number = 0 if number == -(2**31) else abs(number)
        return self.broker.broker_ids[number % self.broker.offsets_partitions % 3]

    def find_coordinator(self, request, reply):
        reply({"errorCode": "NONE", "nodeId": self.leader_of(request["key"])})

    def refusal(self, group_id):
        if not group_id:
            return "INVALID_GROUP_ID"
        if self.leader_of(group_id) != self.broker.id:
            return "NOT_COORDINATOR"
        return None

    # JoinGroup

    def join_group(self, request, reply):
        error = self.refusal(request["groupId"])
        low = self.settings["group.min.session.timeout.ms"]
        high = self.settings["group.max.session.timeout.ms"]
        if not error and not low <= request["sessionTimeoutMs"] <= high:
            error = "INVALID_SESSION_TIMEOUT"
        group = self.groups.get(request["groupId"])
        if not error and group is None:
            if request["memberId"]:
                error = "UNKNOWN_MEMBER_ID"
            else:
                group = self.groups[request["groupId"]] = Group()
        if not error and not self.fits(group, request):
            error = "INCONSISTENT_GROUP_PROTOCOL"
        if error:
            reply({"errorCode": error})
        elif not request["memberId"]:
            self.join_without_id(group, request, reply)
        else:
            self.join_with_id(group, request, reply)

    def fits(self, group, request):
        names = {each["name"] for each in request["protocols"]}
        if not group.members:
            return bool(request["protocolType"] and names)
        return request["protocolType"] == group.kind and bool(names & self.common_protocols(group))

    def common_protocols(self, group):
        return set.intersection(*(set(each.protocols) for each in group.members.values()))

    def join_without_id(self, group, request, reply):
        member_id = f"member-{uuid.uuid4()}"
        instance_id = request["groupInstanceId"]
        if instance_id is None:
            group.pending.add(member_id)
            self.broker.after(request["sessionTimeoutMs"], lambda: self.expire_pending(group, member_id))
            reply({"errorCode": "MEMBER_ID_REQUIRED", "memberId": member_id})
            return
        known = self.static_member(group, instance_id)
        if known is None:
            self.add(group, Member(member_id, instance_id), request, reply)
        else:
            self.replace(group, known, member_id, request, reply)

    def expire_pending(self, group, member_id):
        if member_id in group.pending:
            group.pending.discard(member_id)
            if group.state == "PreparingRebalance":
                self.complete_if_all_joined(group)

    def join_with_id(self, group, request, reply):
        member_id = request["memberId"]
        if request["groupInstanceId"] is None and member_id in group.pending:
            group.pending.discard(member_id)
            self.add(group, Member(member_id, None), request, reply)
            return
        error = self.error_of_member(group, member_id, request["groupInstanceId"])
        if error:
            reply({"errorCode": error})
            return
        member = group.members[member_id]
        is_same = member.protocols == self.protocols_of(request)
        is_settled = group.state == "CompletingRebalance"
        is_settled = is_settled or (group.state == "Stable" and member_id != group.leader)
        if is_same and is_settled:
            self.answer_join(group, member, reply)
        else:
            self.rejoin(group, member, request, reply)

    def error_of_member(self, group, member_id, instance_id):
        if instance_id is not None:
            known = self.static_member(group, instance_id)
            if known is None:
                return "UNKNOWN_MEMBER_ID"
            if known.id != member_id:
                return "FENCED_INSTANCE_ID"
        if member_id not in group.members:
            return "UNKNOWN_MEMBER_ID"
        return None

    def static_member(self, group, instance_id):
        return next((each for each in group.members.values() if each.instance_id == instance_id), None)

    def protocols_of(self, request):
        return {each["name"]: each["metadata"] for each in request["protocols"]}

    def add(self, group, member, request, reply):
        if group.state == "Empty":
            group.kind = request["protocolType"]
        if not group.members:
            group.leader = member.id
        elif group.state == "PreparingRebalance" and group.generation == 0:
            group.is_new = True
        group.members[member.id] = member
        self.rejoin(group, member, request, reply)

    def rejoin(self, group, member, request, reply):
        member.protocols = self.protocols_of(request)
        member.session_ms = request["sessionTimeoutMs"]
        member.rebalance_ms = request["rebalanceTimeoutMs"]
        member.join_reply = reply
        if group.state == "PreparingRebalance":
            self.complete_if_all_joined(group)
        else:
            self.prepare(group)

    def prepare(self, group):
        was_empty = group.state == "Empty"
        for member in group.members.values():
            if member.sync_reply:
                self.answer_sync(member, "REBALANCE_IN_PROGRESS")
        group.state = "PreparingRebalance"
        if was_empty:
            delay_ms = self.settings["group.initial.rebalance.delay.ms"]
            left_ms = max(0, self.longest_ms(group) - delay_ms)
            group.is_new, group.is_first = False, True
            self.broker.after(delay_ms, lambda: self.end_of_delay(group, delay_ms, left_ms))
            return
        group.is_first = False
        generation = group.generation
        self.broker.after(self.longest_ms(group), lambda: self.end_of_round(group, generation))
        self.complete_if_all_joined(group)

    def longest_ms(self, group):
        return max((each.rebalance_ms for each in group.members.values()), default=0)

    def end_of_delay(self, group, delay_ms, left_ms):
        if group.is_new and left_ms:
            group.is_new = False
            next_ms = min(delay_ms, left_ms)
            self.broker.after(next_ms, lambda: self.end_of_delay(group, delay_ms, max(0, left_ms - delay_ms)))
        else:
            self.complete(group)

    def end_of_round(self, group, generation):
        if group.state == "PreparingRebalance" and group.generation == generation:
            self.complete(group)

    def complete_if_all_joined(self, group):
        if not group.is_first and not group.pending and all(each.join_reply for each in group.members.values()):
            self.complete(group)

    def complete(self, group):
        for member in list(group.members.values()):
            if not member.join_reply and member.instance_id is None:
                del group.members[member.id]
        group.generation += 1
        if not group.members:
            group.state = "Empty"
            group.leader = group.protocol = None
            group.empty_since_ms = self.broker.now_ms
            return
        group.state = "CompletingRebalance"
        group.protocol = self.vote(group)
        if group.leader not in group.members:
            group.leader = next(iter(group.members))
        for member in group.members.values():
            reply, member.join_reply = member.join_reply, None
            if reply:
                self.answer_join(group, member, reply)
        self.broker.after(
            self.longest_ms(group), lambda generation=group.generation: self.end_of_sync(group, generation)
        )

    def vote(self, group):
        common = self.common_protocols(group)
        votes = [next(name for name in each.protocols if name in common) for each in group.members.values()]
        return max(common, key=votes.count)

    def answer_join(self, group, member, reply, leader=None):
        self.touch(group, member)
        members = [
            {
                "memberId": each.id,
                "groupInstanceId": each.instance_id,
                "metadata": each.protocols[group.protocol],
            }
            for each in group.members.values()
        ]
        reply(
            {
                "errorCode": "NONE",
                "generationId": group.generation,
                "protocolName": group.protocol,
                "leader": leader or group.leader,
                "memberId": member.id,
                "members": members if member.id == group.leader and not leader else [],
            }
        )

    # SyncGroup

    def sync_group(self, request, reply):
        error = self.error_of(request)
        group = self.groups.get(request["groupId"])
        if not error and group.state == "PreparingRebalance":
            error = "REBALANCE_IN_PROGRESS"
        if error:
            reply({"errorCode": error, "assignment": b""})
            return
        member = group.members[request["memberId"]]
        member.sync_reply = reply
        if group.state == "Stable":
            self.touch(group, member)
            self.answer_sync(member)
        elif member.id == group.leader:
            given = {each["memberId"]: each["assignment"] for each in request["assignments"]}
            group.state = "Stable"
            for each in group.members.values():
                each.assignment = given.get(each.id, b"")
                if each.sync_reply:
                    self.touch(group, each)
                    self.answer_sync(each)

    def answer_sync(self, member, error="NONE"):
        reply, member.sync_reply = member.sync_reply, None
        reply({"errorCode": error, "assignment": member.assignment if error == "NONE" else b""})

    def end_of_sync(self, group, generation):
        if group.state == "CompletingRebalance" and group.generation == generation:
            for each in list(group.members.values()):
                if not each.sync_reply:
                    del group.members[each.id]
            self.prepare(group)

    def error_of(self, request):
        error = self.refusal(request["groupId"])
        if error:
            return error
        group = self.groups.get(request["groupId"])
        if group is None:
            return "UNKNOWN_MEMBER_ID"
        error = self.error_of_member(group, request["memberId"], request["groupInstanceId"])
        if error:
            return error
        if request["generationId"] != group.generation:
            return "ILLEGAL_GENERATION"
        return None

    # Heartbeat

    def heartbeat(self, request, reply):
        error = self.error_of(request)
        if not error:
            group = self.groups[request["groupId"]]
            self.touch(group, group.members[request["memberId"]])
            if group.state == "PreparingRebalance":
                error = "REBALANCE_IN_PROGRESS"
        reply({"errorCode": error or "NONE"})

    def touch(self, group, member):
        member.deadline_ms = self.broker.now_ms + member.session_ms
        self.broker.after(member.session_ms, lambda: self.expire(group, member))

    def expire(self, group, member):
        is_late = self.broker.now_ms >= member.deadline_ms
        is_waiting = member.join_reply or member.sync_reply
        if group.members.get(member.id) is member and is_late and not is_waiting:
            self.remove(group, member)

    def remove(self, group, member):
        del group.members[member.id]
        if group.state == "PreparingRebalance":
            self.complete_if_all_joined(group)
        else:
            self.prepare(group)

    # LeaveGroup

    def leave_group(self, request, reply):
        error = self.refusal(request["groupId"])
        if error:
            reply({"errorCode": error})
            return
        group = self.groups.get(request["groupId"], Group())
        answers = []
        for each in request["members"]:
            error = self.leave(group, each["memberId"], each["groupInstanceId"])
            answers.append({**each, "errorCode": error or "NONE"})
        reply({"errorCode": "NONE", "members": answers})

    def leave(self, group, member_id, instance_id):
        if instance_id is not None and not member_id:
            known = self.static_member(group, instance_id)
            member_id = known.id if known else ""
        if instance_id is None and member_id in group.pending:
            self.expire_pending(group, member_id)
            return None
        error = self.error_of_member(group, member_id, instance_id)
        if not error:
            self.remove(group, group.members[member_id])
        return error

    # Static members

    def replace(self, group, old, member_id, request, reply):
        leader = group.leader
        if old.join_reply:
            old.join_reply({"errorCode": "FENCED_INSTANCE_ID"})
        if old.sync_reply:
            self.answer_sync(old, "FENCED_INSTANCE_ID")
        member = Member(member_id, old.instance_id)
        member.assignment, member.protocols = old.assignment, old.protocols
        group.members = {each.id: each for each in (member if one is old else one for one in group.members.values())}
        group.leader = member_id if leader == old.id else leader
        if group.state == "Stable" and member.protocols == self.protocols_of(request):
            member.session_ms, member.rebalance_ms = request["sessionTimeoutMs"], request["rebalanceTimeoutMs"]
            self.answer_join(group, member, reply, leader=leader)
        else:
            self.rejoin(group, member, request, reply)

    # Offsets

    def offset_commit(self, request, reply):
        error = self.error_of_commit(request)
        topics = []
        for topic in request["topics"]:
            partitions = []
            for each in topic["partitions"]:
                place = topic["name"], each["partitionIndex"]
                wrong = self.error_of_place(place, each["committedMetadata"])
                wrong = wrong if wrong == "UNKNOWN_TOPIC_OR_PARTITION" else error or wrong
                if not wrong:
                    offset = each["committedOffset"], each["committedMetadata"], self.broker.now_ms
                    self.groups[request["groupId"]].offsets[place] = offset
                partitions.append({"partitionIndex": each["partitionIndex"], "errorCode": wrong or "NONE"})
            topics.append({"name": topic["name"], "partitions": partitions})
        reply({"topics": topics})

    def error_of_place(self, place, metadata):
        topic = self.broker.topics.get(place[0])
        if topic is None or not 0 <= place[1] < topic.partitions:
            return "UNKNOWN_TOPIC_OR_PARTITION"
        if len(metadata) > self.settings["offset.metadata.max.bytes"]:
            return "OFFSET_METADATA_TOO_LARGE"
        return None

    def error_of_commit(self, request):
        error = self.refusal(request["groupId"])
        if error:
            return error
        group_id, generation = request["groupId"], request["generationIdOrMemberEpoch"]
        group = self.groups.get(group_id)
        if group is None:
            if generation >= 0:
                return "ILLEGAL_GENERATION"
            self.groups[group_id] = Group()
            return None
        if generation < 0 and group.is_empty:
            return None
        if group.consumers:
            return self.error_of_epoch(group, request)
        error = self.error_of_member(group, request["memberId"], request["groupInstanceId"])
        if error:
            return error
        if generation != group.generation:
            return "ILLEGAL_GENERATION"
        self.touch(group, group.members[request["memberId"]])
        if group.state == "CompletingRebalance":
            return "REBALANCE_IN_PROGRESS"
        return None

    def error_of_epoch(self, group, request):
        consumer = group.consumers.get(request["memberId"])
        if consumer is None:
            return "UNKNOWN_MEMBER_ID"
        if request["generationIdOrMemberEpoch"] != consumer.epoch:
            return "STALE_MEMBER_EPOCH"
        return None

    def offset_fetch(self, request, reply):
        if self.leader_of(request["groupId"]) != self.broker.id:
            reply({"errorCode": "NOT_COORDINATOR", "topics": []})
            return
        group = self.groups.get(request["groupId"])
        offsets = group.offsets if group else {}
        if request["topics"] is None:
            places = sorted(offsets)
        else:
            places = [(topic["name"], each) for topic in request["topics"] for each in topic["partitionIndexes"]]
        topics = {}
        for name, partition in places:
            offset, metadata, _ = offsets.get((name, partition), (-1, "", 0))
            found = {"partitionIndex": partition, "committedOffset": offset, "committedLeaderEpoch": -1}
            topics.setdefault(name, []).append({**found, "metadata": metadata, "errorCode": "NONE"})
        found = [{"name": name, "partitions": partitions} for name, partitions in topics.items()]
        reply({"errorCode": "NONE", "topics": found})

    # The end of groups and offsets

    def delete_groups(self, request, reply):
        results = []
        for group_id in request["groupsNames"]:
            error = self.refusal(group_id)
            group = self.groups.get(group_id)
            if not error and group is None:
                error = "GROUP_ID_NOT_FOUND"
            if not error and not group.is_empty:
                error = "NON_EMPTY_GROUP"
            if not error:
                del self.groups[group_id]
            results.append({"groupId": group_id, "errorCode": error or "NONE"})
        reply({"results": results})

    def sweep(self):
        kept_ms = 60_000 * self.settings["offsets.retention.minutes"]
        for group_id, group in list(self.groups.items()):
            if not group.is_empty or group.state != "Empty":
                continue
            for place, (_, _, committed_ms) in list(group.offsets.items()):
                since_ms = committed_ms if group.empty_since_ms is None else group.empty_since_ms
                if self.broker.now_ms - since_ms >= kept_ms:
                    del group.offsets[place]
            if not group.offsets and not group.pending:
                del self.groups[group_id]
        self.broker.after(self.settings["offsets.retention.check.interval.ms"], self.sweep)

    # KIP-848

    def consumer_group_heartbeat(self, request, reply):
        error = self.error_of_heartbeat(request)
        if error:
            reply({"errorCode": error})
            return
        group = self.groups.setdefault(request["groupId"], Group())
        if request["memberEpoch"] == -1:
            self.remove_consumer(group, group.consumers[request["memberId"]])
            reply({"errorCode": "NONE", "memberId": request["memberId"], "memberEpoch": -1, "heartbeatIntervalMs": 0})
            return
        member_id = request["memberId"]
        is_new = member_id not in group.consumers
        consumer = group.consumers.setdefault(member_id, Consumer(member_id))
        topics = request["subscribedTopicNames"]
        if topics is not None and topics != consumer.topics:
            consumer.topics, is_new = topics, True
        if is_new:
            group.epoch += 1
        if group.target_epoch < group.epoch:
            self.assign(group)
        before = set(consumer.assigned)
        self.reconcile(group, consumer, self.owned(request))
        self.touch_consumer(group, consumer)
        answer = {
            "errorCode": "NONE",
            "memberId": member_id,
            "memberEpoch": consumer.epoch,
            "heartbeatIntervalMs": self.settings["group.consumer.heartbeat.interval.ms"],
            "assignment": None,
        }
        if request["memberEpoch"] == 0 or consumer.assigned != before or self.is_full(request):
            answer["assignment"] = {"topicPartitions": self.by_topic(consumer.assigned)}
        reply(answer)

    def error_of_heartbeat(self, request):
        epoch, member_id = request["memberEpoch"], request["memberId"]
        if not request["groupId"] or not member_id:
            return "INVALID_REQUEST"
        if self.leader_of(request["groupId"]) != self.broker.id:
            return "NOT_COORDINATOR"
        if epoch == 0 and (
            request["rebalanceTimeoutMs"] == -1
            or request["topicPartitions"] != []
            or not request["subscribedTopicNames"]
        ):
            return "INVALID_REQUEST"
        if request["serverAssignor"] not in (None, "range", "uniform"):
            return "UNSUPPORTED_ASSIGNOR"
        group = self.groups.get(request["groupId"])
        if epoch == 0:
            return None
        if group is None:
            return "GROUP_ID_NOT_FOUND"
        consumer = group.consumers.get(member_id)
        if consumer is None:
            return "UNKNOWN_MEMBER_ID"
        if epoch == -1 or epoch == consumer.epoch:
            return None
        owned = self.owned(request)
        if epoch == consumer.previous_epoch and owned is not None and owned <= consumer.assigned:
            return None
        return "FENCED_MEMBER_EPOCH"

    def owned(self, request):
        if request["topicPartitions"] is None:
            return None
        return {(each["topicId"], one) for each in request["topicPartitions"] for one in each["partitions"]}

    def is_full(self, request):
        return (
            request["topicPartitions"] is not None
            and request["subscribedTopicNames"] is not None
            and request["rebalanceTimeoutMs"] != -1
        )

    def by_topic(self, places):
        topics = {}
        for topic_id, partition in sorted(places):
            topics.setdefault(topic_id, []).append(partition)
        return [{"topicId": topic_id, "partitions": partitions} for topic_id, partitions in topics.items()]

    def assign(self, group):
        group.target_epoch = group.epoch
        group.target = {member_id: set() for member_id in group.consumers}
        for name, topic in self.broker.topics.items():
            readers = sorted(each.id for each in group.consumers.values() if name in each.topics)
            if not readers:
                continue
            few, more = divmod(topic.partitions, len(readers))
            begin = 0
            for number, member_id in enumerate(readers):
                end = begin + few + (number < more)
                group.target[member_id] |= {(topic.id, partition) for partition in range(begin, end)}
                begin = end

    def reconcile(self, group, consumer, owned):
        if consumer.revoking and (owned is None or owned & consumer.revoking):
            return
        if (
            not consumer.revoking
            and consumer.epoch == group.target_epoch
            and consumer.assigned == group.target[consumer.id]
        ):
            return
        target = group.target[consumer.id]
        kept, revoking = consumer.assigned & target, consumer.assigned - target
        consumer.assigned = kept
        if revoking and (owned is None or owned & revoking):
            consumer.revoking = revoking
            return
        consumer.revoking = set()
        others = [each for each in group.consumers.values() if each is not consumer]
        taken = {place for each in others for place in each.assigned | each.revoking}
        consumer.assigned = kept | (target - taken)
        if consumer.epoch != group.target_epoch:
            consumer.previous_epoch, consumer.epoch = consumer.epoch, group.target_epoch

    def touch_consumer(self, group, consumer):
        session_ms = self.settings["group.consumer.session.timeout.ms"]
        consumer.deadline_ms = self.broker.now_ms + session_ms
        self.broker.after(session_ms, lambda: self.expire_consumer(group, consumer))

    def expire_consumer(self, group, consumer):
        is_late = self.broker.now_ms >= consumer.deadline_ms
        if group.consumers.get(consumer.id) is consumer and is_late:
            self.remove_consumer(group, consumer)

    def remove_consumer(self, group, consumer):
        del group.consumers[consumer.id]
        group.epoch += 1
