"""Derived metrics: formulas over metrics and parameters, read by a small arithmetic parser and never run as code.

A formula knows numbers, `+ - * / // % **`, brackets, the functions `min max abs sqrt log2 log10 ceil floor`, parameters
by name, metrics by the profiler's own name (`dram__bytes_read.sum`, in base units), `time`: the time of the region's
kernels in seconds, and `rated_bandwidth`: byte/s by the GPU's rated memory clock and bus width. Two more reach beyond the
region's own run: `time@"fp32"` is the value in the region `fp32` of the same run, `highest("GB/s")` the highest mean of a
derived metric in the same benchmark, backend, workload and scenario.
"""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, cast

from reportgen.evidence.errors import UserError

TIME = "gpu__time_duration.sum"
# What `time` is, in this order: the kernels' time, or an operator's own on the device or else on the CPU.
TIMES = (TIME, "self_device_time_total", "self_cpu_time_total")
RATED_BANDWIDTH = "rated_bandwidth"
_LONGEST = 500
_DEEPEST = 100
_BINARY: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: math.pow,
}
_FUNCTIONS: dict[str, Callable[..., float]] = {
    "min": lambda *values: min(values),
    "max": lambda *values: max(values),
    "abs": abs,
    "sqrt": math.sqrt,
    "log2": math.log2,
    "log10": math.log10,
    "ceil": math.ceil,
    "floor": math.floor,
}
_OF_SEVERAL = ("min", "max")


class FormulaError(UserError):
    """A formula that cannot be read; `path` is the derived metric's name."""


@dataclass(frozen=True)
class Expression:
    """A formula, read and checked; `names` are the metrics and parameters that it needs."""

    text: str
    names: frozenset[str]
    _tree: ast.expr

    @property
    def paired(self) -> bool:
        """Tell whether it is a ratio of regions of one run: its mean is then the geometric one.

        A ratio stays one under a factor or a power. A difference over something is a relative change, which may be negative.
        """
        factors = list(_factors(self._tree, 1))
        if any(isinstance(getattr(part, "op", None), ast.Sub | ast.USub) for f, _ in factors for part in ast.walk(f)):
            return False
        return {sign for _, sign in factors} == {-1, 1} and any(is_elsewhere(name) for name in self.names)

    def is_share_of(self, metric: str) -> bool:
        """Tell whether it is `metric` over what parameters and numbers alone say."""
        tree = self._tree
        quotient = isinstance(tree, ast.BinOp) and isinstance(tree.op, ast.Div)
        if not quotient or _key(cast("ast.BinOp", tree).left) != metric:
            return False
        measured = {name for name in self.names if "__" in name or name.startswith("highest(") or is_elsewhere(name)}
        return measured == {metric} and not self.names & {"time", RATED_BANDWIDTH}

    def __call__(self, values: Mapping[str, float]) -> float:
        """Return the formula's value, NaN where it is not defined (a division by 0, a root of a negative number).

        Raises `KeyError` for a name that `values` lacks.
        """
        try:
            result = float(_evaluate(self._tree, values))
        except (ArithmeticError, ValueError):
            return math.nan
        return result if math.isfinite(result) else math.nan


def parse(metric: str, text: str) -> Expression:
    """Read the formula `text` of the derived metric `metric`; raise `FormulaError` that names the place and the mend."""
    if len(text) > _LONGEST:
        raise FormulaError(metric, f"the formula is longer than {_LONGEST} characters", "shorten it")
    try:
        tree = ast.parse(text.strip(), mode="eval").body
        names = frozenset(_names(tree, metric, text.strip()))
    except SyntaxError as error:
        raise FormulaError(
            metric,
            f"the formula '{text}' cannot be read at character {error.offset or 1}",
            "write it like 2*n**3 / time / 1e12",
        ) from None
    except (ValueError, RecursionError, MemoryError):
        raise FormulaError(
            metric, f"the formula '{text[:40]}' cannot be read", "write it like 2*n**3 / time / 1e12"
        ) from None
    return Expression(text, names, tree)


def _names(node: ast.expr, metric: str, text: str, depth: int = 0) -> set[str]:
    if depth > _DEEPEST:
        raise FormulaError(metric, f"the formula is nested deeper than {_DEEPEST} levels", "shorten it")
    if isinstance(node, ast.Constant) and type(node.value) in (int, float):
        return set()
    if name := _key(node):
        return {name}
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.UAdd | ast.USub):
        return _names(node.operand, metric, text, depth + 1)
    if isinstance(node, ast.BinOp) and type(node.op) in _BINARY:
        return _names(node.left, metric, text, depth + 1) | _names(node.right, metric, text, depth + 1)
    if (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in _FUNCTIONS
        and not node.keywords
    ):
        if not node.args or (len(node.args) > 1 and node.func.id not in _OF_SEVERAL):
            takes = "one value or more" if node.func.id in _OF_SEVERAL else "one value"
            place = node.col_offset + 1
            raise FormulaError(metric, f"{node.func.id} at character {place} of the formula takes {takes}", "mend it")
        return set().union(*(_names(argument, metric, text, depth + 1) for argument in node.args))
    what = ast.get_source_segment(text, node) or text
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult) and isinstance(node.left, ast.BinOp):
        # In Python's grammar `a * b@c` is `(a * b)@c`.
        mended = f"({ast.get_source_segment(text, node.left.right)}@{ast.get_source_segment(text, node.right)})"
        raise FormulaError(
            metric, f"the formula holds '{what}' at character {node.col_offset + 1}", f"write it in brackets: {mended}"
        )
    raise FormulaError(
        metric,
        f"the formula holds '{what}' at character {node.col_offset + 1}, which is not arithmetic",
        f"use numbers, names, + - * / // % ** and {', '.join(_FUNCTIONS)}",
    )


def elsewhere(name: str, annotation: str) -> str:
    """Return the name of the metric `name` in the region `annotation` of the same run, as a formula writes it."""
    return f"{name}@{annotation!r}"


def is_elsewhere(name: str) -> bool:
    """Tell whether a name is that of a value in another region."""
    return "@" in name and not is_highest(name)


def is_highest(name: str) -> bool:
    """Tell whether a name is that of the highest mean of a derived metric."""
    return name.startswith("highest(")


def place_of(name: str) -> tuple[str, str]:
    """Return the metric that a name is of, and the region that it is read in: empty for the formula's own."""
    if not is_elsewhere(name):
        return name, ""
    metric, _, annotation = name.partition("@")
    return metric, str(ast.literal_eval(annotation))


def highest(metric: str) -> str:
    """Return the name of the highest mean of a derived metric, as a formula writes it."""
    return f"highest({metric!r})"


def operand(name: str) -> tuple[str, str]:
    """Return the metric that a name of a formula reads, and the region that it names for it, if it does."""
    if name.startswith("highest("):
        return str(ast.literal_eval(name[len("highest(") : -1])), ""
    metric, _, region = name.partition("@") if is_elsewhere(name) else (name, "", "")
    return metric, str(ast.literal_eval(region)) if region else ""


def _key(node: ast.expr) -> str:
    """Return the name under which a formula's operand is known, empty for what is none."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult):
        left, right = _dotted(node.left), _text(node.right)
        return elsewhere(left, right) if left and right else ""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "highest":
        of = _text(node.args[0]) if len(node.args) == 1 and not node.keywords else ""
        return highest(of) if of else ""
    return _dotted(node)


def _factors(node: ast.expr, sign: int) -> Iterator[tuple[ast.expr, int]]:
    """Yield what a formula is a product of, numbers left out: with 1 what it multiplies by, with -1 what it divides by."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult | ast.Div):
        yield from _factors(node.left, sign)
        yield from _factors(node.right, sign if isinstance(node.op, ast.Mult) else -sign)
    elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow) and not _names(node.right, "", ""):
        power = _evaluate(node.right, {})
        yield from _factors(node.left, -sign if power < 0 else sign)
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.UAdd):
        yield from _factors(node.operand, sign)
    elif not isinstance(node, ast.Constant):
        yield node, sign


def _text(node: ast.expr) -> str:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def _dotted(node: ast.expr) -> str:
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute) and (head := _dotted(node.value)):
        return f"{head}.{node.attr}"
    return ""


def _evaluate(node: ast.expr, values: Mapping[str, float]) -> float:
    if isinstance(node, ast.Constant):
        return float(node.value)  # type: ignore[arg-type]
    if isinstance(node, ast.UnaryOp):
        value = _evaluate(node.operand, values)
        return -value if isinstance(node.op, ast.USub) else value
    if name := _key(node):
        return values[name]
    if isinstance(node, ast.BinOp):
        return float(_BINARY[type(node.op)](_evaluate(node.left, values), _evaluate(node.right, values)))
    if isinstance(node, ast.Call):
        assert isinstance(node.func, ast.Name)
        return float(_FUNCTIONS[node.func.id](*(_evaluate(argument, values) for argument in node.args)))
    raise AssertionError(f"{ast.dump(node)} was checked when the formula was read")
