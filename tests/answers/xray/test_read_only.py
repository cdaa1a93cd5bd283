"""Nothing is written: not in folders that may not be written, and not beside files that a broker is writing."""

import hashlib
import shutil
import threading

import pytest

from kafkalearn.oncall import xray
from tests.answers.xray.folders import NOW_MS, one
from tests.segments.disk import FOLDER


def tree(folder):
    """Every path below a folder with its mode, size, time and content."""
    found = {}
    for path in sorted(folder.rglob("*")):
        stat = path.stat()
        content = hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""
        found[str(path.relative_to(folder))] = stat.st_mode, stat.st_size, stat.st_mtime_ns, content
    return found


@pytest.mark.parametrize("options", [{}, {"headers_only": True}, {"is_fast": False}])
def test_a_folder_that_may_not_be_written_stays_as_it_was(options, tmp_path):
    shutil.copytree(FOLDER, tmp_path / "disk")
    paths = [tmp_path / "disk", *(tmp_path / "disk").rglob("*")]
    for path in paths:
        path.chmod(0o555 if path.is_dir() else 0o444)
    before = tree(tmp_path / "disk")
    try:
        found = xray(tmp_path / "disk", **options)
        assert len(found.logs) > 20
        assert tree(tmp_path / "disk") == before
    finally:
        for path in paths:
            path.chmod(0o755 if path.is_dir() else 0o644)


def test_a_file_that_grows_meanwhile_is_no_fault(tmp_path):
    place = tmp_path / "orders-0"
    place.mkdir()
    path = place / f"{0:020}.log"
    path.write_bytes(b"".join(one(at) for at in range(50)))
    stop = threading.Event()

    def write():
        offset = 50
        with path.open("ab") as file:
            while not stop.is_set() and offset < 20_000:
                file.write(one(offset))
                file.flush()
                offset += 1

    writer = threading.Thread(target=write)
    writer.start()
    try:
        counts = [xray(tmp_path, now_ms=NOW_MS + 10**9).logs[0].census for _ in range(8)]
    finally:
        stop.set()
        writer.join()
    assert [each.record_count for each in counts] == sorted(each.record_count for each in counts)
    assert all(each.files[0].unread == () or each.files[0].file.is_last for each in counts)
    assert counts[0].record_count >= 50
