"""The page about the format says what is so."""

import json
import re
from pathlib import Path

from mino_core import records
from mino_core.records import conversation as folding
from mino_core.records import messages

PAGE = (Path(__file__).parents[2] / "docs/reference/history-format.md").read_text("utf-8")


def _rows(heading):
    """The first cells of the table below a row that begins with `heading`."""
    table = PAGE.partition(f"\n{heading}")[2].partition("\n\n")[0]
    return re.findall(r"^\| `(\w+)`", table, re.MULTILINE)


def test_the_example_is_a_log_and_amounts_to_what_it_shows():
    lines = re.search(r"```jsonl\n(.*?)```", PAGE, re.DOTALL)[1].splitlines()
    conversation = records.fold(map(json.loads, lines))
    assert conversation.skipped == 0
    assert [message.text for message in conversation.messages()] == ["What is HTTP?", "A protocol."]
    assert (conversation.title, conversation.turns[0].outcome) == ("Protocols", "completed")
    ids = [json.loads(line)["id"] for line in lines]
    assert ids == sorted(ids) and all(len(each) == 26 for each in ids)


def test_every_type_of_record_is_described():
    known = re.findall(r'case "(\w+)":', Path(folding.__file__).read_text("utf-8"))
    assert known and _rows("| type | further fields | what") == known


def test_every_kind_of_part_is_described_with_the_roles_that_may_have_it():
    kinds = list(dict.fromkeys(re.findall(r'case "(\w+)":', Path(messages.__file__).read_text("utf-8"))))
    assert _rows("| type | further fields | in") == kinds
    for kind, where in re.findall(r"^\| `(\w+)` \|.*\| ((?:`\w+`(?:, )?)+|all) \|$", PAGE, re.MULTILINE):
        named = set(re.findall(r"\w+", where)) - {"all"} or {"user", "assistant", "tool"}
        assert named == {role for role, allowed in messages._ROLES.items() if kind in allowed}
