"""The bundled runtime with the script in front of it takes what Spark's launcher asks for."""

import subprocess

import pytest

from tests.project.launcher_java import make_java_home

WORDS = ["--add-modules=jdk.incubator.vector", "-Dspark.a=two words", "--version"]


@pytest.fixture(scope="module")
def java(launcher_java_home):
    return launcher_java_home / "bin" / "java"


def test_the_module_that_is_not_there_is_left_out_and_all_else_passed_on(java):
    done = subprocess.run([java, *WORDS], capture_output=True, text=True)

    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("openjdk 21.")


def test_without_the_script_the_bundled_runtime_refuses(java):
    bundled = (java.parent.parent / "lib").resolve().parent / "bin" / "java"

    done = subprocess.run([bundled, *WORDS], capture_output=True, text=True)

    assert done.returncode != 0
    assert "jdk.incubator.vector not found" in done.stdout + done.stderr


def test_a_home_is_made_once_in_a_folder_of_its_own(tmp_path):
    assert make_java_home(tmp_path) == tmp_path
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bin", "conf", "lib", "release"]
