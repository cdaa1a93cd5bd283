"""Code that travels runs where kafkalearn is not installed: only the core is there, as the zip that goes along."""

import base64
import subprocess
import sys

from pyspark import cloudpickle

from kafkalearn.offsets import parse_segment
from kafkalearn.spark.offsets.rest import decode_columns, decode_row
from kafkalearn.spark.offsets.segments import read_partition
from kafkalearn.spark.session.worker_code import core_zip
from tests.segments.disk import FOLDER

ELSEWHERE = """
import base64, pickle, sys

class NotHere:
    def find_spec(self, name, path=None, target=None):
        if name == "kafkalearn.spark":
            raise ModuleNotFoundError(name)

sys.path.insert(0, sys.argv[1])
sys.meta_path.insert(0, NotHere())
import kafkalearn
assert kafkalearn.__file__.startswith(sys.argv[1]), kafkalearn.__file__
function = pickle.loads(base64.b64decode(sys.stdin.readline()))
print(repr(function(*eval(sys.stdin.readline()))))
"""


def elsewhere(function, *arguments):
    """What a function gives in a Python that has the zip and not kafkalearn."""
    sent = f"{base64.b64encode(cloudpickle.dumps(function)).decode()}\n{arguments!r}\n"
    done = subprocess.run(
        [sys.executable, "-c", ELSEWHERE, str(core_zip())], input=sent, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_records_are_decoded_and_bad_ones_explained():
    keys = [bytes.fromhex("0002000a746573742d67726f7570"), b"\x00\x18", None]
    names = ["group_id", "error"]

    assert elsewhere(decode_columns, names, keys, [None] * 3) == repr(decode_columns(names, keys, [None] * 3))
    assert decode_row(keys[0], None)["group_id"] == "test-group"


def test_segment_files_are_read():
    path = FOLDER / "disk/__consumer_offsets-9/00000000000000000000.log"
    file = {"topic": "t", "partition": 9, "base": "0", "content": path.read_bytes()[:-10]}

    columns = read_partition([file], True)
    assert elsewhere(read_partition, [file], True) == repr(columns)
    assert len(columns[0]) == 1 + sum(len(batch.records) for batch in parse_segment(file["content"]).batches)
