"""The film of the whole path in both browsers: it plays, a click on a broker breaks it, and it can be undone."""

import pytest

from kafkalearn.views import whole_path
from tests.book.browsers import ChromiumPage, chromium, firefox, wait_for

pytestmark = pytest.mark.browser
CAPTION = "() => document.querySelector('.kl-caption').textContent"
BROKERS_THAT_MAY_DIE = "() => document.querySelectorAll('.kl-break:not([hidden])').length"
NOT_PLAYING = "() => document.querySelector('[data-do=play]').textContent === 'Play'"


@pytest.fixture(scope="module")
def browser():
    with chromium() as page:
        yield page.page.context.browser


def opened(browser, film, **options) -> ChromiumPage:
    shown = ChromiumPage(browser.new_context(offline=True, **options).new_page())
    shown.open(film)
    return shown


@pytest.fixture
def film(tmp_path):
    page = tmp_path / "film.html"
    page.write_text(f'<!DOCTYPE html><meta charset="utf-8"><title>Film</title>{whole_path().html()}', encoding="utf-8")
    return page.as_uri()


def plays_and_is_broken(shown):
    """It begins by itself; a click breaks it; Undo brings all of it back."""
    wait_for(shown, "() => document.querySelector('[data-do=play]').textContent === 'Pause'")
    wait_for(shown, f"() => ({CAPTION})().startsWith('ann sends A1.')")
    assert shown.run(BROKERS_THAT_MAY_DIE) == 3

    shown.run("() => { document.querySelector('.kl-break[data-broker=\"broker 1\"]').click(); }")
    assert shown.run(CAPTION).startswith("Broker 1 dies. Broker 2, which is in sync, leads orders-0.")
    wait_for(shown, f"() => ({BROKERS_THAT_MAY_DIE})() === 0")
    wait_for(shown, f"() => ({CAPTION})().startsWith('ann was told nothing, and sends A1 again')")

    shown.run("() => { [...document.querySelectorAll('button')].find((each) => each.textContent === 'Undo').click(); }")
    assert shown.run(CAPTION).startswith("ann sends A1.")
    assert shown.run(BROKERS_THAT_MAY_DIE) == 3
    assert shown.seen.errors == []


def test_it_plays_by_itself_and_a_click_on_a_broker_goes_on_with_what_follows(browser, film):
    plays_and_is_broken(opened(browser, film))


@pytest.mark.nightly
def test_it_does_so_in_firefox(film):
    with firefox() as shown:
        shown.open(film)
        plays_and_is_broken(shown)


def test_it_is_broken_and_undone_by_keys_alone_and_the_keys_stay_in_it(browser, film):
    page = opened(browser, film)
    keyboard = page.page.keyboard
    page.run("() => { document.querySelector('.kl-break').focus(); }")
    keyboard.press("Enter")
    assert page.run(CAPTION).startswith("Broker 1 dies.")
    wait_for(page, f"() => ({BROKERS_THAT_MAY_DIE})() === 0")
    assert page.run("() => document.querySelector('.kl-film').contains(document.activeElement)")
    keyboard.press("ArrowRight")
    assert not page.run(CAPTION).startswith("Broker 1 dies.")


def test_it_stands_still_where_that_is_asked_for_and_fits_a_phone(browser, film):
    page = opened(browser, film, reduced_motion="reduce", viewport={"width": 375, "height": 720})
    assert page.run(NOT_PLAYING)
    page.run("() => { document.querySelector('[data-do=forward]').click(); }")
    assert page.run("() => document.querySelectorAll('.kl-way').length") == 0
    page.run("() => { document.querySelector('.kl-break').click(); }")
    assert page.run(NOT_PLAYING)
    assert page.run("() => document.documentElement.scrollWidth") <= 375
    assert page.run("() => 16 * document.querySelector('.kl-stage text').getScreenCTM().a") >= 11  # of letters
