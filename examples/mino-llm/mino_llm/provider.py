"""A request goes to a model of `llm`; its events come back as deltas. `llm` is imported when it is needed."""

import json

from mino_core import Finished, ProviderError, ReasoningDelta, TextDelta, ToolCall, Usage

from .conversation import turn

#: What servers call their ends, by the names that plugins of `llm` pass on.
REASONS = {
    "stop": "stop",
    "end_turn": "stop",
    "stop_sequence": "stop",
    "completed": "stop",
    "tool_calls": "tool_calls",
    "tool_use": "tool_calls",
    "function_call": "tool_calls",
    "length": "length",
    "max_tokens": "length",
    "max_output_tokens": "length",
    "content_filter": "filter",
    "safety": "filter",
    "refusal": "refusal",
    "pause_turn": "pause",
}
NOT_TOLD = "llm does not tell how this answer ended"


class Llm:
    """`api_key` goes before the key that `llm` keeps; without a model, the default of `llm` answers."""

    note = "llm does not always tell whether an answer was cut short"

    def __init__(self, settings):
        self.key = settings.secret("api_key")

    @property
    def model(self):
        import llm

        return llm.get_default_model()

    def models(self):
        import llm

        return [each.model.model_id for each in llm.get_models_with_aliases()]

    def stream(self, request):
        began = False
        try:
            response = self.ask(request)
            for event in response.stream_events():
                if event.type == "text" and event.chunk:
                    began = True
                    yield TextDelta(event.chunk)
                elif event.type == "reasoning" and event.chunk:
                    began = True
                    yield ReasoningDelta(event.chunk)
            yield from ending(response, request.model)
        except ProviderError:
            raise
        except Exception as error:  # whatever a vendor's SDK raises
            raise failure(error, began) from error

    def ask(self, request):
        """What `llm` calls a response: nothing has been sent yet."""
        import llm

        try:
            model = llm.get_model(request.model)
        except llm.UnknownModelError:
            raise ProviderError(
                "config", f"llm has no model {request.model!r}; `mino models llm` lists them"
            ) from None
        asked = turn(request, model)
        tools = [
            llm.Tool(name=tool.name, description=tool.description, input_schema=dict(tool.parameters))
            for tool in request.tools
        ]
        return asked.conversation.prompt(
            asked.prompt,
            attachments=asked.attachments,
            system=request.instructions or None,
            messages=asked.history,
            tools=tools if model.supports_tools else None,
            tool_results=asked.results,
            stream=model.can_stream,
            key=self.key.reveal() if self.key else None,
            options=dict(request.options),
        )


def ending(response, model):
    """What is known once the last event has come: calls, tokens, and how it ended."""
    messages = response.messages()
    calls = response.tool_calls()
    for n, call in enumerate(calls):
        yield ToolCall(call.tool_call_id or f"call_{n}", call.name, json.dumps(call.arguments))
    used = response.usage()
    if used.input is not None or used.output is not None:
        details = used.details or {}
        total = None if used.input is None or used.output is None else used.input + used.output
        yield Usage(
            input_tokens=used.input,
            cache_read_tokens=count(details, "cached_tokens", "cache_read_input_tokens"),
            output_tokens=used.output,
            reasoning_tokens=count(details, "reasoning_tokens"),
            total_tokens=total,
        )
    raw = reason(response.json())
    meant = REASONS.get(raw.lower(), "stop" if not raw else "filter")
    if calls and meant == "stop":
        meant = "tool_calls"
    echo = [message.to_dict() for message in messages] if any(map(has_metadata, messages)) else []
    meta = {"llm": {"model": model, "messages": echo}} if echo else {}
    yield Finished(meant, raw, "" if raw else NOT_TOLD, meta)


def reason(told):
    """The server's own word for the end, where a plugin left it behind; else nothing."""
    if not isinstance(told, dict):
        return ""
    for key in ("finish_reason", "stop_reason", "finishReason"):
        if isinstance(told.get(key), str):
            return told[key]
    if isinstance(told.get("incomplete_details"), dict):
        return str(told["incomplete_details"].get("reason") or "")
    if told.get("object") == "response" and isinstance(told.get("status"), str):
        return told["status"]
    for key in ("choices", "candidates"):
        if isinstance(told.get(key), list) and told[key]:
            return reason(told[key][-1])
    return ""


def count(details, *names):
    """A number of tokens, wherever in the details it stands."""
    for key, value in details.items():
        if key in names and isinstance(value, int):
            return value
        if isinstance(value, dict) and (found := count(value, *names)) is not None:
            return found
    return None


def has_metadata(message):
    """Whether something has to go back as it came: a signature, encrypted thoughts."""
    return message.provider_metadata or any(part.provider_metadata for part in message.parts)


def failure(error, began):
    """What a model raised, in mino's words: `stream` is an answer that broke off."""
    import llm
    from pydantic import ValidationError

    said = str(error) or type(error).__name__
    if isinstance(error, llm.NeedsKeyException):
        return ProviderError("auth", f"{said}; or set api_key")
    if isinstance(error, ValidationError):
        wrong = "; ".join(f"{'.'.join(map(str, one['loc']))}: {one['msg']}" for one in error.errors())
        return ProviderError("config", f"options: {wrong}")
    if isinstance(error, ValueError) and "does not support" in said:
        return ProviderError("config", said)
    status = getattr(error, "status_code", None)
    status = status if isinstance(status, int) else None
    if began:
        return ProviderError("stream", f"{type(error).__name__}: {said}", 200)
    return ProviderError("auth" if status in (401, 403) else "http" if status else "server", said, status)
