"""How cost grows is measured for every rule on Spark; a second call goes on; what cannot be done is a line."""

import ast
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
RULES_FOLDER = ROOT / "kafkalearn" / "spark"
NO_RULES = ("session", "data", "columns")
WRITTEN_BY = "--page", "--keys --page"
MEASURED = {"seconds": 4.0, "processor_seconds": 5.0, "java_mib": 900, "python_mib": 80, "spilled_mib": 0}
TOOK = {"took": MEASURED | {"joins": ["SortMergeJoin"] * 2, "held": {"Sort": 2**20, "HashAggregate": 50 * 2**20}}}


@pytest.fixture
def growth(monkeypatch, tmp_path):
    """The benchmark, with its data in a folder of its own and processes that are not started."""
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    monkeypatch.setenv("KAFKALEARN_DATA_DIR", str(tmp_path))
    import growth  # a script; it finds the modules beside it only now

    asked = []

    def child(rule, line, minutes, environment):
        asked.append((rule.name, line.rows, line.master, line.keys))
        return {"cannot": "OutOfMemoryError"} if rule.name.startswith("compaction.compact") else TOOK

    monkeypatch.setattr(growth, "FIGURES", tmp_path / "growth.jsonl")
    monkeypatch.setattr(growth, "child", child)
    monkeypatch.setattr(growth, "asked", asked, raising=False)
    return growth


def dataframe_functions():
    """Every public function of `kafkalearn.spark` from DataFrame to DataFrame, as ``module.name``, and its words."""
    for path in sorted(RULES_FOLDER.rglob("*.py")):
        parts = path.relative_to(RULES_FOLDER).with_suffix("").parts
        for node in ast.parse(path.read_text(encoding="utf-8")).body if parts[0] not in NO_RULES else ():
            if not isinstance(node, ast.FunctionDef) or node.name.startswith("_") or not node.args.args:
                continue
            types = [node.args.args[0].annotation, node.returns]
            if all(each is not None and ast.unparse(each) == "DataFrame" for each in types):
                yield ".".join((*parts, node.name)), " ".join((ast.get_docstring(node) or "").split())


def test_every_rule_on_spark_has_a_line_or_a_reason_for_none(growth):
    measured = {word for rule in growth.RULES for word in re.findall(r"\w+", f"{rule.name} {rule.after}")}
    left_out = sys.modules["_rules"].LEFT_OUT
    functions = set(dict(dataframe_functions()))

    assert len(functions) > 50
    assert {name for name in functions if name.rpartition(".")[2] not in measured} == set(left_out)
    names = [rule.name for rule in growth.RULES + growth.KEYED]
    assert len(set(names)) == len(names)


KEEPS = re.compile(
    r"Row by row|[Nn]othing is kept whole|[Ww]hat is kept|(?:is|are) kept (?:in|whole)|keeps what|[Oo]ne (?:task|row)"
    r"|every worker"
)


def test_every_rule_says_what_it_keeps_whole():
    assert [name for name, words in dataframe_functions() if not KEEPS.search(words)] == []


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("total (min, med, max (stageId: taskId))\n4.5 MiB (1.0 MiB, 1.1 MiB, 1.3 MiB (stage 3.0: task 9))", 4_718_592),
        ("64.0 KiB", 65_536),
        ("total (min, med, max (stageId: taskId))\n0.0 B (0.0 B, 0.0 B, 0.0 B (stage 1.0: task 2))", 0),
        ("2.0 GiB", 2**31),
    ],
)
def test_what_an_operator_held_is_read_from_sparks_own_words(growth, text, size):
    from _growing import _bytes_in  # beside the benchmark, as above

    assert _bytes_in(text) == size


def test_a_second_call_goes_on_and_more_rows_are_not_tried_where_fewer_were_too_many(growth, capsys):
    words = ["--rows", "10000000", "50000000", "--rule", "compaction.compact", "lag."]
    growth.main(words)
    asked = [*growth.asked]
    growth.main(words)

    assert growth.asked == asked
    assert ("lag.lag_over_time", 50_000_000, "local[2]", 0) in asked
    assert [rows for name, rows, *_ in asked if name == "compaction.compact"] == [10_000_000]
    printed = capsys.readouterr().out
    assert "OutOfMemoryError" in printed
    assert "not tried: not even 10 million" in printed
    assert "500" in printed  # nanoseconds a row: 5 s of the processor for 10 million

    growth.main([*words, "--again", "--cluster"])
    assert growth.asked[-1][2] == "local-cluster[2,1,2048]"


def test_by_keys_each_rule_has_as_many_as_it_can_and_more_are_not_tried_where_fewer_were_too_many(growth, capsys):
    growth.main(["--keys", "--rule", "compaction.compact", "isr_changes", "results_of"])
    asked = [(name.partition(",")[0], rows, keys) for name, rows, _, keys in growth.asked]
    few, many, each = 10_000, 1_000_000, 10_000_000
    assert asked == [
        ("compaction.compact", each, few),
        *(("replication.isr_changes", each, keys) for keys in (few, many)),  # an outage takes ten rows
        *(("delivery.results_of", each, keys) for keys in (few, many, each)),
    ]
    assert "not tried: not even 10 million rows of 10,000 keys" in capsys.readouterr().out


def test_a_line_that_was_cut_off_is_measured_again(growth, tmp_path):
    growth.main(["--rule", "lag.lag_over_time"])
    path = tmp_path / "growth.jsonl"
    path.write_text(path.read_text()[:-20])
    growth.main(["--rule", "lag.lag_over_time"])

    assert len(growth.asked) == 2
    assert json.loads(path.read_text().splitlines()[-1])["said"] == TOOK


def test_the_page_has_what_is_measured_and_says_what_is_missing(growth, monkeypatch, tmp_path):
    page = tmp_path / "growth.md"
    parts = [f"<!-- written by python benchmarks/growth.py {words} -->\nold\n<!-- end -->\n" for words in WRITTEN_BY]
    page.write_text(f"before\n{'between'.join(parts)}after\n")
    monkeypatch.setattr(growth, "PAGE", page)
    growth.main(["--page", "--rule", "lag.lag_over_time"])
    growth.main(["--keys", "1000000", "40000000", "--page", "--rows", "40000000", "--rule", "count_reasons"])
    text = page.read_text()

    assert text.startswith("before\n")
    assert text.endswith("after\n")
    assert "old" not in text
    assert "| lag.lag_over_time | 10,000,000 records | here | 500 | 5.0 |" in text
    assert f"10 million rows here, {len(growth.RULES) - 1} of {len(growth.RULES)} rules: `coordinator." in text
    assert "all of them" in text
    by_keys = text.partition("between")[2]
    held = "HashAggregate 50 MiB, 52 bytes a key"  # the one that held most; 50 MiB by a million
    line = "| compaction.count_reasons, by keys | 40,000,000 | 1,000,000 keys | 2 SortMergeJoin |"
    assert f"{line} {held} | 125 | 5.0 |" in by_keys
    assert f"- 10 million rows of 10,000 keys, {len(growth.KEYED)} of {len(growth.KEYED)} rules: all" in by_keys
    assert "of 10,000,000 keys" in by_keys
    assert growth.asked[-1][1:] == (40_000_000, "local[2] 2g", 40_000_000)


def test_the_page_is_that_of_the_figures_beside_the_benchmark(monkeypatch, tmp_path):
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    import growth

    committed = growth.PAGE.read_text(encoding="utf-8")
    page = tmp_path / "growth.md"
    page.write_text(committed, encoding="utf-8")
    monkeypatch.setattr(growth, "PAGE", page)
    growth.write_page(growth.read(growth.FIGURES))
    assert page.read_text(encoding="utf-8") == committed


def test_data_that_are_not_needed_any_more_are_removed(growth, tmp_path):
    folder = tmp_path / "growth" / "orders-10000000"
    folder.mkdir(parents=True)
    growth.main(["--remove", "--rule", "compaction"])
    assert folder.exists()
    growth.main(["--remove", "--rule", "lag.lag_by_partition"])
    assert not folder.exists()


BURN = "import time\nwhile time.process_time() < 1: pass"


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="only Linux says what other processes take")
def test_the_time_of_a_process_that_has_ended_is_counted(growth):
    from _processes import Watch  # beside the benchmark, as above

    with Watch() as watch:
        subprocess.run([sys.executable, "-c", BURN], check=True)
    assert watch.processor_seconds > 0.3  # of 1 s: it was looked at before its end
    assert watch.peak.python_mib > 0


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("An error occurred while calling o95.save.\n: java.lang.OutOfMemoryError: Java heap space\n\tat x",
         "OutOfMemoryError: Java heap space"),
        ("x\n: org.apache.spark.SparkException: Job aborted\nCaused by: java.io.IOException: No space left on device",
         "IOException: No space left on device"),
        ("the rows have no column 'key'", "ValueError: the rows have no column 'key'"),
    ],
)  # fmt: skip
def test_the_reason_is_what_java_names_last(growth, text, said):
    from _reasons import reason_of  # beside the benchmark, as above

    assert reason_of(ValueError(text), 110) == said
    assert reason_of(ValueError(text), 12) == f"{said[:9]}..."
