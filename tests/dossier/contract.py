"""Read templates without rendering them: which names they use of the types that they are given, on every branch.

Types are followed through loops, macros, imports, filters and items. A name that no member of a value's type declares is a
fault; a value whose type is not known (what a filter makes of it, say) is not followed.
"""

from __future__ import annotations

import collections.abc
import dataclasses
import types
import typing
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from jinja2 import Environment, nodes

Types = frozenset[Any]
UNKNOWN: Types = frozenset()
_GLOBALS = {"range", "namespace", "cycler", "joiner", "dict", "lipsum"}
_SAME = {"list", "sort", "reverse", "unique", "selectattr", "rejectattr", "select", "reject", "default"}


@dataclass(frozen=True)
class Module:
    """An imported template."""

    name: str


@dataclass(frozen=True)
class Loop:
    """The `loop` of a for."""


@dataclass(frozen=True, eq=False)
class Macro:
    node: nodes.Macro
    template: str
    scope: Scope


@dataclass(eq=False)
class Scope:
    names: dict[str, Types]
    outer: Scope | None = None

    def find(self, name: str) -> Types | None:
        found = self.names.get(name)
        return found if found is not None or self.outer is None else self.outer.find(name)


@dataclass
class Reader:
    """What templates use: fields by their type, and faults by their place."""

    environment: Environment
    used: set[tuple[type, str]] = field(default_factory=set)
    faults: set[str] = field(default_factory=set)
    macros: set[tuple[str, str]] = field(default_factory=set)
    called: set[tuple[str, str]] = field(default_factory=set)
    _done: set[Any] = field(default_factory=set)
    _modules: dict[str, Scope] = field(default_factory=dict)
    _template: str = ""

    def read(self, template: str, context: type) -> None:
        """Read a template whose variables are the fields of `context`."""
        hints = typing.get_type_hints(context)
        self._contexts = {name: (context, name) for name in hints}
        scope = Scope({name: members(hint) for name, hint in hints.items()})
        self._template = template
        self._body(self._parse(template).body, scope)
        self._contexts = {}

    def _parse(self, template: str) -> nodes.Template:
        assert self.environment.loader is not None
        source, _, _ = self.environment.loader.get_source(self.environment, template)
        return self.environment.parse(source, template)

    def _fault(self, node: nodes.Node, what: str) -> None:
        self.faults.add(f"{self._template}:{node.lineno}: {what}")

    # --- statements

    def _body(self, body: Sequence[nodes.Node], scope: Scope) -> None:
        for node in body:
            self._statement(node, scope)

    def _statement(self, node: nodes.Node, scope: Scope) -> None:
        if isinstance(node, nodes.For):
            inner = Scope({"loop": frozenset({Loop()})}, scope)
            self._bind(node.target, elements(self._type(node.iter, scope)), inner)
            if node.test is not None:
                self._type(node.test, inner)
            self._body(node.body, inner)
            self._body(node.else_, scope)
        elif isinstance(node, nodes.If):
            self._type(node.test, scope)
            for body in (node.body, node.else_, *(n.body for n in node.elif_)):
                self._body(body, scope)
            for each in node.elif_:
                self._type(each.test, scope)
        elif isinstance(node, nodes.Macro):
            self.macros.add((self._template, node.name))
            scope.names[node.name] = frozenset({Macro(node, self._template, scope)})
        elif isinstance(node, nodes.Import):
            assert isinstance(node.template, nodes.Const)
            scope.names[node.target] = frozenset({Module(node.template.value)})
        elif isinstance(node, nodes.FromImport):
            assert isinstance(node.template, nodes.Const)
            for name in node.names:
                assert isinstance(name, str)
                scope.names[name] = self._module(node.template.value).find(name) or UNKNOWN
        elif isinstance(node, nodes.Assign):
            self._bind(node.target, self._type(node.node, scope), scope)
        elif isinstance(node, nodes.Output):
            for child in node.nodes:
                self._type(child, scope)
        elif isinstance(node, nodes.Block | nodes.Scope):
            self._body(node.body, Scope({}, scope))
        else:
            raise AssertionError(f"{self._template}:{node.lineno}: the reader does not know {type(node).__name__}")

    def _bind(self, target: nodes.Node, value: Types, scope: Scope) -> None:
        if isinstance(target, nodes.Name):
            scope.names[target.name] = value
        elif isinstance(target, nodes.Tuple):
            parts = next((arguments_of(t) for t in value if _origin(t) is tuple), [])
            for index, item in enumerate(target.items):
                self._bind(item, members(parts[index]) if index < len(parts) else UNKNOWN, scope)

    def _module(self, name: str) -> Scope:
        if name not in self._modules:
            outer, self._template = self._template, name
            scope = Scope({})
            self._body([n for n in self._parse(name).body if not isinstance(n, nodes.Output)], scope)
            self._modules[name], self._template = scope, outer
        return self._modules[name]

    # --- expressions

    def _type(self, node: nodes.Node, scope: Scope) -> Types:
        if isinstance(node, nodes.Name):
            return self._name(node, scope)
        if isinstance(node, nodes.Getattr):
            return self._attribute(node, self._type(node.node, scope), node.attr)
        if isinstance(node, nodes.Getitem):
            return self._item(node, scope)
        if isinstance(node, nodes.Call):
            return self._call(node, scope)
        if isinstance(node, nodes.Filter):
            return self._filter(node, scope)
        if isinstance(node, nodes.CondExpr):
            self._type(node.test, scope)
            parts = [self._type(n, scope) for n in (node.expr1, node.expr2) if n is not None]
            return frozenset().union(*parts)
        if isinstance(node, nodes.Const):
            return members(type(node.value))
        if isinstance(node, nodes.Tuple | nodes.List):
            return _sequence(frozenset().union(*(self._type(item, scope) for item in node.items)))
        for child in node.iter_child_nodes():
            self._type(child, scope)
        return UNKNOWN

    def _name(self, node: nodes.Name, scope: Scope) -> Types:
        found = scope.find(node.name)
        if found is None:
            if node.name not in _GLOBALS:
                self._fault(node, f"'{node.name}' is not declared")
            return UNKNOWN
        if node.name in self._contexts:
            self.used.add(self._contexts[node.name])
        return found

    def _attribute(self, node: nodes.Node, owner: Types, name: str) -> Types:
        found: set[Any] = set()
        declared = not owner
        for kind in owner:
            if isinstance(kind, Module):
                macro = self._module(kind.name).find(name)
                declared |= macro is not None
                found |= macro or UNKNOWN
            elif isinstance(kind, Loop):
                declared = True
            elif _origin(kind) is collections.abc.Mapping:
                declared = True
                found |= members(arguments_of(kind)[-1])
            elif dataclasses.is_dataclass(kind) and isinstance(kind, type):
                hint = attribute(kind, name)
                if hint is not None:
                    declared = True
                    self.used.add((kind, name))
                    found |= members(hint)
        if not declared:
            self._fault(node, f"'{name}' is declared by none of {', '.join(sorted(map(_called, owner)))}")
        return frozenset(found)

    def _item(self, node: nodes.Getitem, scope: Scope) -> Types:
        owner = self._type(node.node, scope)
        if isinstance(node.arg, nodes.Slice):
            for child in node.arg.iter_child_nodes():
                self._type(child, scope)
            return owner
        self._type(node.arg, scope)
        found: set[Any] = set()
        for kind in owner:
            found |= members(arguments_of(kind)[-1]) if arguments_of(kind) else UNKNOWN
        return frozenset(found)

    def _call(self, node: nodes.Call, scope: Scope) -> Types:
        called = self._type(node.node, scope)
        given = [self._type(argument, scope) for argument in node.args]
        named = {pair.key: self._type(pair.value, scope) for pair in node.kwargs}
        for kind in called:
            if isinstance(kind, Macro):
                self._expand(kind, given, named)
            elif _origin(kind) is collections.abc.Callable:
                return members(arguments_of(kind)[-1])
        return UNKNOWN

    def _expand(self, macro: Macro, given: Sequence[Types], named: Mapping[str, Types]) -> None:
        self.called.add((macro.template, macro.node.name))
        names = [argument.name for argument in macro.node.args]
        defaults = names[len(names) - len(macro.node.defaults) :]
        bound = {n: self._type(d, macro.scope) for n, d in zip(defaults, macro.node.defaults, strict=True)}
        bound |= dict(zip(names, given, strict=False)) | dict(named)
        key = (macro.template, macro.node.name, tuple(sorted(bound.items(), key=lambda pair: pair[0])))
        if key in self._done:
            return
        self._done.add(key)
        outer, self._template = self._template, macro.template
        kept = self._contexts
        if macro.template != outer:
            self._contexts = {}
        self._contexts = {name: place for name, place in self._contexts.items() if name not in bound}
        self._body(macro.node.body, Scope(bound, macro.scope))
        self._template, self._contexts = outer, kept

    def _filter(self, node: nodes.Filter, scope: Scope) -> Types:
        value = self._type(node.node, scope) if node.node is not None else UNKNOWN
        for child in (*node.args, *(pair.value for pair in node.kwargs)):
            self._type(child, scope)
        named: dict[Any, nodes.Node] = {pair.key: pair.value for pair in node.kwargs}
        asked = node.args[0] if "attr" in node.name or node.name == "groupby" else named.get("attribute")
        kind = elements(value)
        if isinstance(asked, nodes.Const) and isinstance(asked.value, str):
            self._attribute(node, kind, asked.value)
        if node.name == "groupby" and kind:
            return frozenset({_of(collections.abc.Sequence, _of(tuple, (Any, *_sequence(kind))))})
        if node.name in ("first", "last", "min", "max"):
            return kind
        return value if node.name in _SAME else UNKNOWN


def _origin(hint: Any) -> Any:
    return typing.get_origin(hint)


def _of(generic: Any, arguments: Any) -> Any:
    return generic[arguments]


def _sequence(inner: Types) -> Types:
    return frozenset({_of(collections.abc.Sequence, _of(typing.Union, tuple(inner)))}) if inner else UNKNOWN


def arguments_of(hint: Any) -> list[Any]:
    """Return what a generic type is made of, those of a callable in one list."""
    found: list[Any] = list(typing.get_args(hint))
    inner = [each for argument in found if isinstance(argument, list) for each in argument]
    return inner + [each for each in found if each is not Ellipsis and not isinstance(each, list)]


def members(hint: Any) -> Types:
    """Return the members of a type that is a union, else the type; None and what is not known are none."""
    if _origin(hint) in (typing.Union, types.UnionType):
        return frozenset().union(*(members(each) for each in typing.get_args(hint)))
    return UNKNOWN if hint in (Any, type(None)) else frozenset({hint})


def elements(value: Types) -> Types:
    """Return what a loop over a value gives."""
    found: set[Any] = set()
    for kind in value:
        if arguments_of(kind) and _origin(kind) is not collections.abc.Callable:
            found |= members(arguments_of(kind)[0])
    return frozenset(found)


def attribute(kind: type, name: str) -> Any:
    """Return the type of a dataclass's field or property, or None where it has none of this name."""
    hints = typing.get_type_hints(kind)
    if name in hints:
        return hints[name]
    found = getattr(kind, name, None)
    return typing.get_type_hints(found.fget).get("return", Any) if isinstance(found, property) else None


def declared(contexts: Sequence[type]) -> Iterator[tuple[type, str]]:
    """Yield all fields of the types and of every dataclass that can be reached from them."""
    seen: set[type] = set()
    waiting: list[Any] = list(contexts)
    while waiting:
        kind = waiting.pop()
        waiting += arguments_of(kind)
        if isinstance(kind, type) and dataclasses.is_dataclass(kind) and kind not in seen:
            seen.add(kind)
            for name, hint in typing.get_type_hints(kind).items():
                yield kind, name
                waiting.append(hint)


def _called(kind: Any) -> str:
    return kind.name if isinstance(kind, Module) else getattr(kind, "__name__", str(kind))
