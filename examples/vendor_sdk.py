"""A provider over a vendor's SDK that is asynchronous: `mino_providers`, through `from_async`.

The SDK here is `openai`; any other goes the same way. mino is one thread and pulls, so an async
generator is run elsewhere and handed over item by item: when mino asks for no more, because of a
Ctrl-C or of the end, the generator is cancelled and the SDK closes its connection.

    [providers.work]
    kind = "vendor-sdk"
    base_url = "https://llm.example.com/v1"
    model = "large"
    api_key = "env:WORK_API_KEY"

Text and tokens are enough for one idea: tools are not offered to the model.
"""

from mino_core import Finished, ProviderError, Text, TextDelta, Usage, hookimpl
from mino_core.transport import from_async, run_async

MINO_API = 1
REASONS = {"stop": "stop", "length": "length", "content_filter": "filter"}


class VendorSdk:
    def __init__(self, settings):
        self.base_url = settings.text("base_url", "https://api.openai.com/v1")
        self.key = settings.secret("api_key")
        self.client = None

    def connect(self):
        """Import late: an SDK takes longer to import than mino takes to start."""
        if self.client is None:
            from openai import AsyncOpenAI

            key = self.key.reveal() if self.key else "none"
            self.client = AsyncOpenAI(base_url=self.base_url, api_key=key, max_retries=0)
        return self.client

    def stream(self, request):
        yield from from_async(lambda: self.chunks(request))

    async def chunks(self, request):
        import openai

        try:
            chunks = await self.connect().chat.completions.create(
                model=request.model,
                messages=list(messages(request)),
                stream=True,
                stream_options={"include_usage": True},
                **request.options,
            )
            async with chunks:
                reason = ""
                async for chunk in chunks:
                    for choice in chunk.choices:
                        if choice.delta.content:
                            yield TextDelta(choice.delta.content)
                        reason = choice.finish_reason or reason
                    if chunk.usage:
                        yield Usage(
                            input_tokens=chunk.usage.prompt_tokens,
                            output_tokens=chunk.usage.completion_tokens,
                            total_tokens=chunk.usage.total_tokens,
                        )
                if reason:  # without one the answer broke off, and mino says so
                    yield Finished(REASONS.get(reason, "filter"), reason)
        except openai.APIStatusError as error:
            kind = "auth" if error.status_code in (401, 403) else "http"
            raise ProviderError(kind, error.message, error.status_code) from error
        except openai.APIConnectionError as error:
            raise ProviderError("connect", f"{self.base_url} cannot be reached: {error}") from error
        except openai.APIError as error:
            raise ProviderError("server", error.message) from error

    def models(self):
        async def names():
            return [model.id async for model in self.connect().models.list()]

        return run_async(names())

    def close(self):
        if self.client is not None:
            run_async(self.client.close())


def messages(request):
    """The conversation as this SDK takes it; what is no text is left out."""
    if request.instructions:
        yield {"role": "system", "content": request.instructions}
    for message in request.messages:
        text = "\n\n".join(part.text for part in message.parts if isinstance(part, Text))
        if message.role != "tool" and text.strip():
            yield {"role": message.role, "content": text}


@hookimpl
def mino_providers():
    return {"vendor-sdk": VendorSdk}
