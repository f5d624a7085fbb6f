"""mino is killed before, in the middle of and after everything it asks of the disk, and the disk fails it.

Each seed is a moment. `make torture` tries thousands of them: MINO_TORTURE says how many.
"""

import errno
import os
import random
import tomllib

import harness
import pytest
from mino_core.records import fold

SEEDS = int(os.environ.get("MINO_TORTURE", "200"))
#: How many seeds one test holds: enough to see where it fails, few enough to be counted.
BATCH = 20

#: What the user does before the run that is killed, and in it.
SCENARIOS = {
    "the first question": ((), ("-i",), ("one, look at it", "two")),
    "changes of the conversation": (
        ("one", "two"),
        ("-c", "-i"),
        ("/title Pets", "three", "/retry", "/undo", "four", "/clear", "five", "/continue"),
    ),
    "a fork": (("one", "two"), ("-c", "-i"), ("/fork", "three", "/fork", "four")),
    "a summary": (("one", "two", "three", "four"), ("-c", "-i"), ("/compact", "five")),
}


@pytest.fixture(scope="module")
def zygote():
    with harness.zygote() as opened:
        yield opened


#: What is killed how often; SQLite has tortures of its own.
MOMENTS = [("jsonl", first) for first in range(0, SEEDS, BATCH)]
MOMENTS += [("sqlite", first) for first in range(0, SEEDS // 5, BATCH)]
INSTANTS = [("jsonl", 0), ("sqlite", 0)]


@pytest.fixture(scope="module")
def scenes(request, zygote, tmp_path_factory):
    """For each scenario, a place where it may begin, and how often it touches the disk to its end."""
    found = {}
    for name, (before, flags, lines) in SCENARIOS.items():
        start = harness.Place(zygote, tmp_path_factory.mktemp("start"), request.param)
        assert not before or start.run(*before).status == 0
        place = harness.Place(zygote, tmp_path_factory.mktemp("whole"), request.param, like=start)
        run = place.run(*lines, flags=flags, plan={"sqlite": request.param == "sqlite"})
        assert run.status == 0 and run.touches, run.err
        harness.check_run(place, run)
        found[name] = start, len(run.touches)
    return found


# -- killed ------------------------------------------------------------------------------------


def kill(zygote, scenes, folder, seed, *, touching, sabotage=""):
    """One moment: a run of a scenario is killed there, and all that was said before is there."""
    chance = random.Random(seed)
    name = chance.choice(list(SCENARIOS))
    _, flags, lines = SCENARIOS[name]
    start, touches = scenes[name]
    place = harness.Place(zygote, folder, start.backend, like=start)
    if sabotage:
        (place.home / "plugins" / "sabotage.py").write_text(sabotage)
    if touching:
        how = chance.choice(["before", "torn", "after"])
        plan = {"at": chance.randrange(touches), "how": how, "sqlite": start.backend == "sqlite"}
        run = place.run(*lines, flags=flags, plan=plan)
        assert run.status == -9 or sabotage, (name, plan, run)
    else:
        run = place.run(*lines, flags=flags, kill_after=chance.uniform(0.01, 0.1))
        assert run.status in (0, -9), run
    harness.check_run(place, run)
    harness.check_going_on(place)


@pytest.mark.parametrize(("scenes", "first"), MOMENTS, indirect=["scenes"])
def test_a_kill_at_any_touch_of_the_disk_loses_nothing_that_was_said(zygote, scenes, tmp_path, first):
    for seed in range(first, first + BATCH):
        kill(zygote, scenes, tmp_path / str(seed), seed, touching=True)


@pytest.mark.parametrize(("scenes", "first"), INSTANTS, indirect=["scenes"])
def test_a_kill_at_any_instant_loses_nothing_that_was_said(zygote, scenes, tmp_path, first):
    for seed in range(first, first + max(BATCH // 2, SEEDS // 10)):
        kill(zygote, scenes, tmp_path / str(seed), seed, touching=False)


#: Ways in which mino could lose something, as a plugin that brings them about.
SABOTAGE = {
    "torn lines are left": """
from mino_history.file import FileLog
FileLog._mend = lambda self: setattr(self, "_is_whole", True)
""",
    "partial answers are not kept": """
from mino_core.session.journal import Journal
Journal.partial = lambda self, turn, parts: None
""",
    "questions are kept late": """
from mino_core.session.journal import Journal
said, late = Journal.said, []
def lazy(self, turn, message, **fields):
    if message.role == "user":
        late.append((turn, message))
        self._conversation.add({"type": "said", "turn": turn, "message": {"role": "user", "parts": [
            {"type": "text", "text": message.text}]}})
    else:
        said(self, turn, message, **fields)
Journal.said = lazy
""",
}


@pytest.mark.damages
@pytest.mark.parametrize("scenes", ["jsonl"], indirect=True)
@pytest.mark.parametrize("sabotage", SABOTAGE)
def test_a_mino_that_loses_something_is_found_out(zygote, scenes, tmp_path, sabotage):
    with pytest.raises(AssertionError, match=r"is not kept|is no record"):
        for seed in range(60):
            kill(zygote, scenes, tmp_path / str(seed), seed, touching=True, sabotage=SABOTAGE[sabotage])


def test_what_mino_remembers_is_whole_after_a_kill_at_any_touch(zygote, tmp_path):
    """state.toml is written beside and renamed: it is the old one or the new one."""
    act = ["plugins", "disable", "answering"]
    whole = harness.Place(zygote, tmp_path / "whole").run(flags=act)
    assert whole.status == 0 and "replace" in whole.touches, whole.err
    for at in range(len(whole.touches)):
        for how in ("before", "torn", "after"):
            place = harness.Place(zygote, tmp_path / f"{at}-{how}")
            file = place.home / "state.toml"
            file.write_text('[plugins]\ndisabled = ["other"]\n')
            assert place.run(flags=act, plan={"at": at, "how": how}).status == -9
            assert tomllib.loads(file.read_text()) in (
                {"plugins": {"disabled": ["other"]}},
                {"plugins": {"disabled": ["other", "answering"]}},
            )
            assert place.run(flags=act).status == 0
            assert "answering" in tomllib.loads(file.read_text())["plugins"]["disabled"]


# -- a disk that fails -------------------------------------------------------------------------

#: How often three questions touch the disk, and at how many of these moments each fault begins.
_TOUCHES, FAILURES = 45, min(45, max(2, SEEDS // 100))
FAULTS = {
    "full": (errno.ENOSPC, ["write"]),
    "forbidden": (errno.EACCES, ["open", "mkdir"]),
    "read-only": (errno.EROFS, ["open", "mkdir", "write"]),
    "broken": (errno.EIO, ["write", "fdatasync", "fsync", "ftruncate"]),
    "no sync": (errno.EIO, ["fdatasync", "fsync"]),
    "too large": (errno.EFBIG, ["write"]),
    "no files left": (errno.EMFILE, ["open"]),
    "quota": (errno.EDQUOT, ["write", "mkdir", "open"]),
}


SILENCE = """
from mino_core.session.journal import Journal
init = Journal.__init__
def silent(self, history, head, tell, **more):
    init(self, history, head, lambda text: None, **more)
Journal.__init__ = silent
"""


def test_a_mino_that_does_not_tell_is_found_out(zygote, tmp_path):
    place = harness.Place(zygote, tmp_path)
    (place.home / "plugins" / "sabotage.py").write_text(SILENCE)
    run = place.run("one, look at it", "two", "three", fsize=400)
    with pytest.raises(AssertionError):
        check_told(place, run)


def check_told(place, run):
    """All was answered; what is not kept was told, and nothing else was."""
    assert run.status == 0, run.err
    assert run.questions == ["one, look at it", "two", "three"], run
    for question in run.questions:
        assert f"3 on {question.replace('one, look at it', 'the result')}; " in run.out
    said = harness.check_files(place)
    lost = [text for request in run.requests for _, text in request if text and text not in said]
    if lost:
        assert "Warning: this conversation is not kept: " in run.err, (lost, run.err)
        reason = run.err.partition("is not kept: ")[2].splitlines()[0]
        assert str(place.home) in reason and "cannot be written" in reason, reason
    for kept in place.files():
        kept.read_bytes().decode("utf-8")
    return lost


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("times", [1, 3, -1], ids=["once", "for a while", "for good"])
def test_what_a_failing_disk_does_not_keep_is_told_and_the_answers_come(zygote, tmp_path, fault, times):
    number, calls = FAULTS[fault]
    for at in random.Random(f"{fault}{times}").sample(range(_TOUCHES), FAILURES):
        place = harness.Place(zygote, tmp_path / str(at))
        plan = {"at": at, "fail": number, "calls": calls, "times": times}
        run = place.run("one, look at it", "two", "three", plan=plan)
        lost = check_told(place, run)
        if times > 0:
            assert not lost, (plan, lost, run.err)
            # what is written last may still fail when mino leaves: that is the end of a turn, no message
            assert run.err.count("not kept") - run.err.count("kept again") in (0, 1), run.err
        place.sent = [question for question in place.sent if question not in lost]
        harness.check_going_on(place)


@pytest.mark.parametrize("room", [0, 100, 400, 1500, 4000])
def test_a_limit_on_the_size_of_files_is_told(zygote, tmp_path, room):
    place = harness.Place(zygote, tmp_path)
    run = place.run("one, look at it", "two", "three", fsize=room)
    lost = check_told(place, run)
    assert "File too large" in run.err and (lost or room == 4000)
    place.sent = [question for question in place.sent if question not in lost]
    harness.check_going_on(place)


def test_a_disk_that_has_room_again_has_everything(zygote, tmp_path):
    place = harness.Place(zygote, tmp_path)
    run = place.run(
        "one, look at it",
        "two",
        "three",
        plan={"at": 8, "fail": errno.ENOSPC, "calls": ["write"], "times": 6},
    )
    assert not check_told(place, run)
    assert run.err.count("this conversation is not kept: ") == 1
    assert run.err.count("this conversation is kept again") == 1
    (records,) = place.logs()
    sent = fold(records).messages()
    assert [message.text for message in sent if message.role == "user"] == ["one, look at it", "two", "three"]
