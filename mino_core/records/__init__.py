"""Records: what is kept of a conversation, and what that amounts to.

A record is a JSON object with `id`, `time` and `type`; a conversation is a fold over a log of them.
"""

from __future__ import annotations

from .conversation import Conversation as Conversation
from .conversation import Send as Send
from .conversation import Turn as Turn
from .conversation import fold as fold
from .making import FORMAT as FORMAT
from .making import new_head as new_head
from .making import new_id as new_id
from .making import record as record
from .messages import message_from_json as message_from_json
from .messages import message_to_json as message_to_json
