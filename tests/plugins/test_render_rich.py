"""The renderer `rich`: Markdown on a terminal."""

from __future__ import annotations

from mino_core.testing import RendererConformance

from mino_render import mino_renderers


class TestRichKeepsEveryPromise(RendererConformance):
    def renderer(self, settings, screen):
        return mino_renderers()["rich"](settings, screen)
