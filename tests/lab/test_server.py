"""JupyterLab's options: this machine only, the reader's words first, and what readers and authors get."""

import json
import os
from pathlib import Path

import pytest
from jupyter_lsp.manager import LanguageServerManager

import run
from kafkalearn.lab import __main__ as lab
from kafkalearn.lab import server
from kafkalearn.lab.server import lab_options
from kafkalearn.lab.working_copies import RECORD


@pytest.mark.parametrize(
    ("environ", "platform", "opens"),
    [
        ({}, "linux", False),
        ({"DISPLAY": ":0"}, "linux", True),
        ({"WAYLAND_DISPLAY": "wayland-0"}, "linux", True),
        ({"DISPLAY": ":10", "SSH_CONNECTION": "10.0.0.1 50000 10.0.0.2 22"}, "linux", False),
        ({}, "darwin", True),
        ({}, "win32", True),
    ],
)
def test_jupyterlab_opens_a_browser_only_where_one_can_be_seen(tmp_path, environ, platform, opens):
    options = lab_options(tmp_path, [], environ, platform, is_root=False, is_author=False)

    assert ("--no-browser" not in options) == opens
    assert "--ServerApp.ip=127.0.0.1" in options
    assert not any("token" in option or "password" in option or "allow-root" in option for option in options)


@pytest.mark.parametrize("word", ["--ip=0.0.0.0", "--ServerApp.ip=0.0.0.0"])
def test_what_the_reader_says_goes_before_what_is_usual(tmp_path, word):
    options = lab_options(tmp_path, [word, "--port", "9000"], {}, "linux", is_root=True, is_author=True)

    assert [option for option in options if option.split("=")[0].endswith("ip")] == [word]
    assert options[-3:] == [word, "--port", "9000"]


def test_a_reader_begins_at_the_first_chapter_and_keeps_the_players(tmp_path):
    for name in ("01_b.ipynb", "00_a.ipynb"):
        (tmp_path / name).touch()

    reader, author = (lab_options(tmp_path, [], {}, "linux", is_root=False, is_author=each) for each in (False, True))

    assert "--LabApp.default_url=/lab/tree/00_a.ipynb" in reader
    assert not any("default_url" in option for option in author)
    settings = [next(option for option in each if "app_settings_dir" in option) for each in (reader, author)]
    assert [each.rpartition("/")[2] for each in settings] == ["reader", "author"]


@pytest.mark.parametrize("command", ["lab", "edit", "reset"])
def test_the_commands_of_the_project_are_those_of_the_package(monkeypatch, command):
    called = []
    monkeypatch.setattr(run, "hand_over", lambda *words: called.append(words))

    run.COMMANDS[command](["05"])

    assert called == [("-m", "kafkalearn.lab", *([] if command == "lab" else [command]), "05")]


def test_copies_are_made_without_starting_anything(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(lab, "copies_folder", lambda chapters: tmp_path / "mine")

    assert lab.main(["copies"]) == 0
    assert len(list((tmp_path / "mine").glob("*.ipynb"))) == len(list(lab.course().glob("*.ipynb")))
    assert str(tmp_path / "mine") in capsys.readouterr().out


def test_a_reset_without_a_chapter_says_how(capsys):
    assert lab.main(["reset"]) == 1
    assert "say which chapters: make reset ARGS=05" in capsys.readouterr().err


def test_a_reader_goes_on_where_he_wrote_last(tmp_path):
    for number, name in enumerate(("00_a.ipynb", "01_b.ipynb", "02_c.ipynb", RECORD)):
        (tmp_path / name).touch()
        os.utime(tmp_path / name, (number, number))
    first = lab_options(tmp_path, [], {}, "linux", is_root=False, is_author=False)
    os.utime(tmp_path / "01_b.ipynb", (10, 10))
    later = lab_options(tmp_path, [], {}, "linux", is_root=False, is_author=False)

    assert "--LabApp.default_url=/lab/tree/00_a.ipynb" in first
    assert "--LabApp.default_url=/lab/tree/01_b.ipynb" in later


def test_jupyterlab_finds_our_side_of_it(tmp_path):
    (option,) = [
        each
        for each in lab_options(tmp_path, [], {}, "linux", is_root=False, is_author=False)
        if "extra_labextensions_path" in each
    ]
    folder = Path(option.partition("=")[2]) / "kafkalearn-lab"
    described = json.loads((folder / "package.json").read_text(encoding="utf-8"))

    assert described["name"] == folder.name
    assert (folder / described["jupyterlab"]["_build"]["load"]).is_file()


def test_where_its_fonts_are_elsewhere_jupyterlab_looks_for_it_itself(tmp_path, monkeypatch):
    (tmp_path / "kafkalearn-lab").mkdir()
    (tmp_path / "kafkalearn-lab" / "package.json").touch()
    monkeypatch.setattr(server, "_HERE", tmp_path)
    options = lab_options(tmp_path, [], {}, "linux", is_root=False, is_author=False)

    assert not any("extra_labextensions_path" in each for each in options)


@pytest.mark.skipif(os.name == "nt", reason="there a program is found by its ending")
def test_opening_a_chapter_starts_no_language_server(tmp_path, monkeypatch):
    (program := tmp_path / "pyrefly").write_text("#!/bin/sh\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))

    def servers(options):
        named = (option.partition("=") for option in options)
        given = {name.removeprefix("--LanguageServerManager."): value == "True" for name, _, value in named}
        manager = LanguageServerManager(**given)
        manager.init_language_servers()
        return set(manager.language_servers)

    options = lab_options(tmp_path, [], {}, "linux", is_root=False, is_author=False)
    assert servers([]) == {"pyrefly"}  # JupyterLab's own way
    assert servers([each for each in options if "LanguageServer" in each]) == set()
