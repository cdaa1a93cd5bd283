"""A pytest plugin: a test that is skipped has failed. Where all must run, conftest.py puts it to work."""

import pytest

SWITCH = "KAFKALEARN_REQUIRE_ALL"  # set by .ci/run


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_makereport():
    """A test's report, a skip turned into a failure."""
    return _refuse_skip((yield))


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_make_collect_report():
    """A file's report: pytest.skip and importorskip at the top of a module skip all of it."""
    return _refuse_skip((yield))


def _refuse_skip(report):
    if report.skipped and not hasattr(report, "wasxfail"):  # an expected failure has run
        reason = report.longrepr[-1] if isinstance(report.longrepr, tuple) else report.longrepr
        report.outcome = "failed"
        report.longrepr = f"{reason}\nWith {SWITCH} set nothing may be skipped."
    return report
