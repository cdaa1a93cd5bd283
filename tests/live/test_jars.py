"""Whether a jar that lies on this machine is the one that was published. No broker is started."""

import hashlib
import os

from kafkalearn.live.jars import Jar, Module, _is_whole

CONTENT = b"PK" + bytes(100)
JAR = Jar(Module("org", "name", "1.0"), len(CONTENT), hashlib.sha256(CONTENT).hexdigest())


def test_a_jar_of_the_right_size_with_other_bytes_is_fetched_again(tmp_path):
    path = tmp_path / "name-1.0.jar"
    assert not _is_whole(JAR, path)

    path.write_bytes(CONTENT)
    assert _is_whole(JAR, path)

    forged = tmp_path / "forged"
    forged.write_bytes(bytes(len(CONTENT)))
    os.replace(forged, path)
    assert not _is_whole(JAR, path)
