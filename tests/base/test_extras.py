"""Without the packages of an extra the core works, and what needs them says which extra to install."""

import subprocess
import sys

import pytest

from kafkalearn.base.errors import EXTRAS, KafkaLearnError, MissingExtra, require
from kafkalearn.formats.compression import HAS_ZSTD

WITHOUT = """
import sys

for package in sys.argv[2:]:
    sys.modules[package] = None  # as if it were not installed
try:
    exec(sys.argv[1])
except ImportError as error:
    print(type(error).__name__, error, sep=": ")
"""


def printed_without(packages, statement):
    run = subprocess.run([sys.executable, "-c", WITHOUT, statement, *packages], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    return run.stdout.strip()


@pytest.mark.parametrize(
    ("missing", "statement", "sentence"),
    [
        ("pyspark", "import kafkalearn.spark", "kafkalearn.spark needs pyspark"),
        ("pyspark", "from kafkalearn.spark.session import get_spark", "kafkalearn.spark needs pyspark"),
        ("pyarrow", "import kafkalearn.spark.partitioning", "kafkalearn.spark needs pyarrow"),
        ("matplotlib", "from kafkalearn.views import figure", "kafkalearn.views.figure needs matplotlib"),
        ("matplotlib", "from kafkalearn.views import draw_counts", "kafkalearn.views.draw_counts needs matplotlib"),
        ("anywidget", "from kafkalearn.views import play", "kafkalearn.drawing.widgets needs anywidget"),
        ("ipywidgets", "import kafkalearn.drawing.widgets", "kafkalearn.drawing.widgets needs ipywidgets"),
    ],
)
def test_what_needs_an_extra_names_it_in_one_sentence(missing, statement, sentence):
    advice = f"which is not installed: pip install 'kafkalearn[{EXTRAS[missing]}]'"

    assert printed_without([missing], statement) == f"MissingExtra: {sentence}, {advice}"


@pytest.mark.skipif(HAS_ZSTD, reason="this Python undoes zstd by itself")
def test_a_batch_of_zstd_names_the_smallest_extra_that_has_pyarrow():
    statement = "from kafkalearn.formats.compression import decompress; decompress('zstd', b'')"
    advice = "which is not installed: pip install 'kafkalearn[fast]'"
    said = f"MissingExtra: a batch compressed with zstd needs pyarrow, {advice}"
    assert printed_without(["pyarrow"], statement) == said


def test_a_yaml_file_names_the_extra_that_reads_it():
    statement = "from kafkalearn.oncall.settings_formats import yaml_documents; yaml_documents('a: 1')"
    advice = "which is not installed: pip install 'kafkalearn[yaml]'"
    assert printed_without(["yaml"], statement) == f"MissingExtra: a YAML file needs yaml, {advice}"


def test_the_core_its_words_and_its_pictures_work_without_any_extra():
    statement = (
        "import kafkalearn\n"
        "from kafkalearn.views import draw_lookup, lookup_text\n"
        "from kafkalearn.coordinator import look_up\n"
        "frame = look_up('test-group', [1, 2], 2)[-1]\n"
        "print(kafkalearn.offsets_partition('test-group'), draw_lookup(frame, None).label)"
    )

    assert printed_without(EXTRAS, statement).startswith("12 ")


def test_the_error_is_one_of_ours_and_one_of_an_import(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)

    with pytest.raises(MissingExtra, match=r"^kafkalearn.x needs pandas, which is not installed: pip install 'kafka"):
        require("kafkalearn.x", "numpy", "pandas")
    assert issubclass(MissingExtra, KafkaLearnError)
    assert issubclass(MissingExtra, ImportError)
