"""Code that is sent runs where kafkalearn is not installed: only the core is there, as the zip that goes along."""

import base64
import subprocess
import sys

import pyarrow as pa
from pyspark import cloudpickle

from kafkalearn.formats.segments import parse_segment
from kafkalearn.spark.offsets.decode import decode_columns, decode_row
from kafkalearn.spark.offsets.segments import Reading, join
from kafkalearn.spark.partitioning import hashing
from kafkalearn.spark.session.worker_code import core_zip, for_workers
from tests.formats.disk import FOLDER

ELSEWHERE = """
import base64, pickle, sys

class NotHere:
    def find_spec(self, name, path=None, target=None):
        if name == "kafkalearn.spark" or name == "kafkalearn" and not sys.argv[1:]:
            raise ModuleNotFoundError(name)

sys.path[:0] = sys.argv[1:]
sys.meta_path.insert(0, NotHere())
if sys.argv[1:]:
    import kafkalearn
    assert kafkalearn.__file__.startswith(sys.argv[1]), kafkalearn.__file__
function, arguments = pickle.loads(base64.b64decode(sys.stdin.readline()))
given = function(*arguments)
print(list(given) if hasattr(given, "__next__") else given)
"""


class Session:
    """What `for_workers` asks of a session: it remembers what was sent."""

    def __init__(self):
        self.sent = []

    def addArtifact(self, path, pyfile):  # noqa: N802  (Spark's name)
        assert pyfile
        self.sent.append(path)


def elsewhere(function, *arguments, needs_core=True):
    """What a function gives in a Python that has what was sent, and not kafkalearn."""
    session = Session()
    code = cloudpickle.dumps((for_workers(session, function, needs_core), arguments))
    assert session.sent == [str(core_zip())] * needs_core
    done = subprocess.run(
        [sys.executable, "-c", ELSEWHERE, *session.sent],
        input=base64.b64encode(code).decode() + "\n",
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_records_are_decoded_and_bad_ones_explained():
    records = [(key, None) for key in (bytes.fromhex("0002000a746573742d67726f7570"), b"\x00\x18", None)]
    names = ["group_id", "error"]

    assert elsewhere(decode_columns, names, records) == str(decode_columns(names, records))
    assert decode_row(*records[0])["group_id"] == "test-group"


def test_segment_files_are_cut_into_pieces_and_read(tmp_path):
    path = tmp_path / "00000000000000000000.log"
    path.write_bytes((FOLDER / "disk/__consumer_offsets-9/00000000000000000000.log").read_bytes()[:-10])
    file = {"path": str(path), "log_dir": ".", "topic": "t", "partition": 9, "base_offset": 0, "end_offset": 1 << 40}
    files = pa.RecordBatch.from_pylist([file | {"is_last": True}])
    reading = Reading(has_checksum=True, skip_damaged=False, batch_limit_bytes=1 << 20, piece_bytes=1000)
    indexed = list(reading.index([files]))
    table = join(pa.Table.from_batches(indexed))

    records = list(reading.records(table.to_batches()))

    assert elsewhere(reading.index, [files]) == str(indexed)
    assert elsewhere(join, pa.Table.from_batches(indexed)) == str(table).strip()
    assert elsewhere(reading.records, table.to_batches()) == str(records)
    batches = parse_segment(path.read_bytes()).batches
    assert sum(each.num_rows for each in records) == 1 + sum(len(batch.records) for batch in batches)


def test_what_needs_nothing_of_the_core_goes_without_it():
    keys = pa.array([b"21", None])

    assert elsewhere(hashing("murmur2"), keys, needs_core=False) == str(hashing("murmur2")(keys))
