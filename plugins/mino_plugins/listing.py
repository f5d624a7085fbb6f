"""What was found, what became of it, what it offers, and what went wrong with it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from mino_core import PluginError, UsageError, did_you_mean, say, say_json, table

from .environment import is_there

if TYPE_CHECKING:
    from mino_core import Host, Plugin

#: Seconds from which on an import is worth a remark.
_SLOW = 0.05


def every(host: Host, *, as_json: bool) -> int:
    """List all plugins; the exit code."""
    host.survey()
    rows = [row(host, plugin) for plugin in host.plugins]
    gone = missing(host)
    if as_json:
        faults = [str(fault) for fault in host.faults]
        say_json({"plugins": rows, "missing": gone, "faults": faults})
        return 0
    lines = [(one["name"], one["state"], one["origin"], _took(one), _remarks(one)) for one in rows]
    lines += [(name, "missing", "", "", "`mino plugins sync` puts it back") for name in gone]
    say(table(lines, indent=""))
    for fault in host.faults:
        say(f"\n{fault}")
    return 0


def info(host: Host, names: Sequence[str], *, as_json: bool) -> int:
    """Everything that is known of some plugins."""
    host.survey()
    rows = [row(host, plugin) for plugin in select(host, names)]
    if as_json:
        say_json(rows)
        return 0
    for one in rows:
        say(table(list(_facts(one)), indent="") + "\n")
    return 0


def check(host: Host, names: Sequence[str], *, as_json: bool) -> int:
    """Ask plugins for all that they offer; 0 where nothing is wrong, else 2."""
    host.survey()
    host.tools()
    found: list[dict[str, str]] = []
    for plugin in select(host, names):
        wrong = [("failed", fault.text) for fault in plugin.faults]
        notes = [("note", note) for note in plugin.notes]
        if plugin.seconds > _SLOW:
            notes.append(
                ("note", f"took {plugin.seconds * 1000:.0f} ms to import; import what is heavy later")
            )
        fine = [("ok", describe(row(host, plugin)))] if plugin.state == "loaded" else []
        other = [("note", f"is {plugin.state}")] if not (wrong or fine) else []
        found += [
            {"plugin": plugin.name, "state": state, "text": text}
            for state, text in [*wrong, *notes, *([] if wrong else fine), *other]
        ]
    if as_json:
        say_json(found)
    else:
        say(table([(one["state"], one["plugin"], one["text"]) for one in found], indent=""))
    return PluginError.exit_code if any(one["state"] == "failed" for one in found) else 0


def select(host: Host, names: Sequence[str]) -> list[Plugin]:
    """The plugins of these names or distributions, or all. UsageError where there is no such one."""
    found = []
    for name in names:
        those = [plugin for plugin in host.plugins if name in (plugin.name, plugin.distribution)]
        if not those:
            known = sorted({plugin.name for plugin in host.plugins})
            meant = did_you_mean(name, known)
            raise UsageError(f"there is no plugin {name!r}; there are: {', '.join(known)}{meant}")
        found += those
    return found if names else host.plugins


def remembered(host: Host) -> dict[str, Mapping[str, Any]]:
    """What was installed with `mino plugins install`: requirement and plugins, by distribution."""
    kept = host.config.state.get("installed", {})
    return {name: one for name, one in kept.items() if isinstance(one, Mapping) and one.get("requirement")}


def missing(host: Host) -> list[str]:
    """Which of these distributions are not there any more."""
    return [name for name in remembered(host) if not is_there(name)]


def row(host: Host, plugin: Plugin) -> dict[str, Any]:
    """One plugin as data. `fault` is the last one, of this run or an earlier one."""
    return {
        "name": plugin.name,
        "state": plugin.state,
        "source": plugin.source,
        "origin": plugin.origin,
        "distribution": plugin.distribution,
        "version": plugin.version,
        "path": str(plugin.path),
        "import_ms": round(plugin.seconds * 1000, 1),
        "offers": {hook: list(names) for hook, names in plugin.offers.items()},
        "notes": plugin.notes,
        "fault": _fault(host, plugin),
    }


def describe(row: dict[str, Any]) -> str:
    """A plugin and what it offers, on one line."""
    fault = row["fault"] if row["state"] == "failed" else None
    rest = fault["text"] if fault else _offered(row)
    return f"{row['name']} is {row['state']}" + (f"; {rest}" if rest else "")


def _fault(host: Host, plugin: Plugin) -> dict[str, str] | None:
    kept = host.config.state.get("faults", {}).get(plugin.name)
    kept = kept if isinstance(kept, dict) else {}
    if plugin.faults:
        text = plugin.faults[-1].text
        return {"text": text, "time": kept.get("time", "") if kept.get("text") == text else "now"}
    return {"text": str(kept["text"]), "time": str(kept.get("time", ""))} if "text" in kept else None


def _offered(row: dict[str, Any]) -> str:
    offers: dict[str, list[str]] = row["offers"]
    return "; ".join(
        f"{hook.removeprefix('mino_')}: {', '.join(names)}" for hook, names in offers.items() if names
    )


def _took(row: dict[str, Any]) -> str:
    return f"{row['import_ms']:.0f} ms" if row["state"] == "loaded" else ""


def _remarks(row: dict[str, Any]) -> str:
    """What a plugin offers, whether it is slow, and whether it broke a promise before."""
    slow = ["slow to import"] if row["import_ms"] > _SLOW * 1000 else []
    fault = row["fault"]
    before = [f"a fault at {fault['time']}: mino plugins info {row['name']}"] if _is_past(fault) else []
    return "; ".join(filter(None, [_offered(row), *slow, *before]))


def _is_past(fault: dict[str, str] | None) -> bool:
    return fault is not None and fault["time"] not in ("", "now")


def _facts(row: dict[str, Any]) -> list[tuple[str, str]]:
    """What there is to say, each with its name."""
    found = [
        ("plugin", row["name"]),
        ("state", row["state"]),
        ("source", row["source"]),
        ("from", row["origin"]),
        ("path", row["path"]),
        ("import", f"{row['import_ms']} ms"),
        ("settings", f"[plugins.settings.{row['name']}]"),
    ]
    found += [
        (hook.removeprefix("mino_"), ", ".join(names)) for hook, names in row["offers"].items() if names
    ]
    found += [("note", note) for note in row["notes"]]
    if fault := row["fault"]:
        found.append(("fault", f"{fault['text']} ({fault['time'] or 'before'})"))
    return found
