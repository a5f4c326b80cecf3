"""Leaves out of a script or a style sheet what only its readers need: comments, and spaces that part nothing.

Every name stays as it is. This is for the page's own modules, not for any script: statements end in semicolons, a
division has spaces around it, a regular expression begins with none, and a template literal holds no other. Tests
compare the syntax trees of all modules, and the rules of the style sheet, with what was written.
"""

import re
from collections.abc import Callable

_STRING = r'"(?:\\.|[^"\\])*"'
_TEMPLATE = r"`(?:\\.|[^`\\])*`"
_REGEX = r"/(?![*/\s])(?:\\.|\[(?:\\.|[^\]\\])*\]|[^/\\\[\n])+/[a-z]*"
_COMMENT = r"/\*.*?\*/"
_LINE_COMMENT = r"//[^\n]*"
_SCRIPT = re.compile(f"({_STRING}|{_TEMPLATE}|{_REGEX})|{_COMMENT}|{_LINE_COMMENT}", re.DOTALL)
_STYLE = re.compile(f"({_STRING})|{_COMMENT}", re.DOTALL)
_LITERAL = "\0"
_IN_TEMPLATE = re.compile(r"(?<=\$\{)[^{}]+(?=\})")

_SPACES = re.compile(r"\s+")
_PARTS_NOTHING = re.compile(r"(?<![\w$+-]) | (?![\w$+-])|(?<=[+-]) (?=[\w$])|(?<=[\w$]) (?=[+-])")
"""A space that stands neither between two words nor between two signs."""
_LAST_COMMA = re.compile(r",(?=[)\]}])")
_ONLY_PARAMETER = re.compile(r"(?<![\w$])\(([\w$]+)\)=>")
_CONST = re.compile(r"\bconst\b")
_BRACKET_OR_LET = re.compile(r"[([{]|[)\]}]|(;?)\b((?:export )?let)(?: |(?=[{\[]))|;")
_AROUND_STYLE = re.compile(r" ?([{};,>]) ?|(?<=:) ")
_ZERO = re.compile(r"(?<![\w.])0(?=\.\d)")


def squeezed_script(text: str) -> str:
    """Return a module that means the same, in fewer bytes."""
    return _squeezed(_SCRIPT, text, _squeeze_script).removesuffix(";")


def squeezed_style(text: str) -> str:
    """Return a style sheet that means the same, in fewer bytes."""
    return _squeezed(_STYLE, text, _squeeze_style)


def _squeezed(parts: re.Pattern[str], text: str, squeeze: Callable[[str], str]) -> str:
    """Squeeze what is neither literal nor comment."""
    literals = iter([_within(match[1]) for match in parts.finditer(text) if match[1]])
    code = parts.sub(lambda match: _LITERAL if match[1] else " ", text)
    squeezed = squeeze(_SPACES.sub(" ", code).strip())
    return re.sub(_LITERAL, lambda _: next(literals), squeezed)


def _within(literal: str) -> str:
    """Squeeze the expressions in a template literal."""
    if literal[0] != "`":
        return literal
    if "}" not in literal.rpartition("${")[2] and "${" in literal:
        raise ValueError(f"a template literal within another one, or braces that we cannot read: {literal}")
    return _IN_TEMPLATE.sub(lambda match: _squeezed(_SCRIPT, match[0], _squeeze_script), literal)


def _squeeze_script(code: str) -> str:
    code = _LAST_COMMA.sub("", _PARTS_NOTHING.sub("", code)).replace(";}", "}")
    return _declared_together(_CONST.sub("let", _ONLY_PARAMETER.sub(r"\1=>", code)))


def _declared_together(code: str) -> str:
    """Make `let a=1;let b=2` one declaration, and what is exported another."""
    declares = [""]  # the word with which the statement does, for each open bracket

    def replaced(match: re.Match[str]) -> str:
        found = match[0]
        if found in "([{":
            declares.append("")
        elif found in ")]}":
            declares.pop()
        elif match[1] and declares[-1] == match[2]:
            return ","
        else:
            declares[-1] = match[2] or ""
        return found

    return _BRACKET_OR_LET.sub(replaced, code)


def _squeeze_style(code: str) -> str:
    return _ZERO.sub("", _AROUND_STYLE.sub(r"\1", code).replace(";}", "}"))
