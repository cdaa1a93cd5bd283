"""The frame: exit codes, streams, terminals, and answers whose form stays."""

import doctest
import errno
import io
import json
import os
import re
import shlex
import subprocess
import sys
from argparse import ArgumentParser
from pathlib import Path

import pytest

from kafkalearn import oncall as answers
from kafkalearn.oncall import doctor
from kafkalearn.oncall.answer import Answer, Outcome
from kafkalearn.oncall.command import INTERRUPTED, QUESTIONS, command_parser, completion_for, main, question_named
from tests.oncall import examples
from tests.oncall.examples import OWN, asked, json_of
from tests.recorded import expected

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("name", examples.QUESTIONS)
def test_the_json_of_an_answer_stays(name):
    said = json_of(examples.QUESTIONS[name])

    assert said == expected(f"command/{name}.json", said)


@pytest.mark.parametrize("name", examples.QUESTIONS)
def test_words_and_json_have_one_exit_code_and_no_line_is_wider_than_the_terminal(name, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    code, out, err = asked(examples.QUESTIONS[name])

    assert (code, err) == (json.loads(json_of(examples.QUESTIONS[name]))["exit code"], "")
    assert max(map(len, out.splitlines())) <= 80


def test_every_question_has_one_function_and_one_module():
    assert sorted(answers.__all__) == sorted(QUESTIONS)
    for name in QUESTIONS:
        assert callable(getattr(answers, name))


def test_a_question_stays_a_function_whatever_was_imported_before():
    code = "from kafkalearn.oncall.where import Where; from kafkalearn.oncall import where; print(where('a').outcome)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert run.stdout.strip() in ("Outcome.FINE", "0")


def test_only_the_question_that_is_asked_is_imported():
    code = (
        "import sys; from kafkalearn.oncall.command import main; main(['where', 'group', 'a']);"
        "print(*(name for name in sys.modules if name.startswith('kafkalearn.')))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    loaded = run.stdout.split()

    assert "kafkalearn.oncall.where" in loaded
    for other in ("why", "lag", "xray", "upgrade", "safe", "quorum"):
        assert f"kafkalearn.oncall.{other}" not in loaded
    for heavy in ("kafkalearn.base.search", "kafkalearn.delivery", "kafkalearn.live", "kafkalearn.views"):
        assert not any(name.startswith(heavy) for name in loaded)


@pytest.mark.parametrize(
    "words",
    [
        [], ["what"], ["where"], ["where", "group"], ["where", "keys", "a"], ["where", "group", "a", "--nonsense"],
        ["where", "key", "a"], ["where", "key", "a", "--partitions", "many"], ["where", "group", "a", "--brokers", "x"],
        ["where", "group", "a", "--file", "-", "--describe", "-"], ["where", "group", "--no-key"],
        ["where", "key", "zz", "--format", "hex", "--partitions", "3"], ["upgrade"], ["upgrade", "3.9", "4.0"],
        ["upgrade", "4.0", "3.9", "--file", "x"], ["safe"], ["safe", "--replicas", "3", "--film", "a.gif"],
        ["safe", "--replicas", "3", "--film", "/no/such/folder/a.svg"], ["safe", "--replicas", "-1"],
        ["where", "group", "a", "--bootstrap", "nobody"], ["where", "group", "a", "--bootstrap", "127.0.0.1:1"],
        ["safe", "--bootstrap", "127.0.0.1:1"], ["xray"], ["why"], ["lag"],
        ["lag", "--bootstrap", "127.0.0.1:1"], ["--completion", "fish"],
    ],
    ids=" ".join,
)  # fmt: skip
def test_bad_input_is_a_sentence_and_code_2(words):
    code, out, err = asked(words)

    assert (code, out) == (2, "")
    assert err.startswith(("kafkalearn", "usage"))
    assert "Traceback" not in err


def test_help_and_version_are_no_questions():
    assert asked(["--version"])[0] == 0
    code, out, _ = asked(["--help"])
    assert code == 0
    assert all(name in out for name in QUESTIONS)
    for name in QUESTIONS:
        code, out, _ = asked([name, "--help"])
        assert code == 0
        assert "--json" in out


class Odd(Answer):
    outcome = Outcome.FOUND

    def __str__(self):
        return "a\x1b[31m\u202eb\n\u00e9\u4e2d"

    def as_data(self):
        return {"text": str(self)}


def ask_odd(monkeypatch, answer, stream=None, words=()):
    module = question_named("where")
    monkeypatch.setattr(module, "answer", answer)
    if stream is not None:
        monkeypatch.setattr(sys, "stdout", stream)
    return main(["where", "group", "a", *words])


def test_a_name_in_a_file_moves_no_cursor(monkeypatch, capsys):
    assert ask_odd(monkeypatch, lambda options: Odd()) == 1
    assert capsys.readouterr().out == "a\\x1b[31m\\u202eb\n\u00e9\u4e2d\n"


@pytest.mark.parametrize("encoding", ["ascii", "cp1252", "cp932", "utf-8"])
@pytest.mark.parametrize("words", [(), ("--json",)])
def test_a_terminal_of_any_encoding_can_show_it(monkeypatch, encoding, words):
    bytes_written = io.BytesIO()
    stream = io.TextIOWrapper(bytes_written, encoding=encoding)

    assert ask_odd(monkeypatch, lambda options: Odd(), stream, words) == 1
    assert bytes_written.getvalue()


class Closed(io.StringIO):
    def flush(self):
        raise BrokenPipeError(errno.EPIPE, "Broken pipe")


def test_who_stops_reading_gets_the_same_exit_code(monkeypatch):
    assert ask_odd(monkeypatch, lambda options: Odd(), Closed()) == 1


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a device that is always full")
@pytest.mark.parametrize(
    ("question", "streams", "said", "code"),
    [
        ("group billing", ">/dev/full", "the answer cannot be printed: No space left on device", 2),
        ("group billing", ">&-", "there is no output to print the answer to", 2),
        ("group billing", ">&- 2>&-", "", 2),
        ("group billing", "2>&-", "group billing: partition 9", 0),
        ("nothing billing", "2>&-", "", 2),
        ("nothing billing", "2>/dev/full", "", 2),
    ],
)
def test_an_answer_that_cannot_be_printed_is_none(question, streams, said, code):
    command = f"{shlex.quote(sys.executable)} -m kafkalearn where {question} {streams}"
    ended = subprocess.run(["bash", "-c", command], capture_output=True, text=True, cwd=ROOT)

    assert ended.returncode == code
    assert said in ended.stdout + ended.stderr
    assert "Traceback" not in ended.stdout + ended.stderr


@pytest.mark.skipif(os.name == "nt", reason="a pipe of a shell")
def test_a_pipe_that_is_closed_early_is_no_error():
    command = f"{shlex.quote(sys.executable)} -m kafkalearn where group $(seq 20000) | head -1"
    run = subprocess.run(["bash", "-c", command], capture_output=True, text=True, cwd=ROOT)

    assert run.stdout.startswith("__consumer_offsets of 50 partitions")
    assert run.stderr == ""


def raising(error):
    def answer(options):
        raise error

    return answer


@pytest.mark.parametrize(
    ("error", "code", "words"),
    [
        (KeyboardInterrupt(), INTERRUPTED, "interrupted"),
        (MemoryError(), 2, "too large"),
        (RecursionError(), 2, "too large"),
        (FileNotFoundError(2, "No such file or directory", "x"), 2, "x: No such file"),
        (OSError("odd"), 2, "odd"),
    ],
)
def test_what_stops_it_is_a_sentence(monkeypatch, capsys, error, code, words):
    assert ask_odd(monkeypatch, raising(error)) == code
    said = capsys.readouterr()
    assert words in said.err
    assert "Traceback" not in said.err


def test_a_mistake_of_its_own_is_shown_and_no_answer(monkeypatch, capsys):
    assert ask_odd(monkeypatch, raising(ZeroDivisionError("oops"))) == 2
    assert "a mistake of kafkalearn's own" in capsys.readouterr().err


def test_standard_input_is_read(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"billing\r\nshipping\n")))
    code, out, _ = asked(["where", "group", "--file", "-"])

    assert code == 0
    assert "billing" in out


def test_the_film_is_written(tmp_path):
    for name, begin in (("a.html", "<!doctype html>"), ("a.svg", "<svg")):
        code, _, _ = asked(["safe", "--replicas", "1", "--film", str(tmp_path / name)])
        assert code == 1
        assert (tmp_path / name).read_text(encoding="utf-8").startswith(begin)


@pytest.mark.parametrize("shell", ["bash", "zsh", "tcsh"])
def test_completion_knows_every_question_and_option(shell):
    script = completion_for(shell, command_parser())

    assert all(name in script for name in QUESTIONS)
    assert "--describe" in script
    assert isinstance(command_parser(), ArgumentParser)


@pytest.mark.skipif(os.name == "nt", reason="bash")
def test_bash_takes_the_completion(tmp_path):
    path = tmp_path / "completion.sh"
    path.write_text(completion_for("bash", command_parser()))
    line = f"source {path}; COMP_WORDS=(kafkalearn wh); COMP_CWORD=1; _shtab_kafkalearn; echo ${{COMPREPLY[*]}}"
    run = subprocess.run(["bash", "-c", line], capture_output=True, text=True)

    assert run.stdout.split() == ["where", "why"]


PAGE = Path(__file__).parents[2] / "docs" / "command.md"
BLOCK = re.compile(r"(?<=```console\n)\$ kafkalearn (.*)\n([\s\S]*?)\n(?=```)")


@pytest.fixture(autouse=True)
def in_the_folder_of_the_files(monkeypatch):
    monkeypatch.chdir(OWN)
    monkeypatch.setenv("COLUMNS", "80")


@pytest.mark.parametrize("line", [match[1] for match in BLOCK.finditer(PAGE.read_text(encoding="utf-8"))])
def test_a_command_prints_what_the_page_says(line):
    page = PAGE.read_text(encoding="utf-8")
    said = asked(shlex.split(line))[1].rstrip("\n")
    (block,) = [match for match in BLOCK.finditer(page) if match[1] == line]
    if os.environ.get("KAFKALEARN_WRITE_GOLDEN"):
        page = f"{page[: block.start(2)]}{said}{page[block.end(2) :]}"
        PAGE.write_text(page, encoding="utf-8", newline="\n")

    assert next(match[2] for match in BLOCK.finditer(page) if match[1] == line) == said


def test_the_functions_of_the_page_answer_as_it_says():
    found = doctest.testfile(str(PAGE), module_relative=False, optionflags=doctest.NORMALIZE_WHITESPACE)

    assert found.attempted > 5
    assert found.failed == 0


def test_every_question_is_on_the_page():
    asked_for = {match[1].split()[0] for match in BLOCK.finditer(PAGE.read_text(encoding="utf-8"))}

    assert asked_for == set(QUESTIONS)


def test_the_doctor_names_every_package_and_no_home(monkeypatch, capsys):
    monkeypatch.setattr(doctor, "find_java", lambda: f"Java 21.0.8 from PATH ({Path.home() / 'jdk' / 'bin' / 'java'})")
    monkeypatch.setitem(doctor.PACKAGES, "spark", ("pyspark", "no-such-package"))

    assert main(["doctor"]) == 0

    said = capsys.readouterr().out
    assert f"({Path('~') / 'jdk' / 'bin' / 'java'})" in said
    assert f"no-such-package {doctor.NOT_INSTALLED}" in said
    assert len(said.splitlines()) == 7 + len(doctor.PACKAGES)


@pytest.mark.parametrize(
    ("words", "folder", "others"),
    [([], None, []), (["mine"], "mine", []), (["--port", "9"], None, ["--port", "9"]), (["a", "--x"], "a", ["--x"])],
)
def test_the_lab_takes_a_folder_and_passes_on_what_is_jupyterlabs(monkeypatch, words, folder, others):
    opened = []
    monkeypatch.setattr("kafkalearn.lab.__main__.open_in", lambda *given: opened.append(given) or 0)

    assert main(["lab", *words]) == 0

    assert opened == [(folder, others)]
