"""Makes copies of C++ sources in which each comparison, logical operator, bound, integer constant, `if` and call statement
can be changed at run time by number.

A site is one change. Clang's syntax tree gives its place; the copy contains both the original and the changed text:
`(::onnxar::mutate::on(17) ? (a <= b) : (a < b))`. Only one site is active in a process, so the changed text needs no sites
of its own. Not changed, but counted: texts from macros, constant expressions (static_assert, constexpr, case labels,
template arguments), what only words an error message, and calls that only reserve memory.
"""

import dataclasses
import pathlib
import re
import subprocess
from collections.abc import Iterator

from clang import cindex
from clang.cindex import Cursor, CursorKind, TypeKind
from copies import Change, Site, Source, Writer, squeeze

FLIPPED = {"<": "<=", "<=": "<", ">": ">=", ">=": ">"}
COMPARISONS = {*FLIPPED, "==", "!="}
# A shift of the operator moves the bound by one in one direction; this moves a constant right operand in the other.
OTHER_WAY = {"<": "-", "<=": "+", ">": "+", ">=": "-"}
MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
LOGICAL = {"&&": "true", "||": "false"}
WORDING = {"concat", "hex", "quoted", "throw_error"}
CAPACITY = {"reserve", "shrink_to_fit"}
INTEGERS = {TypeKind.INT, TypeKind.UINT, TypeKind.LONG, TypeKind.ULONG, TypeKind.LONGLONG, TypeKind.ULONGLONG,
            TypeKind.SHORT, TypeKind.USHORT, TypeKind.UCHAR, TypeKind.SCHAR}
FUNCTIONS = {CursorKind.FUNCTION_DECL, CursorKind.CXX_METHOD, CursorKind.CONSTRUCTOR, CursorKind.DESTRUCTOR,
             CursorKind.FUNCTION_TEMPLATE, CursorKind.CONVERSION_FUNCTION}
CLASSES = {CursorKind.STRUCT_DECL, CursorKind.CLASS_DECL, CursorKind.CLASS_TEMPLATE,
           CursorKind.CLASS_TEMPLATE_PARTIAL_SPECIALIZATION}
REFERENCES = {CursorKind.DECL_REF_EXPR, CursorKind.MEMBER_REF_EXPR, CursorKind.TYPE_REF, CursorKind.TEMPLATE_REF}
NUMBER = re.compile(r"(0[xX][0-9a-fA-F']+|[0-9][0-9']*)[uUlLzZ]*")
BITWISE = {"&", "|", "^", "&=", "|="}
TRANSPARENT = {CursorKind.PAREN_EXPR, CursorKind.UNARY_OPERATOR, CursorKind.INIT_LIST_EXPR, CursorKind.UNEXPOSED_EXPR,
               CursorKind.CXX_FUNCTIONAL_CAST_EXPR}  # around an operand
LOOPS = {CursorKind.WHILE_STMT: 0, CursorKind.DO_STMT: 1}


@dataclasses.dataclass(frozen=True)
class Context:
    """What encloses the node that is visited."""

    function: str = ""
    excluded: str = ""  # why no site may be here
    constant_done: bool = False  # the constant is the operand of a comparison, which moves it
    cast: str = ""
    mask: bool = False  # an operand of a bitwise operator: `+ 1` might set a bit that other checks refuse


def is_constexpr(declaration: Cursor) -> bool:
    words = [token.spelling for _, token in zip(range(6), declaration.get_tokens())]
    return "constexpr" in words


def full_name(node: Cursor) -> str:
    """The name of a function or class with the classes around it."""
    names = [node.spelling.split("<")[0]]
    parent = node.semantic_parent
    while parent is not None and parent.kind in CLASSES:
        names.append(parent.spelling.split("<")[0])
        parent = parent.semantic_parent
    return "::".join(reversed(names))


def extent(node: Cursor) -> tuple[int, int]:
    return node.extent.start.offset, node.extent.end.offset


def inner(node: Cursor) -> Cursor:
    """The node without implicit conversions around it, which have the same extent."""
    while node.kind == CursorKind.UNEXPOSED_EXPR:
        below = list(node.get_children())
        if len(below) != 1 or extent(below[0]) != extent(node):
            break
        node = below[0]
    return node


def bare(node: Cursor) -> Cursor:
    """The node without implicit conversions and parentheses."""
    node = inner(node)
    while node.kind == CursorKind.PAREN_EXPR:
        node = inner(next(node.get_children()))
    return node


class Finder:
    """Walks the syntax tree of one unit, and adds changes to the sources that it meets."""

    def __init__(self, sources: dict[str, Source]) -> None:
        self.sources = sources
        self.source: Source

    # --- visiting ---

    def unit(self, unit: cindex.TranslationUnit) -> None:
        for node in unit.cursor.get_children():
            file = node.location.file
            source = self.sources.get(str(file)) if file else None
            if source is None:
                continue
            self.source = source
            if node.kind == CursorKind.MACRO_INSTANTIATION:
                source.macros.append(extent(node))
            elif not node.kind.is_preprocessing():
                self.visit(node, Context())

    def visit(self, node: Cursor, context: Context) -> None:
        kind = node.kind
        if str(node.extent.start.file) != str(self.source.path) or str(node.extent.end.file) != str(self.source.path):
            return  # written in another file, as default arguments are
        if kind in FUNCTIONS or kind in CLASSES:
            context = Context(function=full_name(node))
        elif kind == CursorKind.NAMESPACE:
            context = Context()
        elif why := self.exclusion(node):
            context = dataclasses.replace(context, excluded=context.excluded or why)
        self.sites(node, context)
        for child, below in self.children(node, context):
            self.visit(child, below)

    def children(self, node: Cursor, context: Context) -> Iterator[tuple[Cursor, Context]]:
        """The children with their contexts; `context` without what holds for this node alone."""
        plain = dataclasses.replace(context, constant_done=False, cast="", mask=self.is_mask(node, context))
        constant = dataclasses.replace(plain, excluded=context.excluded or "constant")
        kind, below = node.kind, list(node.get_children())
        for index, child in enumerate(below):
            if kind == CursorKind.CASE_STMT and index == 0:
                yield child, constant
            elif kind == CursorKind.UNEXPOSED_EXPR and len(below) == 1 and extent(child) == extent(node):
                cast = context.cast or (node.type.get_canonical().spelling if node.type.get_canonical().kind in INTEGERS else "")
                yield child, dataclasses.replace(plain, constant_done=context.constant_done, cast=cast)
            elif kind in REFERENCES and child.kind not in REFERENCES and child.kind == CursorKind.INTEGER_LITERAL:
                yield child, constant  # a template argument
            elif kind in {CursorKind.VAR_DECL, CursorKind.FIELD_DECL, *FUNCTIONS} and child.extent.end.offset <= node.location.offset:
                yield child, constant  # a template argument in the type
            elif kind == CursorKind.FIELD_DECL and inner(child).kind == CursorKind.INTEGER_LITERAL and self.source_of(child) == "0":
                yield child, dataclasses.replace(plain, excluded="initial 0")
            elif self.comparison(node) and self.is_bound(node, child):
                yield child, dataclasses.replace(plain, constant_done=True)
            else:
                yield child, plain

    def is_mask(self, node: Cursor, context: Context) -> bool:
        if node.kind in {CursorKind.BINARY_OPERATOR, CursorKind.COMPOUND_ASSIGNMENT_OPERATOR}:
            return self.operator(node) in BITWISE
        return context.mask and node.kind in TRANSPARENT

    def exclusion(self, node: Cursor) -> str:
        """Why nothing below the node may be changed; empty if it may."""
        kind = node.kind
        if kind in {CursorKind.STATIC_ASSERT, CursorKind.ENUM_DECL, CursorKind.CXX_UNARY_EXPR}:
            return "constant"
        if kind in {CursorKind.VAR_DECL, CursorKind.FIELD_DECL} and (is_constexpr(node) or node.is_bitfield()):
            return "constant"
        if kind == CursorKind.CXX_THROW_EXPR or (kind == CursorKind.CALL_EXPR and node.spelling in WORDING):
            return "message"
        return ""

    # --- sites ---

    def sites(self, node: Cursor, context: Context) -> None:
        kind = node.kind
        if kind == CursorKind.INTEGER_LITERAL or (kind == CursorKind.DECL_REF_EXPR and self.named_constant(node)):
            self.constant(node, context)
        elif self.comparison(node):
            self.compare(node, context)
        elif kind == CursorKind.BINARY_OPERATOR and self.operator(node) in LOGICAL:
            self.logical(node, context)
        elif kind == CursorKind.IF_STMT:
            self.branch(node, context)
        elif kind == CursorKind.CONDITIONAL_OPERATOR:
            self.condition(next(node.get_children()), context)
        elif kind in LOOPS:
            self.condition(list(node.get_children())[LOOPS[kind]], context)
        elif kind == CursorKind.COMPOUND_STMT:
            below = list(node.get_children())
            if len(below) == 1 and extent(node) in self.source.bodies:
                return  # to leave it out is the same as the `if` that never holds
            for child in below:
                self.statement(child, context)

    def change(self, node: Cursor, context: Context, changed: str, shown: str = "", cast: str = "bool") -> None:
        begin, end = extent(node)
        if context.excluded:
            self.source.exclude(context.excluded, begin, end)
        else:
            self.source.add(Change(begin, end, changed, shown or squeeze(changed), context.function, cast))

    def operands(self, node: Cursor) -> tuple[Cursor, Cursor] | None:
        """Both sides of an operator, built in or overloaded."""
        below = [child for child in node.get_children() if extent(child) != extent(node)]
        if node.kind == CursorKind.CALL_EXPR:
            below = [child for child in below if not inner(child).spelling.startswith("operator")
                     or extent(child)[1] - extent(child)[0] > 3]
        if len(below) != 2 or below[0].extent.end.offset > below[1].extent.start.offset:
            return None
        return below[0], below[1]

    def operator(self, node: Cursor) -> str:
        sides = self.operands(node)
        if sides is None:
            return ""
        return squeeze(self.source.text(sides[0].extent.end.offset, sides[1].extent.start.offset))

    def comparison(self, node: Cursor) -> bool:
        if node.kind == CursorKind.CALL_EXPR and not node.spelling.startswith("operator"):
            return False
        return node.kind in {CursorKind.BINARY_OPERATOR, CursorKind.CALL_EXPR} and self.operator(node) in COMPARISONS

    def named_constant(self, node: Cursor) -> bool:
        declaration = node.referenced
        return (declaration is not None and declaration.kind == CursorKind.VAR_DECL
                and declaration.type.get_canonical().kind in INTEGERS and is_constexpr(declaration))

    def is_constant(self, node: Cursor) -> bool:
        node = bare(node)
        return node.kind == CursorKind.INTEGER_LITERAL or (node.kind == CursorKind.DECL_REF_EXPR and self.named_constant(node))

    def is_bound(self, node: Cursor, child: Cursor) -> bool:
        """Whether `child` is a constant that `compare` moves, or one that must stay a literal, as in `a <=> b < 0`."""
        if not self.is_constant(child):
            return False
        return node.kind == CursorKind.CALL_EXPR or self.operator(node) in FLIPPED

    def source_of(self, node: Cursor) -> str:
        return self.source.text(*extent(node))

    def constant(self, node: Cursor, context: Context) -> None:
        own = node.type.get_canonical()
        if context.constant_done or own.kind not in INTEGERS:
            return
        text = self.source_of(node)
        if node.kind == CursorKind.INTEGER_LITERAL and not NUMBER.fullmatch(text):
            return  # `10ms`, or the 0 of a comparison that clang rewrote as `<=>`
        cast = context.cast or own.spelling.removeprefix("const ")
        self.change(node, context, f"{text} << 1" if context.mask else f"{text} + 1", cast=cast)

    def compare(self, node: Cursor, context: Context) -> None:
        left, right = self.operands(node) or (node, node)
        sign, a, b = self.operator(node), self.source_of(left), self.source_of(right)
        opposite = {"==": "!=", "!=": "==", "<": ">=", "<=": ">", ">": "<=", ">=": "<"}[sign]
        self.change(node, context, f"!({a} {sign} {b})", squeeze(f"{a} {opposite} {b}"))
        if sign not in FLIPPED:
            return
        self.change(node, context, f"{a} {FLIPPED[sign]} {b}")
        if node.kind == CursorKind.CALL_EXPR:
            return
        if self.is_constant(right) and not (OTHER_WAY[sign] == "-" and b == "0"):
            self.change(node, context, f"{a} {sign} {b} {OTHER_WAY[sign]} 1")
        if self.is_constant(left) and not (OTHER_WAY[MIRRORED[sign]] == "-" and a == "0"):
            self.change(node, context, f"{a} {OTHER_WAY[MIRRORED[sign]]} 1 {sign} {b}")

    def logical(self, node: Cursor, context: Context) -> None:
        """Each side is left out; sides that are neither comparison nor operator are also inverted."""
        neutral = LOGICAL[self.operator(node)]
        for side in self.operands(node) or ():
            self.change(side, context, neutral)
            self.condition(side, context)

    def condition(self, node: Cursor, context: Context) -> None:
        """Inverts a condition that has no sites of its own."""
        core, text = bare(node), self.source_of(node)
        negated = core.kind == CursorKind.UNARY_OPERATOR and text.startswith("!")
        below = bare(next(core.get_children())) if negated else core
        if below.kind == CursorKind.CXX_BOOL_LITERAL_EXPR:
            self.source.exclude("constant", *extent(node))  # `while (true)`
        elif below.kind.is_expression() and not self.comparison(below) and not self.operator_is_logical(below):
            self.change(node, context, f"!({text})", squeeze(text[1:] if negated else f"!{text}"))

    def operator_is_logical(self, node: Cursor) -> bool:
        return node.kind == CursorKind.BINARY_OPERATOR and self.operator(node) in LOGICAL

    def branch(self, node: Cursor, context: Context) -> None:
        """An `if` whose condition never holds."""
        below = list(node.get_children())
        has_else = len(below) > 2 and "else" in self.source.text(extent(below[-2])[1], extent(below[-1])[0]).split()
        at = len(below) - (3 if has_else else 2)
        condition = below[at]
        head = self.source.text(node.extent.start.offset, condition.extent.start.offset)
        if at > 0 and extent(below[at - 1])[1] > extent(condition)[0]:
            self.source.exclude("declaration as condition", *extent(condition))
        elif "constexpr" in head.split("(")[0]:
            self.source.exclude("constant", *extent(condition))
        elif not condition.kind.is_expression():
            self.source.exclude("declaration as condition", *extent(condition))
        else:
            self.change(condition, context, "false", squeeze(f"never {self.source_of(condition)}"))
            if not has_else:
                self.source.bodies.add(extent(below[-1]))
            self.condition(condition, context)

    def statement(self, node: Cursor, context: Context) -> None:
        """A call statement that is left out."""
        core = inner(node)
        if core.kind != CursorKind.CALL_EXPR or core.spelling.startswith("operator") and core.spelling != "operator()":
            return
        begin, end = extent(node)
        if context.excluded:
            return
        if core.spelling in CAPACITY:
            self.source.exclude("capacity", begin, end)
            return
        self.source.add(Change(begin, end, "", "removed", context.function, statement=True))


def resource_folder() -> str:
    """Where clang's own headers are."""
    return subprocess.run(["clang++-19", "-print-resource-dir"], check=True, capture_output=True, text=True).stdout.strip()


def parse(files: list[pathlib.Path], flags: list[str]) -> cindex.TranslationUnit:
    """All files as one unit, so that the headers are parsed once. As in joined builds, their names must not collide."""
    text = "".join(f'#include "{file}"\n' for file in files)
    arguments = ["-std=c++20", "-xc++", "-resource-dir", resource_folder(), *flags]
    unit = cindex.Index.create().parse("all.cc", arguments, [("all.cc", text)],
                                       cindex.TranslationUnit.PARSE_DETAILED_PROCESSING_RECORD)
    errors = [str(each) for each in unit.diagnostics if each.severity >= cindex.Diagnostic.Error]
    if errors:
        raise RuntimeError("clang cannot parse the sources:\n" + "\n".join(errors))
    return unit


@dataclasses.dataclass
class Instrumented:
    """The copies by file name, their sites, and what was left out: for each file the number for each reason."""

    copies: dict[str, str]
    sites: list[Site]
    excluded: dict[str, dict[str, int]]


def instrument(base: pathlib.Path, files: list[pathlib.Path], flags: list[str]) -> Instrumented:
    """Instruments headers and sources. Names are relative to `base`."""
    sources = {str(file): Source(file, str(file.relative_to(base))) for file in files}
    units = [file for file in files if file.suffix == ".cc"]
    Finder(sources).unit(parse(units, flags))
    writer = Writer()
    copies = {source.name: writer.copy(source) for source in sources.values()}
    excluded = {source.name: {why: len(places) for why, places in source.excluded.items()} for source in sources.values()}
    return Instrumented(copies, writer.sites, excluded)
