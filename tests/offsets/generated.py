"""Generated records of the offsets topic, of every type and version, from the layouts themselves."""

from base64 import urlsafe_b64encode

from hypothesis import strategies as st

from kafkalearn.offsets.records.record_types import RECORD_TYPES
from kafkalearn.wire.fields import BYTES, STRING, UUID, Array, Structure

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
