"""A question to the model beside the conversation: nothing of it is kept, and only the answer comes back."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from mino_core import interrupts, transport
from mino_core.errors import ProviderError
from mino_core.faults import let_go
from mino_core.types import Delta, Message, Request, Usage

from .reply import Reply, fault, settle

if TYPE_CHECKING:
    from mino_core.session import Session


def consult(session: Session, messages: Sequence[Message]) -> tuple[str, Usage | None]:
    """What the model says to these messages, and the tokens that took.

    ProviderError where the answer did not complete, KeyboardInterrupt where the user stops it.
    """
    # With the same tools as ever: servers know a conversation by its beginning, and some refuse calls
    # of tools that they are not told of.
    tools = tuple(session.host.tools().values())
    request = Request(session.model, session.config.instructions, tuple(messages), tools, session.options)
    request = session.host.request(request, session)
    reply, error = Reply(), None
    stream: Iterator[Delta] | None = None
    transport.idle = None
    try:
        with interrupts.armed():
            stream = iter(session.answerer.stream(request))
            for delta in stream:
                reply.add(delta)
                if reply.finished is not None:
                    break
    except ProviderError as failure:
        error = failure
    except Exception as failure:  # noqa: BLE001 (a provider may be a plugin's)
        error = fault(session.provider, failure)
    finally:
        let_go(stream)
    ending = settle(reply, error)
    if ending.error is not None:
        raise ending.error
    return reply.text, reply.usage
