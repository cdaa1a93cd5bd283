import subprocess
import sys
from pathlib import Path

import pytest

from kafkalearn import views
from tests.every import every_case


@every_case("name", views.__all__)
def test_a_public_name_is_there_and_is_documented(name):
    assert getattr(views, name).__doc__


def test_no_public_name_is_that_of_a_file():
    files = {path.stem for path in Path(views.__file__).parent.glob("*.py")}

    assert files.isdisjoint(views.__all__)


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match=r"'kafkalearn.views' has no attribute 'plot'"):
        views.plot  # noqa: B018


def test_the_words_of_a_frame_need_no_widget_and_no_figure():
    code = (
        "import sys; from kafkalearn.views import lookup_text, keyless_text, draw_lookup, animation;"
        "sys.exit(bool({'ipywidgets', 'anywidget', 'matplotlib'} & set(sys.modules)))"
    )

    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
