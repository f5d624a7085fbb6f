"""Small plugins for the tests of the host: as installed distributions, and as single files."""

import sys
from pathlib import Path
from textwrap import dedent

from mino_core.config import Config, PluginsConfig
from mino_core.plugins import Host

HEAD = "from mino_core import hookimpl\n"


class Shelf:
    """A directory on `sys.path` with distributions in it, and a MINO_HOME with files."""

    def __init__(self, tmp_path: Path, monkeypatch) -> None:
        self.site, self.home = tmp_path / "site", tmp_path / "home"
        for folder in (self.site, self.home / "plugins"):
            folder.mkdir(parents=True)
        monkeypatch.setattr(sys, "path", [*sys.path, str(self.site)])
        monkeypatch.setattr(sys, "dont_write_bytecode", True)
        self.monkeypatch = monkeypatch

    def distribution(self, name, entry_points, version="1.0", metadata=None) -> Path:
        """Only the metadata, as an installer leaves it."""
        folder = self.site / f"{name.replace('-', '_')}-{version}.dist-info"
        folder.mkdir()
        (folder / "METADATA").write_text(
            metadata or f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
        )
        for value in entry_points.values():
            self._forget(value.partition(":")[0])
        lines = [f"{key} = {value}" for key, value in entry_points.items()]
        (folder / "entry_points.txt").write_text("\n".join(["[mino]", *lines, ""]))
        return folder

    def plugin(self, name, code, distribution=None, version="1.0") -> None:
        """One installed plugin: a distribution whose module has this code."""
        distribution = distribution or f"mino-{name}"
        module = distribution.replace("-", "_") + "_" + name.replace("-", "_")
        (self.site / f"{module}.py").write_text(HEAD + dedent(code))
        self.distribution(distribution, {name: module}, version)

    def file(self, name, code) -> Path:
        """One single-file plugin in MINO_HOME."""
        path = self.home / "plugins" / f"{name}.py"
        path.write_text(HEAD + dedent(code))
        self._forget(f"mino_file_{name}")
        return path

    def _forget(self, module) -> None:
        """Take the module out again at the end of the test, if the test imports it."""
        if module not in sys.modules:
            self.monkeypatch.setitem(sys.modules, module, None)
            del sys.modules[module]

    def host(self, *, safe=False, extensions=(), settings=None, **plugins) -> Host:
        """A host over everything there is, loaded."""
        config = Config(home=self.home)
        tables = {
            name: config.settings(f"plugins.settings.{name}", table)
            for name, table in (settings or {}).items()
        }
        config = Config(home=self.home, plugins=PluginsConfig(**plugins, settings=tables))
        host = Host(config, safe=safe, extensions=extensions)
        host.load()
        return host


def row(host, name):
    """What the host knows of the plugin of that name."""
    return next(plugin for plugin in host.plugins if plugin.name == name)


def lines(host):
    """What would be shown."""
    return [str(fault) for fault in host.faults]
