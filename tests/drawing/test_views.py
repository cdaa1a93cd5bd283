"""`kafkalearn.views`: every public name is there, documented, and loaded only when it is used."""

import subprocess
import sys

import pytest

from kafkalearn import views
from tests.every import every_case


@every_case("name", views.__all__)
def test_a_public_name_is_there_and_is_documented(name):
    assert getattr(views, name).__doc__


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match=r"'kafkalearn.views' has no attribute 'plot'"):
        views.plot  # noqa: B018


def test_the_words_of_a_frame_need_no_widget_and_no_figure():
    code = (
        "import sys; from kafkalearn.views import describe_lookup, describe_keyless, draw_lookup, animation;"
        "sys.exit(bool({'ipywidgets', 'anywidget', 'matplotlib'} & set(sys.modules)))"
    )

    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
