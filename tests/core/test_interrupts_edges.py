"""A Ctrl-C in the instant in which a block ends does not leave its level behind."""

import signal
import sys

import pytest
from mino_core import interrupts


@pytest.mark.parametrize("block", [interrupts.armed, interrupts.held, interrupts.sealed])
def test_a_ctrl_c_just_as_a_block_ends_leaves_no_level_behind(block):
    leaving = type(interrupts.armed()).__exit__.__code__

    def press(frame, event, argument):
        if frame.f_code is leaving:
            sys.settrace(None)
            signal.getsignal(signal.SIGINT)(signal.SIGINT, frame)

    traced = sys.gettrace()
    with interrupts.installed():
        sys.settrace(press)
        try:
            with block():
                pass
        finally:
            sys.settrace(traced)
        before = interrupts._level
        with pytest.raises(KeyboardInterrupt), interrupts.armed():
            pytest.fail("the signal did not wait for the next armed place")
        assert interrupts._level == before == interrupts._HELD
