"""Chapters are run, kept and turned into pages that need nothing from outside; a page that does is found out."""

import json
import re
import struct

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from kafkalearn.releases.claims import all_claims
from kafkalearn.releases.ledger import all_rules
from tools import chapters
from tools.book import reference
from tools.book.card import CARD, card, card_of
from tools.book.chapter import Chapter, navigation, page
from tools.book.chapter.words import meanings, with_meanings
from tools.book.front import TELLING, front_page
from tools.book.made import Made
from tools.book.pages import Page, faults
from tools.book.writing import looked_up, words_page
from tools.chapters import WIDGET_VIEW
from tools.environment import ROOT

PLAYER = {"text/html": "<b>a player</b>", "text/plain": "Player(3 frames)", WIDGET_VIEW: {"model_id": "1"}}
TEXT = """# 01 Trying & trusting

Does a [page](02_next.ipynb#More) lead to [the source](../kafkalearn/base/trace.py)?

## More
<details><summary>Notes</summary>

Folded.

</details>
"""


@pytest.fixture
def folder(tmp_path):
    return tmp_path


def written(folder, name, *cells):
    path = folder / name
    nbformat.write(new_notebook(cells=list(cells)), path)
    return path


def test_a_page_shows_the_player_in_place_of_a_widget_and_loads_nothing(folder):
    shown = new_code_cell("play()", execution_count=1, outputs=[new_output("display_data", data=PLAYER)])
    path = written(folder, "01_trying.ipynb", new_markdown_cell("# Trying"), shown)

    html = page(nbformat.read(path, as_version=4), Chapter.read(path), navigation="")

    assert "<b>a player</b>" in html
    assert Page(html).loads == []


def test_the_page_of_all_claims_is_one_of_the_book_and_leads_to_the_chapters_that_it_has():
    path = ROOT / "notebooks" / "01_coordinator.ipynb"
    notebook = new_notebook(cells=[new_markdown_cell("[all claims](../docs/claims.md)")])

    assert 'href="claims.html"' in page(notebook, Chapter(path, ""), "")
    words = dict(looked_up([Chapter.read(path)]))
    html = words_page("claims", words["claims"])
    assert html.count("<tr>") == len(all_claims()) + len({each.chapter for each in all_claims()})
    assert [link for link in Page(html).links if link[0].isdigit()] == ["01_coordinator.html"]
    assert words_page("ledger", words["ledger"]).count("<tr>") > len(all_rules())
    assert "消费者组" in words_page("glossary", words["glossary"])


def test_links_between_chapters_and_to_files_work_in_the_book_and_notes_stay_folded(folder):
    notebook, path = new_notebook(cells=[new_markdown_cell(TEXT)]), ROOT / "notebooks" / "01_trying.ipynb"

    html = page(notebook, Chapter(path, TEXT), "", Made(folder, "").copy)

    assert 'href="02_next.html#More"' in html
    assert (folder / "files" / "kafkalearn" / "base" / "trace.py").read_bytes() == (
        ROOT / "kafkalearn/base/trace.py"
    ).read_bytes()
    assert 'href="files/kafkalearn/base/trace.py"' in html
    assert html.index("<summary>Notes") < html.index("Folded.") < html.index("</details>")


GLOSSED = """# The high watermark

The high watermark is a mark, and *a broker* no `broker`.

| a lag | table |
|---|---|
| lag | lag |

Brokers know [the lag](x.md); the lag of a consumer group is a lag, and the high watermark is none. Some brokers have
none.

```
purgatory
```
"""


def test_a_word_of_the_glossary_is_explained_where_it_first_stands_in_the_text():
    first, second = new_markdown_cell(GLOSSED), new_markdown_cell("A high watermark, a lag and a purgatory.")
    notebook = with_meanings(new_notebook(cells=[first, second]))
    found = re.findall(r'<abbr class="term" title="([^"]+)">([^<]+)</abbr>', "".join(c.source for c in notebook.cells))

    assert [word for _, word in found] == ["high watermark", "lag", "consumer group", "brokers", "purgatory"]
    assert found[2][0] == meanings()["consumer group"]
    assert re.sub(r"</?abbr[^>]*>", "", notebook.cells[0].source) == first.source == GLOSSED


def test_the_index_names_each_chapter_by_its_heading_and_its_question(folder):
    one = Chapter(folder / "01_one.ipynb", "# 01 One\n\nWhich *broker*?\nAnd why?\n\nMore.")
    two = Chapter(folder / "02_two.ipynb", "No heading")

    html = front_page([one, two], [new_notebook(), new_notebook()])

    assert '<a href="01_one.html">' in html
    assert '<span class="name">01 One</span>' in html
    assert '<p class="question">Which broker? And why?</p>' in html
    assert '<a href="02_two.html">' in html
    assert '<span class="name">02_two</span>' in html
    links = navigation([one, two], 1)
    assert [link in links for link in ("01_one.html", "index.html", "02_two.html")] == [True, True, False]
    assert '<a href="playground.html#place">Look up your own group</a>' in links


def test_the_first_page_runs_a_mechanism_and_a_card_has_picture_question_and_its_minutes():
    path = ROOT / "notebooks" / "01_coordinator.ipynb"
    notebook = nbformat.read(path, as_version=4)
    html = front_page([Chapter.read(path)], [notebook])
    player, card = html[: html.index('class="cards"')], html[html.index('class="cards"') :]

    state = json.loads(player.split('<script type="application/json">')[1].split("</script>")[0])
    assert len(state["film"]["story"]) > 10
    assert {*state["film"]["forks"][0]} == {"broker 1", "broker 2", "broker 3"}
    assert '<span class="number">01</span> Which broker coordinates my group?' in card
    said = re.search(r"About\s(\d+)\sminutes", notebook.cells[0].source)[1]
    assert f'<p class="facts">{said} min ' in card
    assert "minutes" not in card
    assert card.count("<svg ") == 1
    assert "b</text>" in card
    assert card.count("01.") >= 8
    assert "Java" not in html
    assert "KAFKALEARN" not in html


def test_each_chapter_has_its_telling_frame_and_no_two_cards_look_alike():
    paths = chapters.chapter_paths()
    notebooks = [nbformat.read(path, as_version=4) for path in paths]
    html = front_page([Chapter.read(path) for path in paths], notebooks)
    cards = re.findall(
        r'<span class="picture drawn" aria-hidden="true">(.*?)</span><span class="name">', html, re.DOTALL
    )
    numbers = [path.stem.split("_")[0] for path in paths]
    drawn = {name: each for name, each in zip(numbers, cards, strict=True) if "<svg" in each}

    assert drawn.keys() == TELLING.keys()
    assert len(set(cards)) == len(cards)
    assert [name for name in numbers if name not in drawn] == ["17"]
    assert "<code>" in cards[numbers.index("17")]
    for path, notebook in zip(paths, notebooks, strict=True):
        cell, at = TELLING.get(path.stem.split("_")[0], ("", 0))
        shown = [each for each in notebook.cells if each.id == cell]
        assert len(shown) == bool(cell), path.stem
        if shown:
            html = next(each.data["text/html"] for each in shown[0].outputs if "text/html" in each.get("data", {}))
            state = json.loads(re.search(r'<script type="application/json">(.*?)</script>', html, re.DOTALL)[1])
            assert 0 <= at < len(state["_animation"]["frames"]), path.stem


def test_who_shows_a_link_to_the_book_gets_a_picture_of_ours():
    drawn = card()

    assert drawn.startswith(b"\x89PNG")
    assert struct.unpack(">II", drawn[16:24]) == (1200, 630)
    assert len(drawn) > 40_000, "it has its letters"
    tags = card_of('What is "HW"?', "Two marks.")
    assert '<meta property="og:title" content="What is &quot;HW&quot;?">' in tags
    assert re.search(rf'<meta property="og:image" content="[^"]*{CARD}">', tags)


@pytest.mark.parametrize(
    ("html", "fault"),
    [
        ('<script src="https://cdn.example/x.js"></script>', "loads https://cdn.example/x.js from outside"),
        ('<link rel="stylesheet" href="//cdn.example/x.css">', "loads //cdn.example/x.css from outside"),
        ("<style>@font-face { src: url(https://cdn.example/x.woff) }</style>", "loads https://cdn.example/x.woff"),
        ('<style>@import "http://cdn.example/x.css";</style>', "loads http://cdn.example/x.css"),
        ('<script type="module">import x from "https://cdn.example/x.mjs"</script>', "loads https://cdn.example/x.mjs"),
        ('<script>fetch("https://api.example/x")</script>', "loads https://api.example/x"),
        ('<svg><image href="http://img.example/x.png"/></svg>', "loads http://img.example/x.png"),
        ('<a href="nowhere.html">x</a>', "links to nowhere.html, which is not there"),
        ('<img src="nowhere.png">', "links to nowhere.png, which is not there"),
        ('<a href="#nothing">x</a>', "links to #nothing, but that page has no such heading"),
        ('<a href="#no.form?a=1">x</a>', "links to #no.form?a=1, but that page has no such heading"),
    ],
)
def test_a_page_that_is_not_whole_is_found_out(tmp_path, html, fault):
    (tmp_path / "a.html").write_text(html)

    (found,) = faults(tmp_path)

    assert fault in found


def test_a_page_that_is_whole_is_left_in_peace(tmp_path):
    (tmp_path / "a.html").write_text(
        '<a href="https://kafka.apache.org">out</a> <a href="b.html#there">b</a> <a href="b.html#there.form?a=1">c</a> '
        '<img src="data:image/png;base64,aa">'
        "<p>see https://kafka.apache.org</p><pre>fetch('https://in-prose.example')</pre>"
    )
    (tmp_path / "b.html").write_text('<h2 id="there">There</h2> <a href="#there">up</a>')

    assert list(faults(tmp_path)) == []


def test_a_chapter_is_run_in_place_and_comes_out_the_same_the_next_time(tmp_path, capsys):
    path = written(tmp_path, "01_one.ipynb", new_code_cell("x = 6"), new_code_cell("print(x)\nx * 7"))

    assert [chapters.run(path), chapters.run(path)] == [True, True]

    second = nbformat.read(path, as_version=4).cells[1]
    assert [second.outputs[0].text, second.outputs[1].data["text/plain"], second.execution_count] == ["6\n", "42", 2]
    assert [line.split(",")[0] for line in capsys.readouterr().out.splitlines()] == [
        "01_one.ipynb: changed",
        "01_one.ipynb: as before",
    ]


def test_a_chapter_that_fails_is_left_as_it_was(tmp_path, capsys):
    path = written(tmp_path, "01_one.ipynb", new_code_cell("1 / 0"))
    before = path.read_bytes()

    assert not chapters.run(path)
    assert path.read_bytes() == before
    assert "ZeroDivisionError" in capsys.readouterr().err


def asked(*answers):
    cells = [new_markdown_cell("Text.\n\n**Predict:** how many?", id="asks")]
    for number, answer in enumerate(answers):
        output = new_output("stream", name="stdout", text=answer)
        cells.append(new_code_cell("count()", execution_count=number + 1, outputs=[output], id=f"code{number}"))
    return [*cells, new_markdown_cell("It is forty-two.\n\n## Next\n\nMore.", id="tells")]


def test_a_page_has_its_question_before_its_closed_answer_and_shows_it_where_no_script_runs(folder):
    html = page(new_notebook(cells=asked("42")), Chapter(folder / "01_one.ipynb", "# One"), navigation="")

    assert html.index('data-asks="asks"') < html.index('<div class="kl-closed" data-after="asks">')
    assert html.index('<div class="kl-closed" data-after="asks">') < html.index("<pre>42")
    assert re.search(r'<div class="book-cell kl-closed"[^>]*data-after="asks">\s*.*?It is forty-two', html, re.DOTALL)
    assert "<noscript><style>.kl-closed { display: revert" in html


def test_what_needs_spark_says_so_before_a_click_and_a_recorded_machine_that_it_is_recorded(folder):
    spark = [new_code_cell("from pyspark.sql import functions as F"), new_code_cell("x = F.lit(1)\nx")]
    text = new_output("stream", name="stdout", text="started on this machine for it")
    told = new_code_cell("print(1)", outputs=[text], execution_count=1)
    html = page(new_notebook(cells=[*spark, told]), Chapter(folder / "01_one.ipynb", "# One"), navigation="")

    assert html.count("Recorded: this needs Spark, which a page does not have.") == 2
    assert html.index("Recorded when the book was made") < html.index("started on this machine")


def test_code_that_checks_is_folded_behind_what_it_holds(folder):
    checks = new_code_cell("assert 1 < 2", execution_count=1)
    html = page(new_notebook(cells=[checks]), Chapter(folder / "01_one.ipynb", "# One"), navigation="")

    assert '<details class="kl-folded-code"><summary>checked</summary>' in html


def test_a_page_opens_with_its_film_and_not_with_the_code_of_it(folder):
    film = new_output("display_data", data={"text/html": '<div class="kl-player kl-film" data-kl-film></div>'})
    cells = [new_code_cell(f"{name}()", outputs=[film] * (name == "film"), execution_count=1) for name in ("film", "b")]
    html = page(new_notebook(cells=cells), Chapter(folder / "01_one.ipynb", "# One"), navigation="")

    assert html.count('<details class="kl-folded-code">') == 1
    assert re.search(r"<summary>The code of this film</summary>.*?</details>.*<div[^>]* data-kl-film", html, re.DOTALL)


def test_pages_of_the_reference_share_their_style_and_mark_no_code_that_looks_as_if_it_had_no_mark():
    written = dict(reference.pages(["kafkalearn.base.hashing", "kafkalearn.coordinator"]))
    sheet = written["reference/reference.css"]

    for name in ("kafkalearn.base.hashing", "kafkalearn.coordinator"):
        html = written[f"reference/{name}.html"]
        assert "<style" not in html
        assert '<link rel="stylesheet" href="reference.css">' in html
        for kind in set(re.findall(r'<span class="(\w{1,2})">[^<]*</span>', html)):
            rule = re.search(rf"\.pdoc-code \.{kind}\{{([^}}]*)\}}", sheet)
            assert "font-" in rule[1], kind  # bold or italic: the colours are taken away by `reference.css`
    assert '<link rel="stylesheet" href="reference.css">' in written["reference/index.html"]
