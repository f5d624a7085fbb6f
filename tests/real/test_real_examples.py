"""The bridge to `llm` with the real `llm`, and the example of a vendor's SDK with the real SDK."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import pip
from mino_core.testing import home

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
    subprocess.run([sys.executable, "-m", "venv", str(folder / "venv")], check=True)
    python = folder / "venv" / "bin" / "python"
    pip("wheel", "--no-deps", "--wheel-dir", str(folder), str(BRIDGE))
    (bridge,) = folder.glob("mino_llm-*.whl")
    pip("install", str(wheel), str(bridge), "llm-echo", "openai", "pytest", "pyte", python=python)
    return python


def tried(python, folder, where):
    """Run pytest there, in another environment than this one."""
    return subprocess.run(
        [str(python), "-m", "pytest", "-q", "-p", "no:cacheprovider", "-o", "pythonpath=", str(where)],
        cwd=folder,
        env={"PATH": os.environ["PATH"], "HOME": str(folder)},
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_bridge_passes_its_own_tests(place, tmp_path):
    done = tried(place, tmp_path, BRIDGE / "tests")
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_models_of_llm_answer_in_mino(place, tmp_path):
    environ = home(
        tmp_path, '[providers.parrot]\nkind = "llm"\nmodel = "echo"\noptions = {thinking = true}\n'
    )
    mino = [str(place.with_name("mino")), "--provider", "parrot", "--renderer", "json", "-p", "hi"]
    done = subprocess.run(mino, env=environ, stdin=subprocess.DEVNULL, capture_output=True, check=False)
    assert done.returncode == 0, done
    events = [json.loads(line) for line in done.stdout.splitlines()]
    said = "".join(event["text"] for event in events if event["type"] == "text_delta")
    assert json.loads(said)["prompt"] == "hi"
    assert any(event["type"] == "reasoning_delta" for event in events)
    assert events[-1]["outcome" if "outcome" in events[-1] else "type"] in ("completed", "session_ended")


def test_the_example_of_a_vendors_sdk_keeps_its_promises_with_the_real_one(place, tmp_path):
    suite = tmp_path / "test_vendor_sdk.py"
    suite.write_text(SUITE.format(path=str(ROOT / "examples" / "vendor_sdk.py")))
    done = tried(place, tmp_path, suite)
    assert done.returncode == 0, done.stdout + done.stderr
