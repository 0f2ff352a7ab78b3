"""What a function is made of: its source, and all that it uses of its notebook or script.

The digest of this is a part of a run's identity, as a plugin's code is; and
promote writes it as a file that stands by itself.
"""

from __future__ import annotations

import ast
import hashlib
import inspect
import linecache
import re
import site
import symtable
import sys
import sysconfig
import textwrap
import types
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Callable, Optional


class Unknown(TypeError):
    """Something that a method uses cannot be told apart from another."""


@dataclass
class Part:
    """One name that a function uses. text is its import, or its source; None for a value."""

    name: str
    kind: str  # import, file, source or value
    text: str = ""
    value: Any = None


@dataclass
class Code:
    """A function with what it uses, first what others need."""

    name: str
    parts: list[Part] = field(default_factory=list)

    def digest(self) -> str:
        """SHA-256, in hex, of the sources and values. Comments and empty lines count."""
        h = hashlib.sha256(b"noema/function/1\n")
        for part in sorted(self.parts, key=lambda p: (p.name, p.kind)):
            content = _Canonical().text(part.value) if part.kind == "value" else part.text
            h.update(f"{part.kind} {part.name} {len(content)}\n{content}\n".encode("utf-8", "surrogatepass"))
        return h.hexdigest()


def gather(function: Callable[..., Any]) -> Code:
    """The code of a function. Raises Unknown where it cannot be found."""
    code = Code(function.__name__)
    _Gatherer(code, function.__module__).add(function.__name__, function)
    return code


class _Gatherer:
    def __init__(self, code: Code, module: str) -> None:
        self._code, self._module = code, module
        self._names: dict[str, Any] = {}

    def add(self, name: str, value: Any) -> None:
        """Notes what a name stands for, and what that uses."""
        if name in self._names:
            if self._names[name] is not value and not _same(self._names[name], value):
                raise Unknown(f"method {self._code.name!r}: {name!r} stands for two things in what it uses: rename one")
            return
        self._names[name] = value
        if isinstance(value, types.ModuleType):
            self._module_of(name, value, "" if value.__name__ == name else f" as {name}")
        elif isinstance(value, (types.FunctionType, type)) and self._own(value):
            self._source(name, value)
        elif isinstance(value, (types.FunctionType, types.BuiltinFunctionType, type)) and _importable(value):
            self._from(name, value)
        elif getattr(type(value), "__module__", "") == "typing" or isinstance(value, types.GenericAlias):
            self._code.parts.append(Part(name, "value", value=repr(value)))
        else:
            if hasattr(value, "__noema_function__"):  # a method that calls another
                self._source(name, value.__noema_function__)
                return
            self._code.parts.append(Part(name, "value", value=value))
            if self._own(type(value)):
                self.add(type(value).__name__, type(value))

    def _own(self, value: Any) -> bool:
        return getattr(value, "__module__", None) in ("__main__", self._module)

    def _module_of(self, name: str, module: types.ModuleType, alias: str) -> None:
        line = f"import {module.__name__}{alias}"
        self._code.parts.append(Part(name, "import", line + _version(module)))
        self._file(module)

    def _from(self, name: str, value: Any) -> None:
        module = sys.modules.get(value.__module__)
        alias = "" if value.__name__ == name else f" as {name}"
        line = f"from {value.__module__} import {value.__name__}{alias}"
        self._code.parts.append(Part(name, "import", line + (_version(module) if module else "")))
        if module:
            self._file(module)

    def _file(self, module: types.ModuleType) -> None:
        """Adds the text of a module beside the notebook, and of those that it uses."""
        path = getattr(module, "__file__", None)
        if not path or _installed(path) or f"/{module.__name__}" in self._names:
            return
        self._names[f"/{module.__name__}"] = module
        try:
            text = Path(path).read_text(encoding="utf-8")
        except (OSError, UnicodeError) as error:
            raise Unknown(f"method {self._code.name!r}: read its module {module.__name__}: {error}") from None
        self._code.parts.insert(0, Part(module.__name__, "file", text, path))
        for value in list(vars(module).values()):
            other = value if isinstance(value, types.ModuleType) else sys.modules.get(getattr(value, "__module__", None) or "")
            if other is not None:
                self._file(other)

    def _source(self, name: str, value: Any) -> None:
        text = source(value)
        known = _cells(value)
        globals_ = vars(sys.modules[value.__module__]) if isinstance(value, type) else value.__globals__
        for used in uses(text):
            if used == value.__name__:
                continue
            if used in known:
                self.add(used, known[used])
            elif used in globals_:
                self.add(used, globals_[used])
        part = Part(name, "source", text)
        if name != value.__name__:
            part.text += f"\n{name} = {value.__name__}\n"
        self._code.parts.append(part)


def _cells(value: Any) -> dict[str, Any]:
    """What a function, or the functions of a class, close over."""
    found: dict[str, Any] = {}
    functions = [value] if isinstance(value, types.FunctionType) else [f for f in vars(value).values() if isinstance(f, types.FunctionType)]
    for f in functions:
        for name, cell in zip(f.__code__.co_freevars, f.__closure__ or ()):
            try:
                found[name] = cell.cell_contents
            except ValueError:  # not yet set, as __class__ may be
                continue
    found.pop("__class__", None)
    return found


def source(value: Any) -> str:
    """The source of a function or class, without noema's decorator. Raises Unknown."""
    if getattr(value, "__name__", "") == "<lambda>":
        raise Unknown("a method, and what it uses, is not a lambda: write it with def")
    text = _class_source(value) if isinstance(value, type) else ""
    try:
        text = textwrap.dedent(text or inspect.getsource(value))
        (tree,) = ast.parse(text).body
    except (OSError, TypeError, SyntaxError, ValueError):
        raise Unknown(
            f"the source of {getattr(value, '__name__', value)!r} cannot be found: define it in a notebook cell or a file"
        ) from None
    lines = text.splitlines()
    for mark in reversed(getattr(tree, "decorator_list", [])):
        called = mark.func if isinstance(mark, ast.Call) else mark
        if (called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")) == "method":
            del lines[mark.lineno - 1 : mark.end_lineno]
    return "\n".join(lines).strip("\n") + "\n"


def _class_source(value: type) -> str:
    """The source of a class by that of a method, for cells, which have no file. Empty if that fails."""
    for member in vars(value).values():
        name = getattr(getattr(member, "__code__", None), "co_filename", "")
        lines = linecache.getlines(name) if name else []
        try:
            tree = ast.parse("".join(lines))
        except SyntaxError:
            continue
        for node in reversed(tree.body):
            if isinstance(node, ast.ClassDef) and node.name == value.__name__:
                begin = min([node.lineno, *(d.lineno for d in node.decorator_list)])
                return "".join(lines[begin - 1 : node.end_lineno])
    return ""


def uses(text: str) -> list[str]:
    """The names that a definition uses and does not define, in alphabetical order."""
    found: set[str] = set()

    def visit(table: symtable.SymbolTable, top: bool) -> None:
        for symbol in table.get_symbols():
            if symbol.is_referenced() and (symbol.is_global() or top and not symbol.is_assigned()):
                found.add(symbol.get_name())
        for child in table.get_children():
            visit(child, False)

    visit(symtable.symtable(text, "<method>", "exec"), True)
    return sorted(found)


def _same(a: Any, b: Any) -> bool:
    try:
        return bool(a == b)
    except Exception:
        return False


def _importable(value: Any) -> bool:
    module = sys.modules.get(getattr(value, "__module__", None) or "")
    return module is not None and getattr(module, value.__name__, None) is value


def _version(module: types.ModuleType) -> str:
    """The version of an installed package, as a comment."""
    top = sys.modules.get(module.__name__.split(".")[0])
    version = getattr(top, "__version__", "") if top is not None and top.__name__ != "noema" else ""
    return f"  # {version}" if isinstance(version, str) and version else ""


def _installed(path: str) -> bool:
    """Whether a file is of Python or of an installed package."""
    places = [*sysconfig.get_paths().values(), *site.getsitepackages(), site.getusersitepackages(), str(Path(__file__).parent)]
    return any(Path(path).resolve().is_relative_to(Path(p).resolve()) for p in places if p)


class _Canonical:
    """Writes values so that equal ones have equal texts, in every process."""

    def __init__(self) -> None:
        self._open: list[int] = []

    def text(self, value: Any) -> str:
        """The text of a value. Raises Unknown."""
        if value is None or isinstance(value, (bool, int, float, complex, str, bytes)) and type(value).__module__ == "builtins":
            return f"{type(value).__name__} {value!r}"
        if id(value) in self._open:
            return f"again {len(self._open) - self._open.index(id(value))}"
        self._open.append(id(value))
        try:
            return self._compound(value)
        finally:
            self._open.pop()

    def _compound(self, value: Any) -> str:
        kind = type(value).__name__
        if type(value) in (list, tuple):
            return f"{kind} [{', '.join(self.text(v) for v in value)}]"
        if type(value) in (set, frozenset):
            return f"{kind} [{', '.join(sorted(self.text(v) for v in value))}]"
        if type(value) is dict:
            return f"dict [{', '.join(f'{self.text(k)}: {self.text(v)}' for k, v in value.items())}]"
        if isinstance(value, re.Pattern):
            return f"pattern {value.pattern!r} {value.flags}"
        if isinstance(value, types.ModuleType):
            return f"module {value.__name__}"
        if isinstance(value, (type, types.FunctionType, types.BuiltinFunctionType)):
            if _importable(value) and value.__module__ != "__main__":
                return f"name {value.__module__}.{value.__qualname__}"
            return f"code {gather(value).digest()}" if isinstance(value, types.FunctionType) else f"class {source(value)}"
        try:
            reduced = value.__reduce_ex__(4)
            if isinstance(reduced, str):
                return f"name {type(value).__module__}.{reduced}"
            items = [list(r) if i >= 3 and r is not None else r for i, r in enumerate(reduced[:5])]
            return f"object {self.text(items)}"
        except Unknown:
            raise
        except Exception as error:
            raise Unknown(
                f"a method uses a value of type {kind}, whose content cannot be digested ({error}): "
                "make it within the method, or give the method an option"
            ) from None


def literal(value: Any) -> Optional[str]:
    """The value as it is written in Python; None if it has no such form."""
    text = repr(value)
    try:
        return text if _same(ast.literal_eval(text), value) else None
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return None
