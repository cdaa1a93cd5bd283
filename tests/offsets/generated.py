"""Generated records of the offsets topic, of every type and version, from the layouts themselves."""

from base64 import urlsafe_b64encode

from hypothesis import strategies as st

from kafkalearn.formats.wire import BYTES, STRING, UUID, Array, Structure
from kafkalearn.offsets import encode_key, encode_value
from kafkalearn.offsets.protocol import Assignment, Subscription, encode_assignment, encode_subscription
from kafkalearn.offsets.records import RECORD_TYPES

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=6) | st.just("m" * 130)
blobs = st.binary(max_size=6) | st.just(b"\x00" * 130)
uuids = st.binary(min_size=16, max_size=16).map(lambda raw: urlsafe_b64encode(raw).decode().rstrip("="))


def numbers(kind):
    bits = int(kind.lstrip("uint"))
    low, high = (0, 2**bits - 1) if kind.startswith("u") else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
    return st.integers(low, high)


def values_of(kind, version, is_nullable=False):
    if isinstance(kind, Array):
        plain = st.lists(values_of(kind.of, version), max_size=2)
    elif isinstance(kind, Structure):
        plain = fields_of(kind, version)
    else:
        others = {STRING: texts, BYTES: blobs, UUID: uuids}
        plain = others[kind] if kind in others else numbers(kind)
    return st.none() | plain if is_nullable else plain


def fields_of(structure, version):
    """Dictionaries of a structure's fields; a tagged field is absent or has a value of its own."""
    plain = {each.name: values_of(each.kind, version, each.is_nullable) for each in structure.plain(version)}
    tagged = {each.name: not_the_default(each, version) for each in structure.tagged(version)}
    return st.fixed_dictionaries(plain, optional=tagged)


def not_the_default(field, version):
    return values_of(field.kind, version, field.is_nullable).filter(lambda value: value != field.default)


@st.composite
def records(draw):
    """Record type, value version, key fields, value fields."""
    kind = draw(st.sampled_from(list(RECORD_TYPES.values())))
    version = draw(st.integers(0, kind.value.newest))
    return kind, version, draw(fields_of(kind.key.body, 0)), draw(fields_of(kind.value.body, version))


topic_names = st.sampled_from(["orders", "clicks", "grüße", ""])
partitions = st.lists(st.tuples(topic_names, st.integers(0, 2**31 - 1)), max_size=5)


@st.composite
def protocol_blobs(draw):
    """The bytes of a subscription or an assignment in any version; some damaged, cut short or with bytes behind."""
    version = draw(st.integers(0, 3))
    if draw(st.booleans()):
        fields = draw(st.lists(topic_names, max_size=3)), draw(partitions), draw(st.integers(-1, 9))
        rack, data = draw(st.none() | st.just("rack-1")), draw(st.none() | blobs)
        blob = encode_subscription(Subscription(*fields, rack=rack, user_data=data, version=version))
    else:
        blob = encode_assignment(Assignment(draw(partitions), draw(st.none() | blobs), version))
    what = draw(st.integers(0, 9))
    if what == 0:
        return blob[: draw(st.integers(0, len(blob)))]
    if what == 1:
        at = draw(st.integers(0, len(blob) - 1))
        return blob[:at] + draw(st.binary(min_size=1, max_size=1)) + blob[at + 1 :]
    return blob + draw(blobs) if what == 2 else blob


@st.composite
def group_values(draw):
    """Version and fields of a classic group's value; the members have written subscriptions and assignments."""
    layout = RECORD_TYPES[2].value
    version = draw(st.integers(0, layout.newest))
    values = draw(fields_of(layout.body, version))
    written = protocol_blobs() | blobs
    members = [each | {"subscription": draw(written), "assignment": draw(written)} for each in values["members"]]
    kind = draw(st.sampled_from(["consumer", "consumer", "consumer", "connect"]))
    return version, values | {"members": members, "protocolType": kind}


@st.composite
def _offset_records(draw):
    number, version = draw(st.integers(0, 1)), draw(st.integers(0, 4))
    at = {
        "group": draw(st.sampled_from("gh")),
        "topic": draw(st.sampled_from("ab")),
        "partition": draw(st.integers(0, 1)),
    }
    key = encode_key(number, at)
    if draw(st.integers(0, 3)) == 0:
        return key, None
    fields = {"offset": draw(st.integers(0, 99)), "metadata": draw(texts), "commitTimestamp": draw(st.integers(0, 9))}
    if version == 1:
        fields["expireTimestamp"] = draw(st.sampled_from([-1, 5]))
    if version >= 3:
        fields["leaderEpoch"] = draw(st.sampled_from([-1, 0, 7]))
    if version == 4 and draw(st.booleans()):
        fields["topicId"] = draw(uuids)
    value = encode_value(number, version, fields)
    return key, value[: draw(st.integers(0, len(value) - 1))] if draw(st.integers(0, 9)) == 0 else value


offset_records = _offset_records()
"""Keys and values of commits of both types and all versions for few partitions; tombstones; some are cut short."""
