"""Frozen values, made in a fraction of the time that a frozen dataclass takes to make.

A process makes some forty classes before its first prompt. `dataclasses` compiles six methods for
each of them; here one is compiled, and only when the first value of the class is made, and the
others are shared. What `dataclasses` offers for values (`replace`, `fields`, `asdict`,
`is_dataclass`) works on these too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar, dataclass_transform

if TYPE_CHECKING:
    from collections.abc import Callable
    from dataclasses import Field

_T = TypeVar("_T")


class _Made:
    """A default that each value makes for itself."""

    __slots__ = ("factory",)

    def __init__(self, factory: Callable[[], Any]) -> None:
        self.factory = factory


def made(*, factory: Callable[[], _T]) -> _T:
    """What a field is given where it has no other value: what `factory` returns, for each value anew."""
    default: Any = _Made(factory)
    return default  # type: ignore[no-any-return]


@dataclass_transform(frozen_default=True, field_specifiers=(made,))
def value(cls: type[_T]) -> type[_T]:
    """Make a class with annotated fields a frozen value with slots, equal by what is in it.

    A default that is a dict stands for an empty one of each value's own. A field whose name is in
    the class's `_unlike` does not count for equality, one in its `_unshown` is not in its `repr`.
    """
    names = tuple(cls.__annotations__)
    body = dict(vars(cls))
    defaults = {name: _default(body.pop(name)) for name in names if name in body}
    for gone in ("__dict__", "__weakref__"):
        body.pop(gone, None)
    body |= {
        "__slots__": names,
        "__match_args__": names,
        "__dataclass_fields__": _Fields(defaults),
        "__setattr__": _refuse,
        "__delattr__": _refuse,
        "__repr__": _repr,
        "__eq__": _eq,
        "__hash__": _hash,
        "__reduce__": _reduce,
    }
    metaclass: Any = type(cls)
    finished = metaclass(cls.__name__, cls.__bases__, body)
    finished.__init__ = _Init(finished, names, defaults)
    return finished  # type: ignore[no-any-return]


def replace(former: _T, **changes: Any) -> _T:
    """The same value with some of its fields changed."""
    kept = {name: getattr(former, name) for name in type(former).__slots__}  # type: ignore[attr-defined]
    return type(former)(**(kept | changes))


def _default(given: Any) -> Any:
    return _Made(dict) if isinstance(given, dict) else given


class _Init:
    """`__init__` of one class, compiled when it is first looked for, in its own place."""

    def __init__(self, cls: Any, names: tuple[str, ...], defaults: dict[str, Any]) -> None:
        self._of = cls, names, defaults

    def __get__(self, instance: object, owner: Any) -> Any:
        compiled = _init(*self._of)
        self._of[0].__init__ = compiled
        return compiled.__get__(instance, owner)


def _init(cls: Any, names: tuple[str, ...], defaults: dict[str, Any]) -> Any:
    known: dict[str, Any] = {}
    parameters, lines = ["self"], []
    for name in names:
        known[f"_set_{name}"] = vars(cls)[name].__set__
        given = name
        if name in defaults:
            default = defaults[name]
            known[f"_default_{name}"] = default
            parameters.append(f"{name}=_default_{name}")
            if isinstance(default, _Made):
                known[f"_make_{name}"] = default.factory
                given = f"_make_{name}() if {name} is _default_{name} else {name}"
        else:
            parameters.append(name)
        lines.append(f" _set_{name}(self, {given})")
    exec(f"def __init__({', '.join(parameters)}):\n" + "\n".join(lines or [" pass"]), known)  # noqa: S102 (our own text)
    return known["__init__"]


def _values(self: Any) -> tuple[Any, ...]:
    return tuple([getattr(self, name) for name in self.__slots__])


def _compared(self: Any) -> tuple[Any, ...]:
    unlike = getattr(self, "_unlike", ())
    return tuple([getattr(self, name) for name in self.__slots__ if name not in unlike])


def _refuse(self: Any, name: str, *_: object) -> None:
    from dataclasses import FrozenInstanceError

    raise FrozenInstanceError(f"a {type(self).__name__} does not change: cannot assign to {name!r}")


def _repr(self: Any) -> str:
    unshown = getattr(self, "_unshown", ())
    inside = ", ".join(f"{name}={getattr(self, name)!r}" for name in self.__slots__ if name not in unshown)
    return f"{type(self).__qualname__}({inside})"


def _eq(self: Any, other: object) -> bool:
    if type(other) is not type(self):
        return False
    same: bool = _compared(self) == _compared(other)
    return same


def _hash(self: Any) -> int:
    return hash(_compared(self))


def _reduce(self: Any) -> tuple[Any, ...]:
    return type(self), _values(self)


class _Fields:
    """What `dataclasses` looks for, made when it first looks."""

    def __init__(self, defaults: dict[str, Any]) -> None:
        self._defaults = defaults

    def __get__(self, instance: object, owner: Any) -> dict[str, Field[Any]]:
        import dataclasses

        body = {
            name: dataclasses.field(default_factory=given.factory) if isinstance(given, _Made) else given
            for name, given in self._defaults.items()
        }
        twin: Any = type(owner.__name__, (), {"__annotations__": owner.__annotations__, **body})
        fields: dict[str, Field[Any]] = dataclasses.dataclass(twin).__dataclass_fields__
        owner.__dataclass_fields__ = fields
        return fields
