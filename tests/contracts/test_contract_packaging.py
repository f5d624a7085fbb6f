"""What is installed is what is declared, and the pieces may only know what stands below them."""

import ast
import inspect
import subprocess
import sys
import tomllib
from importlib.metadata import distribution
from pathlib import Path

import mino_core
import mino_core.transport
import pytest
from grimp import build_graph

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
FOLDERS = sorted(path for path in (ROOT / "plugins").iterdir() if path.is_dir() and path.name[0] not in "._")
FILES = sorted([*(ROOT / "mino_core").rglob("*.py"), *(ROOT / "plugins").rglob("*.py")])
#: More than this and a file holds two ideas.
LONGEST = 320
#: A suite is one catalogue of promises, which its subclasser reads from top to bottom.
LONGEST_SUITE = 450


def name(path):
    return str(path.relative_to(ROOT))


def test_installed_entry_points_are_those_declared():
    installed = {
        point.name: point.value for point in distribution("mino-shell").entry_points if point.group == "mino"
    }
    assert installed == PROJECT["project"]["entry-points"]["mino"], "run: pip install -e ."


def test_every_plugin_folder_is_shipped_and_declared():
    wheel = PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]
    assert sorted(wheel) == ["mino_core", *(name(folder) for folder in FOLDERS)]
    declared = PROJECT["project"]["entry-points"]["mino"]
    assert {f"mino_{key}": value for key, value in declared.items()} == {
        folder.name: folder.name for folder in FOLDERS
    }


@pytest.mark.parametrize("folder", [ROOT / "mino_core", *FOLDERS], ids=name)
def test_every_package_ships_its_types(folder):
    assert (folder / "py.typed").is_file()


def test_every_tool_checks_every_package():
    packages = {"mino_core", *(folder.name for folder in FOLDERS)}
    assert set(PROJECT["tool"]["mypy"]["packages"]) == packages
    assert set(PROJECT["tool"]["importlinter"]["root_packages"]) == packages


def test_import_contracts_hold():
    linter = Path(sys.executable).with_name("lint-imports")
    done = subprocess.run([linter, "--no-cache"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def contract(words):
    """The import-linter contract whose name has these words."""
    (found,) = [one for one in PROJECT["tool"]["importlinter"]["contracts"] if words in one["name"]]
    return found


def test_every_module_of_the_core_has_its_layer_and_only_the_public_ones_are_open():
    modules = {
        f"mino_core.{path.stem}" for path in (ROOT / "mino_core").iterdir() if path.suffix == ".py"
    } - {"mino_core.__init__", "mino_core.__main__"}
    layers = {
        module.strip()
        for layer in contract("layered")["layers"]
        for module in layer.replace(":", "|").split("|")
    }
    assert modules - layers == set(), "not in the layers of pyproject.toml"
    assert modules - set(contract("public surface")["protected_modules"]) == set(), "not protected"


def test_what_a_layer_takes_from_above_is_types_alone():
    graph = build_graph("mino_core", exclude_type_checking_imports=True, cache_dir=None)
    names, *types = contract("layered")["ignore_imports"]
    assert names == "mino_core -> mino_core.**" and types
    for arrow in types:
        importer, imported = arrow.split(" -> ")
        assert not graph.direct_import_exists(importer=importer, imported=imported), arrow
    assert not graph.find_modules_directly_imported_by("mino_core")


# -- the public surface ------------------------------------------------------------------------


def typed_names(package):
    """The names under `if TYPE_CHECKING:` in a package's `__init__.py`, with their modules."""
    tree = ast.parse(Path(package.__file__).read_text("utf-8"))
    return {
        alias.asname: node.module
        for block in tree.body
        if isinstance(block, ast.If) and isinstance(block.test, ast.Name)
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }


each_package = pytest.mark.parametrize("package", [mino_core, mino_core.transport])


@each_package
def test_the_public_names_are_sorted_and_those_that_type_checkers_see(package):
    assert list(package.__all__) == sorted(set(package.__all__))
    assert set(package.__all__) == {*typed_names(package), *(["idle"] if package is not mino_core else [])}


@each_package
def test_every_public_name_is_there_and_stands_where_type_checkers_look_for_it(package):
    from importlib import import_module

    for public, module in typed_names(package).items():
        assert getattr(package, public) is getattr(import_module(f"{package.__name__}.{module}"), public)


@each_package
def test_an_unknown_name_is_an_ordinary_attribute_error(package):
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        package.nothing  # noqa: B018 (the look-up is the test)


def imported(code):
    """The modules that some code imports in a fresh interpreter, beyond those it starts with."""
    script = f"import sys; before = set(sys.modules); {code}; print(*sorted(set(sys.modules) - before))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd="/")
    return set(done.stdout.split())


def test_importing_the_core_imports_nothing_else():
    assert imported("import mino_core") == {"mino_core"}


HEAVY = {
    "http.client",
    "socket",
    "certifi",
    "argparse",
    "asyncio",
    "httpcore",
    "httpx",
    "importlib.metadata",
    "prompt_toolkit",
    "rich",
    "ssl",
    "subprocess",
}


def test_loading_the_built_ins_imports_nothing_heavy():
    code = (
        "from mino_core.config import Config; from mino_core.plugins import Host; "
        "host = Host(Config()); host.load(); host.survey(); assert not host.faults, host.faults"
    )
    assert imported(code) & HEAVY == set()


# -- how the code is written -------------------------------------------------------------------


@pytest.mark.parametrize("path", FILES, ids=name)
def test_no_file_is_too_long(path):
    lines = path.read_text("utf-8").count("\n")
    assert lines <= (LONGEST_SUITE if path.name.startswith("conformance_") else LONGEST)


def is_public(node):
    return isinstance(node, ast.ClassDef | ast.FunctionDef) and not node.name.startswith("_")


@pytest.mark.parametrize("path", [path for path in FILES if "testing" not in path.parts], ids=name)
def test_modules_and_their_public_names_have_docstrings(path):
    tree = ast.parse(path.read_text("utf-8"))
    assert ast.get_docstring(tree) or not tree.body
    assert [node.name for node in tree.body if is_public(node) and not ast.get_docstring(node)] == []


def test_the_public_surface_is_documented_down_to_its_methods():
    import mino_core.testing
    import mino_core.transport

    bare = [
        f"{public}.{method}"
        for package in (mino_core, mino_core.transport, mino_core.testing)
        for public in package.__all__
        if isinstance(value := getattr(package, public), type)
        for method, code in vars(value).items()
        if inspect.isfunction(code) and method[0] != "_" and not method.startswith("test_")
        if not inspect.getdoc(code)
    ]
    assert bare == []
