// Five stages of "Build your own coordinator" in JavaScript, over the wire: node stages.mjs PORT
//
// FindCoordinator, whose group is it, an id first, alone, and waiting for others. Nothing but Node is needed.

import { createServer } from "node:net";
import { randomUUID } from "node:crypto";

const PARTITIONS = 50, BROKERS = [1, 2, 3], ME = 1, DELAY_MS = 1000, SESSION_MS = [1000, 1800000];
const ERRORS = {
  NONE: 0, NOT_COORDINATOR: 16, INCONSISTENT_GROUP_PROTOCOL: 23, INVALID_GROUP_ID: 24, UNKNOWN_MEMBER_ID: 25,
  INVALID_SESSION_TIMEOUT: 26, MEMBER_ID_REQUIRED: 79,
};

// The plain encoding: numbers with the high byte first, lengths in front.

class Reader {
  constructor(data) { this.data = data; this.at = 0; }
  take(size) { this.at += size; return this.data.subarray(this.at - size, this.at); }
  int8() { return this.take(1).readInt8(); }
  int16() { return this.take(2).readInt16BE(); }
  int32() { return this.take(4).readInt32BE(); }
  int64() { return this.take(8).readBigInt64BE(); }
  string() { const length = this.int16(); return length < 0 ? null : this.take(length).toString(); }
  bytes() { return this.take(this.int32()); }
  array(read) { const count = this.int32(); return count < 0 ? null : Array.from({ length: count }, () => read(this)); }
}

const int16 = (value) => { const data = Buffer.alloc(2); data.writeInt16BE(value); return data; };
const int32 = (value) => { const data = Buffer.alloc(4); data.writeInt32BE(value); return data; };
const string = (value) =>
  value === null ? int16(-1) : Buffer.concat([int16(Buffer.byteLength(value)), Buffer.from(value)]);
const bytes = (value) => Buffer.concat([int32(value.length), value]);
const array = (values, write) => Buffer.concat([int32(values.length), ...values.map(write)]);
const error = (name) => int16(ERRORS[name]);

// Which broker: Java's hash over UTF-16 units, in 32 bits; Kafka's abs makes 0 of the smallest number.

function leaderOf(group) {
  let hash = 0;
  for (let at = 0; at < group.length; at++) hash = (Math.imul(31, hash) + group.charCodeAt(at)) | 0;
  const positive = hash === -2147483648 ? 0 : Math.abs(hash);
  return BROKERS[positive % PARTITIONS % BROKERS.length];
}

function refusal(group) {
  if (group === "") return "INVALID_GROUP_ID";
  return leaderOf(group) === ME ? null : "NOT_COORDINATOR";
}

// Groups: members by id, in the order in which they came, and the ids that were given and not used.

const groups = new Map();

function joinGroup(request, reply) {
  const answer = (name, memberId = "") =>
    reply(int32(0), error(name), int32(-1), string(""), string(""), string(memberId), int32(0));
  const refused = refusal(request.groupId);
  if (refused) return answer(refused);
  const [shortest, longest] = SESSION_MS;
  const sessionMs = request.sessionTimeoutMs;
  if (sessionMs < shortest || sessionMs > longest) return answer("INVALID_SESSION_TIMEOUT");
  if (request.memberId && !groups.has(request.groupId)) return answer("UNKNOWN_MEMBER_ID");
  if (!groups.has(request.groupId)) {
    groups.set(request.groupId, { members: new Map(), pending: new Set(), generation: 0 });
  }
  const group = groups.get(request.groupId);
  if (!request.protocolType || request.protocols.length === 0) return answer("INCONSISTENT_GROUP_PROTOCOL");
  if (!request.memberId) {
    const memberId = `member-${randomUUID()}`;
    group.pending.add(memberId);
    return answer("MEMBER_ID_REQUIRED", memberId);
  }
  if (!group.pending.delete(request.memberId)) return answer("UNKNOWN_MEMBER_ID");
  group.members.set(request.memberId, { ...request, reply });
  if (group.members.size > 1) group.isNew = true;
  else setTimeout(endOfDelay, DELAY_MS, group, Math.max(0, request.rebalanceTimeoutMs - DELAY_MS));
}

function endOfDelay(group, leftMs) {
  if (group.isNew && leftMs > 0) {
    group.isNew = false;
    setTimeout(endOfDelay, Math.min(DELAY_MS, leftMs), group, Math.max(0, leftMs - DELAY_MS));
    return;
  }
  group.generation += 1;
  const [leader] = group.members.keys();
  const all = [...group.members.values()];
  const protocol = all[0].protocols[0].name;
  for (const member of all) {
    const told = member.memberId === leader ? all : [];
    member.reply(
      int32(0), error("NONE"), int32(group.generation), string(protocol), string(leader), string(member.memberId),
      array(told, (each) => Buffer.concat([string(each.memberId), string(null), bytes(each.protocols[0].metadata)])),
    );
  }
}

// Every request by its number: how it is read, and how it is answered.

const ofMember = (reader) => ({ groupId: reader.string(), generationId: reader.int32(), memberId: reader.string() });
const KINDS = {
  10: (reader, reply) => {
    const node = leaderOf(reader.string());
    reply(int32(0), error("NONE"), string(null), int32(node), string("localhost"), int32(PORT));
  },
  11: (reader, reply) => joinGroup({
    groupId: reader.string(), sessionTimeoutMs: reader.int32(), rebalanceTimeoutMs: reader.int32(),
    memberId: reader.string(), groupInstanceId: reader.string(), protocolType: reader.string(),
    protocols: reader.array(() => ({ name: reader.string(), metadata: reader.bytes() })),
  }, reply),
  12: (reader, reply) => reply(int32(0), error(refusal(ofMember(reader).groupId) ?? "UNKNOWN_MEMBER_ID")),
  14: (reader, reply) => {
    reply(int32(0), error(refusal(ofMember(reader).groupId) ?? "UNKNOWN_MEMBER_ID"), bytes(Buffer.alloc(0)));
  },
  8: (reader, reply) => {
    const { groupId } = ofMember(reader);
    reader.string();
    const topics = reader.array(() => ({ name: reader.string(), partitions: reader.array(() => {
      const index = reader.int32();
      reader.int64(), reader.int32(), reader.string();
      return index;
    }) }));
    const told = error(refusal(groupId) ?? "UNKNOWN_MEMBER_ID");
    reply(int32(0), array(topics, (topic) => Buffer.concat([
      string(topic.name), array(topic.partitions, (index) => Buffer.concat([int32(index), told])),
    ])));
  },
  9: (reader, reply) => reply(int32(0), int32(0), error(refusal(reader.string()) ?? "NONE")),
};

// The framing: a length in front of every message; a request begins with its kind, version, number, and client's name.

function serve(socket) {
  let come = Buffer.alloc(0);
  socket.on("error", () => {});
  socket.on("data", (data) => {
    come = Buffer.concat([come, data]);
    while (come.length >= 4 && come.length >= 4 + come.readInt32BE()) {
      const size = come.readInt32BE(), reader = new Reader(come.subarray(4, 4 + size));
      come = come.subarray(4 + size);
      const kind = reader.int16();
      reader.int16();
      const number = reader.int32();
      reader.string();
      KINDS[kind](reader, (...parts) => {
        const answer = Buffer.concat([int32(number), ...parts]);
        socket.write(Buffer.concat([int32(answer.length), answer]));
      });
    }
  });
}

const PORT = Number(process.argv[2] ?? 9092);
createServer(serve).listen(PORT, "127.0.0.1");
