"""Operators that cosmic-ray lacks, the kinds of faults that are hard to notice, and places where a fault changes nothing."""

from __future__ import annotations

import ast

from cosmic_ray.operators.operator import Operator
from cosmic_ray.plugins import OPERATOR_PROVIDERS
from parso.python.tree import Name

_UNSORTED = "(lambda items, **_: list(items))"
_OTHER_CALL = {
    "any": "all",
    "all": "any",
    "min": "max",
    "max": "min",
    "sorted": _UNSORTED,
    "reversed": "list",
}


class _Replace(Operator):
    """Replace a node by a text: a subclass tells by which, or None where it has nothing to do."""

    def text(self, node):
        raise NotImplementedError

    def mutation_positions(self, node):
        if self.text(node) is not None:
            yield node.start_pos, node.end_pos

    def mutate(self, node, index):  # noqa: ARG002
        return Name(self.text(node), node.start_pos, prefix=node.get_first_leaf().prefix)

    @classmethod
    def examples(cls):
        return ()


class OtherCall(_Replace):
    """`any` for `all`, `min` for `max` and back; what was sorted or reversed is left as it comes."""

    def text(self, node):
        called = node.type == "name" and (after := node.get_next_sibling()) and after.type == "trailer"
        return _OTHER_CALL.get(node.value) if called and after.children[0] == "(" else None


class OtherMembership(_Replace):
    """`in` for `not in` and back."""

    def text(self, node):
        if node.type == "comp_op" and node.children[0] == "not":
            return "in"
        within = node.parent and node.parent.type == "comparison"
        return "not in" if within and node.type == "keyword" and node.value == "in" else None


class NoKeywordArgument(_Replace):
    """`f(a, key=b)` without its keyword: the default."""

    def text(self, node):
        return "**{}" if node.type == "argument" and node.children[1] == "=" else None


class NoStatement(_Replace):
    """`lines.append(line)`, `raise` or `yield` that is not there."""

    def text(self, node):
        alone = node.parent and node.parent.type == "simple_stmt"
        calls = node.type in {"atom_expr", "power"} and node.children[-1].type == "trailer"
        return "pass" if alone and (calls or node.type in {"raise_stmt", "yield_expr"}) else None


class NoText(_Replace):
    """A string, or the text between the braces of an f-string, that is empty."""

    def text(self, node):
        if node.type == "fstring_string":
            return ""
        if (
            node.type != "string"
            or node.parent.type == "simple_stmt"
            or not (text := ast.literal_eval(node.value))
        ):
            return None
        return repr(text[:0])


class NoCondition(_Replace):
    """A part of `a and b` or `a or b`, or the `if` of a comprehension, that is not asked."""

    def text(self, node):
        parent = node.parent
        if parent is None or node.type in {"keyword", "operator", "number", "string"}:
            return None
        if parent.type in {"and_test", "or_test"}:
            return str(parent.type == "and_test")
        return "True" if parent.type == "comp_if" and node is parent.children[1] else None


_OWN = {
    own.__name__: own
    for own in (OtherCall, OtherMembership, NoKeywordArgument, NoStatement, NoText, NoCondition)
}
OPERATOR_PROVIDERS["own"] = _OWN


def _core(prefix, changes):
    return [f"core/{prefix}{change}" for change in changes.split()]


_BINARY = (
    "Add_Sub Sub_Add Mul_Div Div_Mul FloorDiv_Mul Mod_FloorDiv Pow_Mul BitOr_BitAnd BitAnd_BitOr BitXor_BitOr"
)
_COMPARISONS = "Lt_LtE LtE_Lt Gt_GtE GtE_Gt Eq_NotEq NotEq_Eq Is_IsNot IsNot_Is"
KINDS = {
    "arithmetic": [*_core("ReplaceBinaryOperator_", _BINARY), "core/ReplaceUnaryOperator_USub_UAdd"],
    "comparison": [*_core("ReplaceComparisonOperator_", _COMPARISONS), "own/OtherMembership"],
    "negation": _core("", "AddNot ReplaceUnaryOperator_Delete_Not"),
    "and, or": _core("", "ReplaceAndWithOr ReplaceOrWithAnd"),
    "condition": ["own/NoCondition"],
    "number": ["core/NumberReplacer"],
    "true, false": _core("", "ReplaceTrueWithFalse ReplaceFalseWithTrue"),
    "loop": _core("", "ZeroIterationForLoop ReplaceBreakWithContinue ReplaceContinueWithBreak"),
    "exception": ["core/ExceptionReplacer"],
    "decorator": ["core/RemoveDecorator"],
    "call": ["own/OtherCall"],
    "keyword": ["own/NoKeywordArgument"],
    "statement": ["own/NoStatement"],
    "text": ["own/NoText"],
}
"""Kind → operators. A sample takes from each in turn: drawn by number, a third of the faults would be texts."""


def left_out(tree):
    """The ranges of a module in which a fault changes nothing: annotations, imports for types, names of types, guards against ourselves."""
    for node in ast.walk(tree):
        if isinstance(node, (ast.AnnAssign, ast.arg)):
            yield node.annotation
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield node.returns
        elif (
            (isinstance(node, ast.keyword) and node.arg in {"frozen", "slots", "strict"})
            or (isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING")
            or (isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__")
        ):
            yield node
        elif isinstance(node, ast.Call) and ast.unparse(node.func) == "cast":
            yield node.args[0]
        elif (isinstance(node, ast.Call) and ast.unparse(node.func) == "TypeVar") or (
            isinstance(node, ast.Subscript) and ast.unparse(node.value) in {"Literal", "pytest.StashKey"}
        ):
            yield node
        elif isinstance(node, ast.Call) and ast.unparse(node.func) in {"cut", "listed", "quote"}:
            yield from node.args[1:]  # how many characters or things are shown
