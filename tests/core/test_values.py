"""Values are frozen, equal by what is in them, and known to `dataclasses`."""

import copy
import dataclasses
import inspect
import pickle

import pytest
from mino_core import Finished, Message, Request, Text, TextDelta, Tool, ToolCall, Usage
from mino_core.values import made, value


def test_a_value_does_not_change():
    text = Text("a")
    with pytest.raises(dataclasses.FrozenInstanceError):
        text.text = "b"
    with pytest.raises(dataclasses.FrozenInstanceError):
        del text.text
    with pytest.raises((AttributeError, dataclasses.FrozenInstanceError)):
        text.other = 1


def test_values_are_equal_by_kind_and_content():
    assert Text("a") == Text("a")
    assert Text("a") != Text("b")
    assert Text("a") != TextDelta("a")
    assert Text("a") != "a"
    assert len({Text("a"), Text("a"), Text("b")}) == 2


def test_a_field_that_does_not_count_is_not_compared():
    one, other = (Tool("t", "d", {}, run) for run in (lambda: 1, lambda: 2))
    assert one == other


def test_a_value_shows_its_content():
    assert repr(ToolCall("1", "add", "{}")) == "ToolCall(id='1', name='add', arguments='{}')"


def test_keywords_positions_and_defaults_work_as_written():
    assert Usage(output_tokens=2) == Usage(None, None, None, 2)
    assert Finished("stop").meta == {}
    with pytest.raises(TypeError):
        Text()
    with pytest.raises(TypeError):
        Text("a", "b")
    with pytest.raises(TypeError):
        Text(wrong="a")


def test_no_two_values_share_a_default():
    assert Message("user", ()).meta is not Message("user", ()).meta


def test_a_value_can_be_matched():
    match ToolCall("1", "add", "{}"):
        case ToolCall(id, name, arguments):
            assert (id, name, arguments) == ("1", "add", "{}")


def test_dataclasses_knows_values():
    request = Request("m", "i", ())
    assert dataclasses.is_dataclass(request)
    assert dataclasses.replace(request, model="n") == Request("n", "i", ())
    assert [field.name for field in dataclasses.fields(Text)] == ["text"]
    assert dataclasses.asdict(Text("a")) == {"text": "a"}


def test_values_can_be_copied_and_pickled():
    message = Message("user", (Text("a"),), {"k": [1]})
    assert copy.deepcopy(message) == message
    assert pickle.loads(pickle.dumps(message)) == message


@value
class Box:
    """A value with a default of each kind, and a field that is not shown."""

    _unshown = ("secret",)

    name: str = "box"
    things: list[str] = made(factory=list)
    secret: str = ""


def test_a_default_that_is_made_is_made_for_each_value():
    one, other = Box(), Box()
    one.things.append("a")
    assert (one.things, other.things) == (["a"], [])
    assert Box(things=["b"]).things == ["b"]
    assert [field.name for field in dataclasses.fields(Box)] == ["name", "things", "secret"]


def test_what_is_not_to_be_shown_is_not():
    assert repr(Box(secret="hidden")) == "Box(name='box', things=[])"


def test_the_arguments_of_a_value_are_known_before_the_first_is_made():
    @value
    class Fresh:
        text: str
        size: int = 1

    assert str(inspect.signature(Fresh)) == "(text, size=1)"
    assert Fresh("a") == Fresh(text="a", size=1)
