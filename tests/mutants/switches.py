"""Rewrites C sources so that each of their mutants can be switched on when a program runs.

A mutant is a small fault in one line that tests should notice. To compile and link one takes many times as long as the
test that notices it. So all are compiled at once: each stands behind MUTANT(number), which is true in processes whose
environment has MUTANT=number, and which notes in the file MUTANTS_REACHED that the line was run.

Operands are evaluated once and in their order, also where a mutant is off, by GNU C's statement expressions and
__auto_type. What a macro makes is left alone, except for TRY, which is written out before.
"""
import re
import subprocess

from clang.cindex import Cursor, CursorKind, Index, StorageClass, TranslationUnit, TypeKind

COMPARISONS = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "=="}
ASSIGNMENTS = {"+=": "-=", "-=": "+=", "|=": "&="}
# Whether these are called is seen by leak checkers or by readers of logs.
UNOBSERVED = re.compile(r"(\(void\))?(log_\w+|\w*free|\w*release|\w*_close|\w*_drop|unlink|close|assert\w*|"
                        r"__builtin_\w+)\s*\(")
HEAD = """extern int mutant_on_;
extern unsigned char *mutants_reached_;
#define MUTANT(number) (mutants_reached_[number] = 1, mutant_on_ == (number))
#line 1
"""
SUPPORT = """#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static unsigned char unheard[%(size)d];
unsigned char *mutants_reached_ = unheard;
int mutant_on_ = 0;

__attribute__((constructor(101))) static void
begin(void)
{
    const char *on = getenv("MUTANT"), *path = getenv("MUTANTS_REACHED");
    mutant_on_ = on == NULL ? 0 : atoi(on);
    const int file = path == NULL ? -1 : open(path, O_RDWR | O_CREAT, 0666);
    if (file >= 0 && ftruncate(file, sizeof unheard) == 0) {
        void *shared = mmap(NULL, sizeof unheard, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        mutants_reached_ = shared == MAP_FAILED ? unheard : shared;
    }
    if (file >= 0) {
        (void)close(file);
    }
}
"""


def write_out_try(text):
    """The text with each statement TRY(e); as the code that it stands for, on the same lines."""
    out, at = [], 0
    for match in re.finditer(r"(?<![\w#] )\bTRY\(", text):
        depth, end = 1, match.end()
        while depth > 0:
            quoted = re.compile(r"\"(\\.|[^\"\\])*\"|'(\\.|[^'\\])+'").match(text, end)
            end = quoted.end() if quoted else end + 1
            depth += 0 if quoted else {"(": 1, ")": -1}.get(text[end - 1], 0)
        if match.start() < at or text[end:end + 1] != ";":
            continue
        out += [text[at:match.start()], "do { const enum status tried_ = (", text[match.end():end - 1],
                "); if (tried_) { return tried_; } } while (0);"]
        at = end + 1
    return "".join(out) + text[at:]


class Source:
    """One file. `add` is told line, kind and text of each mutant, and returns its number."""

    def __init__(self, path, arguments, add):
        self.add_mutant = add
        text = write_out_try(open(path).read())
        unit = Index.create().parse(path, arguments, [(path, text)],
                                    TranslationUnit.PARSE_DETAILED_PROCESSING_RECORD)
        errors = [str(d) for d in unit.diagnostics if d.severity >= d.Error]
        if errors:
            raise SystemExit(errors[0])
        self.bytes = text.encode()
        own = [c for c in unit.cursor.get_children() if c.location.file and c.location.file.name == path]
        self.macros = sorted(span(c) for c in own if c.kind == CursorKind.MACRO_INSTANTIATION)
        self.functions = [c for c in own if c.kind == CursorKind.FUNCTION_DECL and c.is_definition()]

    def rewritten(self):
        out, at = [HEAD], 0
        for function in self.functions:
            body = list(function.get_children())[-1]
            start, end = span(body)
            if start >= at:
                out += [self.raw(at, start), self.code(body)]
                at = end
        return "".join(out) + self.raw(at, len(self.bytes))

    def raw(self, start, end):
        return self.bytes[start:end].decode()

    def add(self, at, kind, text):
        return f"MUTANT({self.add_mutant(self.bytes.count(10, 0, at) + 1, kind, text)})"

    def of_macro(self, start, end):
        """Whether a macro makes it, or a part of it that is not within."""
        return any(a <= start and end <= b or a < start < b or a < end < b for a, b in self.macros)

    # ---- code of cursors ----

    def code(self, cursor):
        start, end = span(cursor)
        if end <= start or self.of_macro(start, end):
            return self.raw(start, end)
        children = list(cursor.get_children())
        return REWRITERS.get(cursor.kind, Source.parts)(self, cursor, children)

    def parts(self, cursor, children, code=None):
        """The cursor's code with that of its children in place."""
        start, end = span(cursor)
        out, at = [], start
        for child in children:
            a, b = span(child)
            if a < at or b > end or a == b: # a second declarator begins where its type does
                continue
            out += [self.raw(at, a), (code or self.code)(child)]
            at = b
        return "".join(out) + self.raw(at, end)

    def unchanged(self, cursor, _):
        return self.raw(*span(cursor))

    def call(self, cursor, children):
        builtin = self.raw(*span(cursor)).startswith("__builtin_") # whose arguments must be constant
        return self.unchanged(cursor, children) if builtin else self.parts(cursor, children)

    def block(self, cursor, children):
        return self.parts(cursor, children, self.statement)

    def case(self, cursor, children):
        label = children[0]
        return self.parts(cursor, children, lambda c: self.raw(*span(c)) if c == label else self.statement(c))

    def statement(self, cursor):
        start, end = span(cursor)
        raw = self.raw(start, end)
        if self.of_macro(start, end):
            return raw
        code = self.code(cursor)
        called = re.match(r"(\(void\))?[a-z_]\w*\(|do { const enum status tried_", raw)
        if cursor.kind in (CursorKind.CALL_EXPR, CursorKind.CSTYLE_CAST_EXPR, CursorKind.DO_STMT) and called:
            kind = None if UNOBSERVED.match(raw) or "log_" in raw else "call-removed"
        elif cursor.kind in (CursorKind.BINARY_OPERATOR, CursorKind.COMPOUND_ASSIGNMENT_OPERATOR,
                             CursorKind.UNARY_OPERATOR):
            kind = "assignment-removed"
        else:
            kind = None
        return f"if (!{self.add(start, kind, ';')}) {{ {code}; }}" if kind else code

    def condition(self, cursor, children):
        start, end = span(children[0])
        raw = self.raw(start, end)
        if raw == "tried_":
            return self.raw(*span(cursor))
        never, always = self.add(start, "guard-never", f"0 && ({raw})"), self.add(start, "guard-always", f"1 || ({raw})")
        return self.parts(cursor, children, lambda child: f"!{never} && ({always} || ({self.code(child)}))"
                          if child == children[0] else self.code(child))

    def answer(self, cursor, children):
        start, end = span(children[0]) if children else (0, 0)
        raw = self.raw(start, end)
        if raw in ("true", "false"):
            other = {"true": "false", "false": "true"}[raw]
            return f"return {self.add(start, 'return', other)} ? {other} : {raw}"
        if raw == "STATUS_OK":
            return f"return {self.add(start, 'return', 'STATUS_BAD_INPUT')} ? STATUS_BAD_INPUT : STATUS_OK"
        if re.match(r"STATUS_|status$|status_fail", raw):
            return f"return {self.add(start, 'return', 'STATUS_OK')} ? STATUS_OK : ({self.code(children[0])})"
        if children and "?" not in raw and re.search(r"&&|\|\||[!=<>]=| [<>] ", re.sub(r'"(\\.|[^"\\])*"', "", raw)):
            code = self.code(children[0])
            return f"return {self.add(start, 'return', f'!({raw})')} ? !({code}) : ({code})"
        return self.parts(cursor, children)

    def variable(self, cursor, children):
        start, end = span(cursor)
        value = self.bytes.find(b"=", start, end)
        if value < 0 or cursor.storage_class == StorageClass.STATIC:
            return self.raw(start, end)
        return self.parts(cursor, [child for child in children if span(child)[0] > value])

    def binary(self, _, children):
        left, right = children
        at, operator = span(left)[1], self.operator(left, right)
        other = COMPARISONS.get(operator, {"&&": "||", "||": "&&", "+": "-", "-": "+"}.get(operator))
        if other is None or operator in "+-" and is_pointer(right):
            return f"{self.code(left)} {operator} {self.code(right)}"
        mutant = self.add(at, "compare" if operator in COMPARISONS else "and-or" if operator in ("&&", "||")
                          else "plus-minus", f"{operator} => {other}")
        name = re.sub(r"\D", "", mutant)
        if operator in ("&&", "||"):
            b = self.code(right)
            return (f"({{ const _Bool left{name} = ({self.code(left)}) ? 1 : 0; "
                    f"{mutant} ? left{name} {other} ({b}) : left{name} {operator} ({b}); }})")
        return (f"({{ __auto_type left{name} = {self.operand(left)}; __auto_type right{name} = {self.operand(right)}; "
                f"{mutant} ? left{name} {other} right{name} : left{name} {operator} right{name}; }})")

    def operator(self, left, right):
        return re.sub(r"/\*.*?\*/", "", self.raw(span(left)[1], span(right)[0]), flags=re.S).strip()

    def operand(self, cursor):
        """A bit field has no type of its own."""
        within = cursor
        while within.kind in (CursorKind.UNEXPOSED_EXPR, CursorKind.PAREN_EXPR):
            within = next(within.get_children(), None) or Cursor()
        field = within.referenced if within.kind == CursorKind.MEMBER_REF_EXPR else None
        return f"({self.code(cursor)})" + (" + 0" if field is not None and field.is_bitfield() else "")

    def assignment(self, cursor, children):
        left, right = children
        operator = self.operator(left, right)
        other = ASSIGNMENTS.get(operator)
        if other is None:
            return self.parts(cursor, children)
        place, value = self.raw(*span(left)), self.code(right)
        mutant = self.add(span(left)[1], "plus-minus", f"{operator} => {other}")
        return f"({mutant} ? ({place} {other} {value}) : ({place} {operator} {value}))"

    def unary(self, cursor, children):
        start, end = span(cursor)
        a, b = span(children[0])
        operator = self.raw(start, a).strip() or self.raw(b, end).strip()
        if operator not in ("++", "--"):
            return self.parts(cursor, children)
        other = {"++": "--", "--": "++"}[operator]
        place, mutant = self.raw(a, b), self.add(start, "plus-minus", f"{operator} => {other}")
        return (f"({mutant} ? {other}{place} : {operator}{place})" if a > start
                else f"({mutant} ? {place}{other} : {place}{operator})")

    def number(self, cursor, _):
        start, end = span(cursor)
        raw = self.raw(start, end)
        if not raw.isdigit() or re.search(rb"\[\w*$", self.bytes[:start]): # a designator must be constant
            return raw
        return f"({self.add(start, 'constant', str(int(raw) + 1))} ? {int(raw) + 1} : {raw})"


REWRITERS = {
    CursorKind.BINARY_OPERATOR: Source.binary,
    CursorKind.CALL_EXPR: Source.call,
    CursorKind.CASE_STMT: Source.case,
    CursorKind.COMPOUND_ASSIGNMENT_OPERATOR: Source.assignment,
    CursorKind.COMPOUND_STMT: Source.block,
    CursorKind.CXX_UNARY_EXPR: Source.unchanged, # sizeof
    CursorKind.DEFAULT_STMT: Source.block,
    CursorKind.ENUM_DECL: Source.unchanged,
    CursorKind.IF_STMT: Source.condition,
    CursorKind.INTEGER_LITERAL: Source.number,
    CursorKind.RETURN_STMT: Source.answer,
    CursorKind.STRUCT_DECL: Source.unchanged,
    CursorKind.TYPE_REF: Source.unchanged,
    CursorKind.UNARY_OPERATOR: Source.unary,
    CursorKind.VAR_DECL: Source.variable,
}


def span(cursor):
    return cursor.extent.start.offset, cursor.extent.end.offset


def is_pointer(cursor):
    return cursor.type.get_canonical().kind in (TypeKind.POINTER, TypeKind.CONSTANTARRAY, TypeKind.INCOMPLETEARRAY)


def rewrite(paths, includes):
    """Rewrites the files. Returns path, line, kind and text of each mutant; their numbers count from 1."""
    builtin = subprocess.run(["clang", "-print-resource-dir"], capture_output=True, text=True, check=True).stdout.strip()
    mutants = []
    for path in paths:
        def add(line, kind, text, path=path):
            mutants.append((path, line, kind, " ".join(text.split())))
            return len(mutants)
        code = Source(path, ["-std=c17", "-D_GNU_SOURCE", "-I.", "-resource-dir", builtin] + includes, add).rewritten()
        with open(path, "w") as out:
            out.write(code)
    return mutants
