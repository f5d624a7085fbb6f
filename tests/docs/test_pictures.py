"""The pictures of the README show what a terminal shows."""

import re
from xml.etree import ElementTree

import pictures
import pytest


def letters(path):
    """All letters of a picture; how long something took is left out."""
    texts = ElementTree.parse(path).getroot().iter("{http://www.w3.org/2000/svg}text")
    return [re.sub(r"\d+\.\d+ s", "… s", text.text) for text in texts]


@pytest.fixture(scope="module")
def drawn(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pictures")
    pictures.draw(folder)
    return folder


@pytest.mark.parametrize("name", ["dark.svg", "light.svg"])
def test_a_picture_shows_what_a_run_shows(drawn, name):
    assert letters(pictures.FOLDER / name) == letters(drawn / name), "run: python tests/docs/pictures.py"
