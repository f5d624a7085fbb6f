"""What a plugin may import, resolved at first use so that `import mino_core` costs nothing.

Anything not named here, in `mino_core.transport` or in `mino_core.testing` is mino's own business.
"""

__version__ = "0.1.0"

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .errors import Busy as Busy
    from .errors import ConfigError as ConfigError
    from .errors import HistoryError as HistoryError
    from .errors import MinoError as MinoError
    from .errors import PluginError as PluginError
    from .errors import ProviderError as ProviderError
    from .errors import UsageError as UsageError
    from .errors import did_you_mean as did_you_mean
    from .hooks import Command as Command
    from .hooks import hookimpl as hookimpl
    from .interrupts import wait as wait
    from .keyboard import typed_ahead as typed_ahead
    from .plugins import Host as Host
    from .plugins.door import Plugin as Plugin
    from .printing import listed as listed
    from .printing import say as say
    from .printing import say_json as say_json
    from .printing import table as table
    from .records import Conversation as Conversation
    from .records import Turn as Turn
    from .records import fold as fold
    from .records import message_from_json as message_from_json
    from .records import message_to_json as message_to_json
    from .records import new_head as new_head
    from .records import record as record
    from .records.finding import Summary as Summary
    from .records.finding import find_conversation as find_conversation
    from .records.finding import summary as summary
    from .records.messages import is_blank as is_blank
    from .screen import Screen as Screen
    from .screen import sanitise as sanitise
    from .secret import Secret as Secret
    from .secret import mask as mask
    from .secret import names_a_secret as names_a_secret
    from .session import Session as Session
    from .settings import Settings as Settings
    from .tools import ToolContext as ToolContext
    from .types import Delta as Delta
    from .types import Event as Event
    from .types import File as File
    from .types import Finished as Finished
    from .types import Head as Head
    from .types import History as History
    from .types import Idle as Idle
    from .types import Image as Image
    from .types import Input as Input
    from .types import Log as Log
    from .types import Message as Message
    from .types import Notice as Notice
    from .types import Outcome as Outcome
    from .types import Part as Part
    from .types import Pasted as Pasted
    from .types import Provider as Provider
    from .types import Reasoning as Reasoning
    from .types import ReasoningDelta as ReasoningDelta
    from .types import Record as Record
    from .types import Refusal as Refusal
    from .types import RefusalDelta as RefusalDelta
    from .types import Renderer as Renderer
    from .types import Request as Request
    from .types import RoundStarted as RoundStarted
    from .types import SessionEnded as SessionEnded
    from .types import SessionStarted as SessionStarted
    from .types import Text as Text
    from .types import TextDelta as TextDelta
    from .types import Tool as Tool
    from .types import ToolCall as ToolCall
    from .types import ToolEnded as ToolEnded
    from .types import ToolOutput as ToolOutput
    from .types import ToolResult as ToolResult
    from .types import ToolStarted as ToolStarted
    from .types import TurnEnded as TurnEnded
    from .types import TurnStarted as TurnStarted
    from .types import Usage as Usage
    from .types import Verdict as Verdict

_HOMES = {
    "secret": ("Secret", "mask", "names_a_secret"),
    "settings": ("Settings",),
    "errors": (
        "Busy",
        "ConfigError",
        "HistoryError",
        "MinoError",
        "PluginError",
        "ProviderError",
        "UsageError",
        "did_you_mean",
    ),
    "hooks": ("Command", "hookimpl"),
    "interrupts": ("wait",),
    "keyboard": ("typed_ahead",),
    "records.messages": ("is_blank",),
    "plugins": ("Host",),
    "plugins.door": ("Plugin",),
    "printing": ("listed", "say", "say_json", "table"),
    "records": (
        "Conversation",
        "Turn",
        "fold",
        "message_from_json",
        "message_to_json",
        "new_head",
        "record",
    ),
    "records.finding": ("Summary", "find_conversation", "summary"),
    "screen": ("Screen", "sanitise"),
    "session": ("Session",),
    "tools": ("ToolContext",),
    "types": (
        "Delta",
        "Event",
        "File",
        "Finished",
        "Head",
        "History",
        "Idle",
        "Image",
        "Input",
        "Log",
        "Message",
        "Notice",
        "Outcome",
        "Part",
        "Pasted",
        "Provider",
        "Reasoning",
        "ReasoningDelta",
        "Record",
        "Refusal",
        "RefusalDelta",
        "Renderer",
        "Request",
        "RoundStarted",
        "SessionEnded",
        "SessionStarted",
        "Text",
        "TextDelta",
        "Tool",
        "ToolCall",
        "ToolEnded",
        "ToolOutput",
        "ToolResult",
        "ToolStarted",
        "TurnEnded",
        "TurnStarted",
        "Usage",
        "Verdict",
    ),
}
__all__ = sorted(name for names in _HOMES.values() for name in names)  # noqa: PLE0605 (derived, tested)

if not TYPE_CHECKING:  # a __getattr__ that mypy sees would make every name Any

    def __getattr__(name):
        for module, names in _HOMES.items():
            if name in names:
                from importlib import import_module

                value = getattr(import_module(f"mino_core.{module}"), name)
                globals()[name] = value
                return value
        raise AttributeError(f"module 'mino_core' has no attribute {name!r}")
