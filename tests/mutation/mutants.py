"""Make mutants of Python functions: small changes to the code that some test should notice.

A mutant is named by file, function, operator and text, not by line, so that a ledger of accepted mutants outlives other
edits. The operators are those that find gaps in tests: conditions, filters, comparisons, arithmetic and statements.
Texts, numbers (but 0 and 1 in a comparison), annotations, defaults, assertions and lines of the log stay as they are.
"""

import ast
import copy
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import CodeType
from typing import Any

_COMPARED: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
}
_COMPUTED: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.FloorDiv,
    ast.FloorDiv: ast.Mult,
    ast.Div: ast.Mult,
    ast.Mod: ast.FloorDiv,
    ast.BitOr: ast.BitAnd,
    ast.BitAnd: ast.BitOr,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
}


@dataclass(frozen=True, eq=False)
class Mutant:
    """One change to one function of a file; `line` and `end` are the lines that it touches, counted from 1."""

    path: str
    function: str
    operator: str
    number: int
    """Tells apart mutants of one function whose texts are the same, from 0."""
    before: str
    after: str
    line: int
    end: int
    _tree: ast.Module
    _node: ast.AST
    _replacement: ast.AST

    @property
    def key(self) -> str:
        """The name of the mutant, on one line."""
        number = f" #{self.number}" if self.number else ""
        return f"{self.path} {self.function} {self.operator}{number}: {self.before} -> {self.after}"

    def code(self) -> CodeType:
        """Compile the whole file with the change."""
        memo: dict[int, ast.AST] = {}
        tree = copy.deepcopy(self._tree, memo)
        changed: ast.Module = _Replacer(memo[id(self._node)], self._replacement).visit(tree)
        ast.fix_missing_locations(changed)
        code: CodeType = compile(changed, str(Path(self.path).resolve()), "exec", dont_inherit=True)
        return code


def mutants_of(path: str) -> Iterator[Mutant]:
    """Yield every mutant of a file, in the order of its text."""
    tree = ast.parse(Path(path).read_text(encoding="utf-8"))
    finder = _Finder()
    finder.visit(tree)
    seen: Counter[tuple[str, ...]] = Counter()
    for function, operator, node, replacement in finder.found:
        before, after = _text(node, node), _text(node, replacement)
        same = (function, operator, before, after)
        line, end = _lines(node)
        yield Mutant(path, *same[:2], seen[same], before, after, line, end, tree, node, replacement)
        seen[same] += 1


def _text(node: ast.AST, shown: ast.AST) -> str:
    """Return the changed part of a statement as one line of text."""
    if isinstance(node, ast.match_case) and isinstance(shown, ast.match_case):
        guard = f" if {ast.unparse(shown.guard)}" if shown.guard else ""
        return f"case {ast.unparse(shown.pattern)}{guard}"
    if isinstance(node, ast.If) and isinstance(shown, ast.If):
        return f"if {ast.unparse(shown.test)}"
    return " ".join(ast.unparse(shown).split())


def _lines(node: ast.AST) -> tuple[int, int]:
    if isinstance(node, ast.If):
        return node.lineno, node.test.end_lineno or node.lineno
    placed: ast.AST = node
    if isinstance(node, ast.match_case):
        placed = node.pattern
    elif isinstance(node, ast.comprehension):
        placed = node.iter
    line: int = placed.lineno  # type: ignore[attr-defined]
    end: int | None = placed.end_lineno  # type: ignore[attr-defined]
    return line, end or line


def _is_arid(value: ast.expr) -> bool:
    """Tell whether a statement is a line of the log, or an assertion that a `match` is complete."""
    if not isinstance(value, ast.Call):
        return False
    called = value.func
    is_log = isinstance(called, ast.Attribute) and isinstance(called.value, ast.Name) and called.value.id == "log"
    return is_log or (isinstance(called, ast.Name) and called.id == "assert_never")


class _Replacer(ast.NodeTransformer):
    def __init__(self, node: ast.AST, replacement: ast.AST) -> None:
        self._node, self._replacement = node, replacement

    def visit(self, node: ast.AST) -> Any:
        if node is not self._node:
            return self.generic_visit(node)
        return ast.copy_location(self._replacement, node) if hasattr(node, "lineno") else self._replacement


class _Finder(ast.NodeVisitor):
    """Collects (function, operator, node, replacement) for all code inside functions."""

    def __init__(self) -> None:
        self.found: list[tuple[str, str, ast.AST, ast.AST]] = []
        self._names: list[str] = []
        self._depth = 0

    def _add(self, node: ast.AST, operator: str, replacement: ast.AST) -> None:
        if self._depth:
            self.found.append((".".join(self._names), operator, node, replacement))

    def _scope(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> None:
        is_function = not isinstance(node, ast.ClassDef)
        self._names.append(node.name)
        self._depth += is_function
        for statement in node.body:  # decorators, defaults and annotations stay as they are
            self.visit(statement)
        self._depth -= is_function
        self._names.pop()

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        self._scope(node)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> None:
        self._scope(node)

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self._scope(node)

    def visit_Assert(self, node: ast.Assert) -> None:
        """Leave assertions: they are about our own bugs."""

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        """Leave texts."""

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.visit(node.value)

    def visit_Compare(self, node: ast.Compare) -> None:
        for place, operator in enumerate(node.ops):
            for other in _COMPARED[type(operator)]:
                changed = copy.deepcopy(node)
                changed.ops[place] = other()
                self._add(node, "compare", changed)
        for place, term in enumerate(node.comparators):
            if isinstance(term, ast.Constant) and type(term.value) is int and term.value in (0, 1):
                changed = copy.deepcopy(node)
                changed.comparators[place] = ast.Constant(term.value + 1)
                self._add(node, "number", changed)
        self.generic_visit(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        changed = copy.deepcopy(node)
        changed.op = ast.Or() if isinstance(node.op, ast.And) else ast.And()
        self._add(node, "and-or", changed)
        for left_out in range(len(node.values)):
            rest = [copy.deepcopy(value) for place, value in enumerate(node.values) if place != left_out]
            self._add(node, "drop-operand", rest[0] if len(rest) == 1 else ast.BoolOp(node.op, rest))
        self.generic_visit(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        if isinstance(node.op, ast.Not | ast.USub) and not isinstance(node.operand, ast.Constant):
            self._add(node, "unary", copy.deepcopy(node.operand))
        self.generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        other = _COMPUTED.get(type(node.op))
        is_text = any(
            isinstance(side, ast.JoinedStr) or (isinstance(side, ast.Constant) and isinstance(side.value, str))
            for side in (node.left, node.right)
        )
        if other is not None and not is_text:
            changed = copy.deepcopy(node)
            changed.op = other()
            self._add(node, "arithmetic", changed)
        self.generic_visit(node)

    def visit_IfExp(self, node: ast.IfExp) -> None:
        self._add(node, "branch", copy.deepcopy(node.body))
        self._add(node, "branch", copy.deepcopy(node.orelse))
        self.generic_visit(node)

    def visit_If(self, node: ast.If) -> None:
        for value in (True, False):
            changed = copy.deepcopy(node)
            changed.test = ast.Constant(value)
            self._add(node, "condition", changed)
        self.generic_visit(node)

    def visit_comprehension(self, node: ast.comprehension) -> None:
        for place in range(len(node.ifs)):
            changed = copy.deepcopy(node)
            del changed.ifs[place]
            self._add(node, "no-filter", changed)
        self.generic_visit(node)

    def visit_match_case(self, node: ast.match_case) -> None:
        if node.guard is not None:
            changed = copy.deepcopy(node)
            changed.guard = None
            self._add(node, "no-guard", changed)
            self.visit(node.guard)
        for statement in node.body:
            self.visit(statement)

    def visit_Expr(self, node: ast.Expr) -> None:
        if isinstance(node.value, ast.Constant | ast.Yield | ast.YieldFrom) or _is_arid(node.value):
            return
        self._statement(node)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        self._statement(node)

    def visit_Delete(self, node: ast.Delete) -> None:
        self._statement(node)

    def visit_Assign(self, node: ast.Assign) -> None:
        if isinstance(node.targets[0], ast.Attribute | ast.Subscript):
            self._statement(node)
        else:
            self.generic_visit(node)

    def _statement(self, node: ast.stmt) -> None:
        uses_super = any(isinstance(each, ast.Name) and each.id == "super" for each in ast.walk(node))
        # the name alone keeps the free variable of the function, without which its code cannot be exchanged
        self._add(node, "no-statement", ast.Expr(ast.Name("super", ast.Load())) if uses_super else ast.Pass())
        self.generic_visit(node)

    def visit_Raise(self, node: ast.Raise) -> None:
        """Leave out the raise; its message is text."""
        self._add(node, "no-raise", ast.Pass())

    def visit_Return(self, node: ast.Return) -> None:
        before = len(self.found)
        self.generic_visit(node)
        is_plain = isinstance(node.value, ast.Name | ast.Constant | ast.JoinedStr)
        if node.value is not None and len(self.found) == before and not is_plain:
            self._add(node, "return-none", ast.Return(ast.Constant(None)))

    def visit_Break(self, node: ast.Break) -> None:
        self._add(node, "break-continue", ast.Continue())

    def visit_Continue(self, node: ast.Continue) -> None:
        self._add(node, "break-continue", ast.Break())
