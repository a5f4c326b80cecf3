"""What is sent means the same as what was written: the same syntax trees, the same rules of style.

In the trees it makes no difference whether names are declared at once, and whether by `const`: that none of these is
changed, the compiler of types sees to.
"""

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.page.place import Place
from tests.patience import PATIENCE_S
from ttt_net.server.wire.page import page_files, sources
from ttt_net.server.wire.squeeze import squeezed_script, squeezed_style

PARSER = Path(__file__).parent / "node_modules" / "acorn" / "dist" / "acorn.js"
TREE = """
const [,, parser, file] = process.argv;
const text = require("fs").readFileSync(file, "utf8");
const tree = require(parser).parse(text, { ecmaVersion: 2024, sourceType: "module" });
const each = (node, as) => node.declarations.map(one => as({ ...node, declarations: [one] }));
const apart = node => node?.type === "VariableDeclaration" ? each(node, alone => alone)
    : node?.declaration?.type !== "VariableDeclaration" ? node
    : each(node.declaration, alone => ({ ...node, declaration: alone }));
const plain = (key, value) => ["start", "end"].includes(key) ? undefined
    : Array.isArray(value) ? value.flatMap(apart) : value === "const" ? "let" : value;
console.log(JSON.stringify(tree, plain));
"""
RULES = """text => {
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(text);
    return [...sheet.cssRules].map(rule => rule.cssText.replaceAll(/,\\s+/g, ",").replaceAll(/\\b0(?=\\.)/g, ""));
}"""


def tree(text: str, folder: Path) -> str:
    """Return the syntax tree of a module, without the places of its nodes."""
    (folder / "tree.cjs").write_text(TREE, encoding="utf-8")
    (folder / "module.js").write_text(text, encoding="utf-8")
    command = ["node", str(folder / "tree.cjs"), str(PARSER), str(folder / "module.js")]
    return subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_S, check=True).stdout


def test_every_module_has_the_syntax_tree_that_was_written(tmp_path: Path) -> None:
    if not PARSER.exists() or shutil.which("node") is None:
        pytest.skip("needs a parser of scripts: npm install --prefix tests/page")
    written, sent = sources(), page_files()
    modules = [name for name in written if name.endswith(".js")]
    assert len(modules) > 10
    for name in modules:
        assert tree(sent[name], tmp_path) == tree(written[name], tmp_path), name


def test_the_browser_reads_the_rules_of_style_that_were_written(place: Place) -> None:
    ann = place.visitor()
    ann.page.goto(place.url)
    written = ann.page.evaluate(RULES, sources()["style.css"])
    assert len(written) > 50
    assert ann.page.evaluate(RULES, page_files()["style.css"]) == written


@pytest.mark.parametrize(
    ("written", "sent"),
    [
        ("const a = 1; // one\n", "let a=1"),
        ('say("a  // b", `c  ${d ? " e " : f}  /* g */`);\n', 'say("a  // b",`c  ${d?" e ":f}  /* g */`)'),
        ("a = b - -c + +d;\n", "a=b- -c+ +d"),
        ("const x = /[/ ] {2}/g.test(y) ? 1 / 2 : [1, 2,];\n", "let x=/[/ ] {2}/g.test(y)?1/2:[1,2]"),
        ("export const a = 1;\nconst b = 2;\nconst { c } = d;\n", "export let a=1;let b=2,{c}=d"),
        ("export const a = 1;\nexport let b = 2;\nf();\nexport let c;\n", "export let a=1,b=2;f();export let c"),
        ("async (a) => (b) => f(a)(b);\n", "async(a)=>b=>f(a)(b)"),
        ("class A { #b = 1; get c() { return typeof this.#b; } }\n", "class A{#b=1;get c(){return typeof this.#b}}"),
    ],
)
def test_a_module_keeps_its_texts_and_loses_its_spaces(written: str, sent: str) -> None:
    assert squeezed_script(written) == sent


def test_a_template_within_another_is_refused_and_not_spoilt() -> None:
    with pytest.raises(ValueError, match="within another"):
        squeezed_script("f(`${a.map((b) => `${b} c`)}.`);\n")


def test_a_style_sheet_keeps_its_texts_and_loses_its_spaces() -> None:
    written = '/* a */\n.b :hover,\n.c > p {\n  content: "d  { }";\n  width: calc(10px + 0.5rem);\n}\n'
    assert squeezed_style(written) == '.b :hover,.c>p{content:"d  { }";width:calc(10px + .5rem)}'
