"""The status bar says which data are being made in the background, and nothing when all are made."""

import pytest
from playwright.sync_api import expect

from tests.browser.lab import running_lab, watch
from tests.browser.test_day_two import OPTIONS

pytestmark = pytest.mark.browser

EXTENSION = "--ServerApp.jpserver_extensions=tests.browser.made_beforehand=True"


def test_what_is_being_made_is_said_in_the_status_bar_until_all_is_made(browser, tmp_path):
    with running_lab(tmp_path, *OPTIONS, EXTENSION) as lab:
        watched = watch(browser)
        watched.page.goto(f"{lab.url}/lab?reset")
        said = watched.page.locator("#jp-main-statusbar .kl-preparing")
        expect(said).to_have_text("data for 07: 3 of 12")
        assert said.get_attribute("role") == "status"
        (lab.folder / "end").touch()
        expect(said).to_have_count(0)
        assert watched.errors == []
        watched.page.close()
