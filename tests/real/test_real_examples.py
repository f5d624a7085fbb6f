"""The bridge to `llm` with the real `llm`, and the example of a vendor's SDK with the real SDK."""

import json
import os
from pathlib import Path

import pytest
from mino_core.testing import home
from places import Place, run, wheels

pytestmark = pytest.mark.real

ROOT = Path(__file__).parents[2]
BRIDGE = ROOT / "examples" / "mino-llm"
#: What of the suite for providers is about text, which is all that the example is about.
SUITE = """
from importlib.util import module_from_spec, spec_from_file_location
from mino_core.testing import ProviderConformance

spec = spec_from_file_location("vendor_sdk", {path!r})
vendor_sdk = module_from_spec(spec)
spec.loader.exec_module(vendor_sdk)


class TestVendorSdk(ProviderConformance):
    dialect = "chat"
    test_reasoning_is_not_part_of_the_answer = None
    test_a_refusal_is_told_apart = None
    test_tool_calls_come_whole = None
    test_a_strict_server_takes_any_conversation = None
    test_half_letters_never_reach_the_answer = None
    test_usage_is_what_the_server_counted = None
    test_an_http_error_says_what_the_server_said = None

    def provider(self, settings):
        return vendor_sdk.VendorSdk(settings)
"""


@pytest.fixture(scope="module")
def place(wheel, tmp_path_factory):
    """An environment with mino, the bridge as a wheel, `llm`, `llm-echo` and a vendor's SDK."""
    folder = tmp_path_factory.mktemp("bridge")
    place = Place(folder / "venv")
    place.pip("install", wheel, *wheels(folder, BRIDGE), "llm-echo", "openai", "pytest", "pyte")
    return place


def tried(place, folder, where):
    """Run pytest there, in another environment than this one."""
    pytest = [place.python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-o", "pythonpath=", where]
    return run(pytest, {"PATH": os.environ["PATH"], "HOME": str(folder)}, cwd=folder)


def test_the_bridge_passes_its_own_tests(place, tmp_path):
    assert " passed" in tried(place, tmp_path, BRIDGE / "tests").stdout


def test_the_models_of_llm_answer_in_mino(place, tmp_path):
    environ = home(
        tmp_path, '[providers.parrot]\nkind = "llm"\nmodel = "echo"\noptions = {thinking = true}\n'
    )
    done = place.mino(environ, "--provider", "parrot", "--renderer", "json", "-p", "hi")
    events = [json.loads(line) for line in done.stdout.splitlines()]
    said = "".join(event["text"] for event in events if event["type"] == "text_delta")
    assert json.loads(said)["prompt"] == "hi"
    assert any(event["type"] == "reasoning_delta" for event in events)
    assert [event["outcome"] for event in events if event["type"] == "turn_ended"] == ["completed"]


def test_the_example_of_a_vendors_sdk_keeps_its_promises_with_the_real_one(place, tmp_path):
    suite = tmp_path / "test_vendor_sdk.py"
    suite.write_text(SUITE.format(path=str(ROOT / "examples" / "vendor_sdk.py")))
    assert " passed" in tried(place, tmp_path, suite).stdout
