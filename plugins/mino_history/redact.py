"""Masking what looks like a key, for texts that leave this computer."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from mino_core import Message, Reasoning, Refusal, Text, ToolCall, ToolResult, mask, names_a_secret

if TYPE_CHECKING:
    from mino_core import Part

MASK = "***"
#: A shorter value is a word that may stand in any text.
_LEAST = 8
#: How keys look that say themselves what they are.
_KEYS = re.compile(
    r"""
      \b(?:sk|pk|rk)[-_](?:[a-z]{2,8}[-_]){0,3}[A-Za-z0-9_-]{16,}   # OpenAI, Anthropic, DeepSeek, Stripe, ...
    | \b(?:AKIA|ASIA)[0-9A-Z]{16}\b                                  # AWS
    | \bAIza[\w-]{30,}                                               # Google
    | \bya29\.[\w-]{20,}
    | \b(?:gh[pousr]|github_pat)_\w{20,}                             # GitHub
    | \bgl(?:pat|ptt|dt|rt|soat)-[\w-]{20,}                          # GitLab
    | \bxox[a-z]-[\w-]{10,} | \bxapp-[\w-]{10,}                      # Slack
    | \b(?:hooks\.slack\.com/services|discord(?:app)?\.com/api/webhooks)/[\w/-]{20,}
    | \b(?:hf|gsk|npm|r8|xai|pplx|fw|whsec|esecret|figd|lin_api|dop_v1|shp(?:at|ss|ca|pa))[-_][A-Za-z0-9]{20,}
    | \b(?:nvapi|tvly|hv[sb]|glsa|sntrys|dckr_pat|dp\.(?:pt|st|ct))[-_.][A-Za-z0-9_-]{20,}
    | \bdapi[0-9a-f]{32}\b | \bSK[0-9a-f]{32}\b                      # Databricks, Twilio
    | \bSG\.[\w-]{16,}\.[\w-]{16,}                                   # SendGrid
    | \b[0-9]{8,10}:AA[\w-]{30,}                                     # Telegram
    | \b[0-9a-f]{32}\.[A-Za-z0-9]{16}\b                              # Zhipu
    | \bAGE-SECRET-KEY-1[0-9A-Z]{20,}
    | \bpypi-[\w-]{40,}
    | \beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*                              # a JSON web token
    | -----BEGIN[ ][A-Z ]*PRIVATE[ ]KEY(?:[ ]BLOCK)?-----[\s\S]*?
      (?:-----END[ ][A-Z ]*PRIVATE[ ]KEY(?:[ ]BLOCK)?-----|\Z)
    """,
    re.VERBOSE | re.ASCII,
)
_NAMES = (
    r"(?:\b\w*(?i:api[_-]?key|access[_-]?key|private[_-]?key|account[_-]?key|secret|token|pwd|passphrase"
    r"|passw(?:or)?d)\b|密钥|密码|口令|令牌)"
)
#: What stands behind words that announce a key: `Authorization: Bearer …`, `api_key = "…"`, `://user:…@`.
#: In the text of another JSON value the quotes have backslashes.
_ANNOUNCED = re.compile(
    rf"""
      (?P<sent>(?i:\bauthorization)\\*["']?\s*[:=]\s*\\*["']?(?:[A-Za-z]+\s+)?)[^\s"'\\,;]{{6,}}
    | (?P<bearer>\bBearer\s+)[\w.~+/=-]{{8,}}
    | (?P<cookie>(?i:\b(?:set-)?cookie)\\*["']?\s*:\s*\\*["']?[\w.-]{{1,60}}=)[^\s"'\\;]{{8,}}
    | (?P<quoted>{_NAMES}\\*["']?\s*[:=：]\s*\\*["'])[^"'\\\n]{{6,}}
    | (?P<set>{_NAMES}\\*["']?\s*[:=：]\s*)[^\s"'\\,;&。]{{6,}}
    | (?P<query>[?&](?:key|sig|signature|auth)=)[^\s"'\\&\#]{{8,}}
    | (?P<url>\b[a-z][a-z0-9+.-]{{1,20}}://[^\s/:@]{{0,80}}:)[^\s/@]{{1,200}}(?=@)
    | (?P<user>\s(?:-u|--user)\s+["']?[\w.@-]{{1,60}}:)[^\s"']{{4,}}
    """,
    re.VERBOSE | re.ASCII,
)


def redact(text: str) -> str:
    """The text with known secrets masked, and with what has the shape of a key."""
    text = mask(text)
    for value in _in_variables():
        text = text.replace(value, MASK)
    text = _KEYS.sub(MASK, text)
    return _ANNOUNCED.sub(lambda found: (found[found.lastgroup or 0]) + MASK, text)


def _in_variables() -> list[str]:
    """What stands in variables whose names announce a key."""
    return [value for name, value in os.environ.items() if len(value) >= _LEAST and names_a_secret(name)]


def redacted(message: Message) -> Message:
    """The message with its texts redacted, and without the files in it, which nobody can look into."""
    return Message(message.role, tuple(_parts(message)))


def _parts(message: Message) -> Iterator[Part]:
    for part in message.parts:
        match part:
            case Text(text) | Reasoning(text) | Refusal(text):
                yield type(part)(redact(text))
            case ToolCall(id, name, arguments):
                yield ToolCall(id, name, redact(arguments))
            case ToolResult(call_id, content, is_error):
                yield ToolResult(call_id, redact(content), is_error)
            case _ if message.role != "tool":
                yield Text(f"[{part.name or part.media_type} left out]")
