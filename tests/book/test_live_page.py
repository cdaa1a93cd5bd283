"""What makes a page alive: its policy, its data, the packages from npm, and the size of what a reader carries."""

from __future__ import annotations

import base64
import hashlib
import io
import json
import re
import tarfile
import zipfile
from dataclasses import replace

import pytest
from nbformat.v4 import new_code_cell, new_notebook

from kafkalearn.drawing.player import player_html, player_script
from tools.book.face import NOTICES
from tools.book.live import alive, page_script, policy, with_policy
from tools.book.live.packages import ACE, PYODIDE, NotFetched, Package, files
from tools.book.live.runtime import core_archive, core_files
from tools.environment import ROOT

LARGEST_BYTES = 12_000_000  # of runtime.js, which grows with the course: what is much more was not meant
PAGE = '<html><head><meta charset="utf-8"/><title>t</title></head><body>{}</body></html>'


def test_the_policy_names_each_script_of_the_page_and_no_address():
    html = PAGE.format(
        '<script>let a = 1;</script><script type="module">b</script><script type="application/json">1</script>'
    )
    hashes = re.findall(r"'sha256-([^']+)'", policy(html))

    assert hashes == [base64.b64encode(hashlib.sha256(text).digest()).decode() for text in (b"let a = 1;", b"b")]
    assert "http" not in policy(html)
    assert "unsafe-eval'" not in policy(html).replace("wasm-unsafe-eval'", "")
    assert with_policy(html).index("Content-Security-Policy") < html.index("<title>") + 200


def test_a_chapter_has_its_cells_as_data_and_the_players_script_once():
    player, looping = (
        player_html('{"frames":[[0,1]],"lines":["<svg/>"],"captions":[""],"title":""}', "<img>", 0, loop=loop)
        for loop in (None, 0)
    )
    source = "'</script>'"
    notebook = new_notebook(cells=[new_code_cell(source, id="one")])

    html = alive(PAGE.format(player + looping), "01_trying", notebook)

    (data,) = re.findall(r'id="live-cells">(.*?)</script>', html)
    assert json.loads(data) == {"page": "01_trying", "cells": [{"id": "one", "source": source}]}
    assert "mountAll();" not in html
    assert "goRoundAll();" not in html
    assert "function goRound(" in page_script()
    assert html.count('src="live/page.js"') == 1
    assert html.count("data-kl-start") == 2
    assert player_script().replace("export default { render };", "") in page_script()


def test_the_core_is_packed_without_spark_and_the_same_each_time():
    names = set(core_files())

    assert {"tools/page/cells.py", "kafkalearn/data/coordinator.json"} <= names
    assert not any("/spark/" in name or "__pycache__" in name for name in names)
    assert core_archive() == core_archive()
    with zipfile.ZipFile(io.BytesIO(core_archive())) as archive:
        assert set(archive.namelist()) == names


@pytest.fixture
def archive(tmp_path, monkeypatch):
    """npm's archive of a package that nobody has, fetched."""
    monkeypatch.setenv("KAFKALEARN_DATA_DIR", str(tmp_path))
    package = Package("kafkalearn-tried", "1.0.0", "")
    package.archive.parent.mkdir(parents=True)
    with tarfile.open(package.archive, "w:gz") as written:
        entry = tarfile.TarInfo("package/one.js")
        entry.size = 3
        written.addfile(entry, io.BytesIO(b"one"))
    digest = hashlib.sha512(package.archive.read_bytes()).digest()
    return replace(package, sha512=base64.b64encode(digest).decode())


def test_files_come_from_the_archive_that_is_there(archive):
    assert files(archive, "one.js") == {"one.js": b"one"}


def test_an_archive_that_was_changed_where_it_lies_is_none(archive):
    archive.archive.write_bytes(archive.archive.read_bytes() + b" ")

    with pytest.raises(NotFetched, match="npm does not bring"):
        files(archive, "one.js")


def test_an_archive_with_another_hash_is_refused_and_not_kept(tmp_path, monkeypatch):
    monkeypatch.setenv("KAFKALEARN_DATA_DIR", str(tmp_path))
    other = Package(ACE.name, ACE.version, PYODIDE.sha512)

    # Without a network npm has no words about hashes; either way nothing is kept that was not asked for.
    with pytest.raises(NotFetched, match=r"should have the sha512|npm does not bring"):
        files(other, "LICENSE")
    assert not other.archive.exists()


def test_what_a_reader_carries_is_small_and_names_its_licences(made_book):
    folder = made_book / "live"

    assert (folder / "runtime.js").stat().st_size <= LARGEST_BYTES
    assert (folder / NOTICES.name).read_text(encoding="utf-8") == NOTICES.read_text(encoding="utf-8")
    assert f'href="live/{NOTICES.name}"' in (made_book / "index.html").read_text(encoding="utf-8")
    for page in made_book.glob("[0-9]*.html"):
        assert page.stat().st_size + (folder / "page.js").stat().st_size <= 1_500_000
        assert "Content-Security-Policy" in page.read_text(encoding="utf-8")


def test_no_registry_is_named():
    ours = [
        path for path in (ROOT / "tools" / "book").rglob("*") if path.suffix in (".py", ".js", ".mjs", ".html", ".j2")
    ]

    assert [
        path.name for path in ours if re.search(r"registry\.|npmjs|jsdelivr|pypi\.org|unpkg", path.read_text())
    ] == []
