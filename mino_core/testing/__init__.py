"""What plugin authors test with: fakes, a scripted server, a terminal, and suites to subclass.

Needs the test extra: `pip install 'mino-shell[test]'`. pytest finds the fixtures `mino_home`,
`mino_server`, `mino_session` and `mino_terminal` by itself.
"""

from .canvas import Canvas
from .conformance_command import CommandConformance
from .conformance_history import HistoryConformance
from .conformance_input import InputConformance
from .conformance_provider import ProviderConformance
from .conformance_renderer import RendererConformance
from .conformance_tool import ToolConformance, call
from .connection import Received
from .home import Completed, home, mino, run
from .oracle import oracle
from .recorder import Recorder
from .scripted import Scripted
from .server import Server
from .sessions import session
from .steps import CUT, HANG, RESET, Reply, Step
from .streams import chat, error_body, error_event, messages, responses, split, sse, stream
from .strict import counting, problems
from .terminal import Terminal

__all__ = [
    "CUT",
    "HANG",
    "RESET",
    "Canvas",
    "CommandConformance",
    "Completed",
    "HistoryConformance",
    "InputConformance",
    "ProviderConformance",
    "Received",
    "Recorder",
    "RendererConformance",
    "Reply",
    "Scripted",
    "Server",
    "Step",
    "Terminal",
    "ToolConformance",
    "call",
    "chat",
    "counting",
    "error_body",
    "error_event",
    "home",
    "messages",
    "mino",
    "oracle",
    "problems",
    "responses",
    "run",
    "session",
    "split",
    "sse",
    "stream",
]
