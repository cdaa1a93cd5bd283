"""The figures of runs, for the documentation and the ledger."""

from __future__ import annotations

import json

import pytest

from conformance import command as conform
from conformance.running import Progress, entry_of, rows_of
from conformance.vectors import Vector
from kafkalearn.base.tables import markdown_table
from kafkalearn.releases import ledger as live
from kafkalearn.releases.ledger import ConformCheck, conform_checks
from tools import checked_live
from tools.pages import part_of

ENTRY = entry_of(Progress("list offsets", "4.3.1", 7, 3, 75, 900, 90.0), ["the offset for a time"], "2026-11-22")


def test_a_run_is_an_entry_and_the_newest_patch_of_a_line_takes_the_place_of_an_older_one():
    assert (ENTRY["seed"], ENTRY["minutes"], ENTRY["cases"], ENTRY["requests"]) == (7, 1.5, 75, 900)
    recorded = checked_live.with_conform({"rules": {"lag": {}}}, "list offsets", "4.3.0", ENTRY)
    recorded = checked_live.with_conform(recorded, "list offsets", "4.0.2", ENTRY)
    recorded = checked_live.with_conform(recorded, "list offsets", "4.3.1", ENTRY)
    assert list(recorded["conform"]["list offsets"]) == ["4.0.2", "4.3.1"]
    assert json.loads(checked_live.text_of(recorded)) == recorded
    kept = checked_live.with_release(recorded, "4.3.1", "2026-11-22", {"lag": {"a"}})
    assert kept["conform"] == recorded["conform"]  # the other writer leaves it alone


def test_the_table_counts_what_became_of_the_differences_of_each_release_line():
    asked = {"has_segments": False, "batches": [[5]], "asked": [["latest", "read_uncommitted"]]}
    right = Vector("list offsets", "4.3.0", "", 1, asked, [["NONE", 1, -1]], [])
    still = Vector("list offsets", "4.3.1", "", 1, {**asked, "batches": []}, [["NONE", 1, -1]], [])
    (older, newer) = rows_of({"list offsets": {"4.0.2": ENTRY, "4.3.1": ENTRY}}, [right, still])[::-1]
    assert (newer["release"], newer["found"], newer["put right"], newer["open"]) == ("4.3.1", 2, 1, 1)
    assert (older["release"], older["found"]) == ("4.0.2", 0)


def test_the_ledger_shows_what_conform_has_asked(monkeypatch, tmp_path):
    path = tmp_path / "checked_live.json"
    path.write_text(json.dumps({"rules": {}, "conform": {"list offsets": {"4.3.1": ENTRY}}}))
    monkeypatch.setattr(live, "FILE", path)
    live._file.cache_clear()
    live._recorded.cache_clear()
    try:
        (check,) = conform_checks("the offset for a time")
        assert check == ConformCheck("4.3.1", "2026-11-22", 7, "list offsets", 1.5, 75)
        assert live.live_text("the offset for a time") == "4.3.1 on 2026-11-22, seed 7, 75 random cases"
    finally:
        live._file.cache_clear()
        live._recorded.cache_clear()


def test_the_page_has_the_figures_of_the_ledgers_file():
    recorded = json.loads(checked_live.RECORDED.read_text(encoding="utf-8"))
    table = markdown_table(rows_of(recorded.get("conform", {}), conform.vectors_in(conform.VECTORS)))
    assert part_of(conform.PAGE, "python3 run.py conform") == table


def test_what_can_be_asked_is_listed_and_an_unknown_name_is_refused(capsys):
    assert conform.main(["--list"]) == conform.AGREES
    assert "list offsets" in capsys.readouterr().out
    with pytest.raises(SystemExit, match="did you mean 'list offsets'"):
        conform.main(["--mechanism", "list ofsets"])
