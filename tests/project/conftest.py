"""What several tests of the set-up begin with."""

import pytest

from tests.project import tiny_project


@pytest.fixture
def project(tmp_path):
    """A tiny project, in a folder whose name has spaces."""
    folder = tmp_path / "a folder with spaces"
    folder.mkdir()
    return tiny_project.make(folder)
