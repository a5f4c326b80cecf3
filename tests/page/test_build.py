"""The built page is what its sources make; its languages say what English says. `make check` has types and linter."""

import json
import re
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.page.build import WEB, node
from ttt_net.errors import Refusal
from ttt_net.games.catalogue import NAMES
from ttt_net.games.rules import ELO, find_rules
from ttt_net.matches.match import OPENING_PLIES
from ttt_net.matches.referee import RATED_PLIES
from ttt_net.names import checked_name
from ttt_net.strategies.explanation import Explanation, ExplanationKind, MarkRow


def test_the_unit_tests_of_the_page_pass_in_node() -> None:
    done = node("test.mjs")
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_built_page_is_what_make_page_writes(tmp_path: Path) -> None:
    done = node("build.mjs", tmp_path, "--plain")
    assert done.returncode == 0, done.stderr
    built = {path.name: path for path in (WEB / "built").iterdir() if path.suffix != ".br"}
    fresh = {path.name: path for path in tmp_path.iterdir()}
    assert built.keys() == fresh.keys()
    for name, path in fresh.items():
        assert built[name].read_bytes() == path.read_bytes(), f"{name}: run `make page`"


def test_precompressed_files_equal_their_originals() -> None:
    script = """
        import { readFileSync, readdirSync } from "node:fs";
        import { brotliDecompressSync } from "node:zlib";
        for (const name of readdirSync("built").filter((each) => each.endsWith(".br"))) {
            const plain = readFileSync(`built/${name.slice(0, -3)}`);
            console.log(name, plain.equals(brotliDecompressSync(readFileSync(`built/${name}`))));
        }
    """
    lines = node("--input-type=module", "--eval", script).stdout.splitlines()
    assert len(lines) >= 2
    assert all(line.endswith(" true") for line in lines), lines


def test_every_language_says_all_that_english_says_with_the_same_gaps() -> None:
    script = """
        import { readFileSync, readdirSync } from "node:fs";
        import { transformSync } from "esbuild";
        const load = async (name) => {
            const { code } = transformSync(readFileSync(`src/words/${name}`, "utf8"), { loader: "ts" });
            const found = await import("data:text/javascript," + encodeURIComponent(code));
            return found.en ?? found.enMore ?? found.words;
        };
        const gaps = (text) => [...new Set(text.match(/\\{\\d\\}/g))].sort().join();
        const en = { ...(await load("en.ts")), ...(await load("en-more.ts")) };
        const same = ["comma", "stop", "because", "invitation", "bot", "nameOfBot", "chat", "chatLines", "actions"];
        for (const name of readdirSync("src/words").filter((each) => !each.startsWith("en"))) {
            const words = await load(name);
            const rules = new Intl.PluralRules(name.slice(0, 2)).resolvedOptions().pluralCategories;
            for (const [key, sentence] of Object.entries(en)) {
                const own = words[key];
                if (own === undefined && !same.includes(key)) console.log(name, "lacks", key);
                if (own === undefined || key === "titles" || key === "rules") continue;
                const each = typeof sentence === "string" ? { other: sentence } : sentence;
                const needed = rules.filter((rule) => ["one", "few", "other"].includes(rule));
                if ("other" in each && typeof own !== "string")
                    for (const rule of needed) if (!(rule in own)) console.log(name, key, "lacks", rule);
                for (const part in each) {
                    const said = typeof own === "string" ? own : own[part];
                    const isCounted = "other" in each && part === "one"; // "one move" needs no number
                    const isSame = !said || isCounted || gaps(said) === gaps(each[part]);
                    if (!isSame) console.log(name, key, part, "has other gaps");
                }
            }
            for (const key in words) if (!(key in en)) console.log(name, "has more:", key);
        }
    """
    done = node("--input-type=module", "--eval", script)
    assert (done.stdout, done.stderr) == ("", "")


def test_every_language_explains_every_game_and_names_the_same_moves() -> None:
    script = """
        import { readFileSync, readdirSync } from "node:fs";
        import { transformSync } from "esbuild";
        const found = {};
        for (const name of readdirSync("src/explained")) {
            const { code } = transformSync(readFileSync(`src/explained/${name}`, "utf8"), { loader: "ts" });
            found[name] = (await import("data:text/javascript," + encodeURIComponent(code))).explained;
        }
        console.log(JSON.stringify(found));
    """
    languages = json.loads(node("--input-type=module", "--eval", script).stdout)
    assert languages.keys() == {
        f"{path.name}" for path in (WEB / "src" / "words").iterdir() if not path.name.startswith("en")
    }
    for name, explained in languages.items():
        assert explained["pages"].keys() == set(NAMES), name
        assert all(map(len, [*explained["swap"], *explained["sized"]]))
        for game, said in explained["pages"].items():
            page = find_rules(game)
            meant = (page.goal, page.special, *page.tips, page.caption)
            assert len(said) == len(meant) == sum(map(bool, said)), f"{name}, {game}"
            assert moves_in(said) == moves_in(meant), f"{name}, {game}: say what English says now"


def test_every_language_gives_every_reason_with_what_it_names() -> None:
    script = """
        import { readFileSync, readdirSync } from "node:fs";
        import { transformSync } from "esbuild";
        const found = {};
        for (const name of readdirSync("src/explained")) {
            const { code } = transformSync(readFileSync(`src/explained/${name}`, "utf8"), { loader: "ts" });
            found[name] = (await import("data:text/javascript," + encodeURIComponent(code))).explained.why;
        }
        console.log(JSON.stringify(found));
    """
    slots = ("moves", "theirs", "row", "plies", "instead", "marks")
    given = Explanation(ExplanationKind.NOTHING, ("0",), ("1",), MarkRow(3, is_run=True), 5, instead=8)
    written = dict(zip(("0", "1", "three in a row", "in 3 moves", "of 4", "of three"), slots, strict=True))
    for name, why in json.loads(node("--input-type=module", "--eval", script).stdout).items():
        assert why["said"].keys() == set(ExplanationKind), name
        assert len(why["rows"]) == 5
        for kind, said in why["said"].items():
            english = given._replace(kind=ExplanationKind(kind)).in_words()
            named = {slot for text, slot in written.items() if re.search(rf"\b{text}\b", english)}
            assert {slots[int(gap)] for gap in re.findall(r"\{(\d)\}", said)} == named, f"{name}, {kind}"


def test_matches_are_too_short_for_the_page_and_the_server_alike() -> None:
    deck = (WEB / "src" / "deck.ts").read_text(encoding="utf-8")
    known = re.findall(r"const (?:OPENING|RATED)_PLIES = (\d+);", deck)
    assert known == [f"{OPENING_PLIES}", f"{RATED_PLIES}"]


def test_the_page_knows_how_strong_the_levels_are() -> None:
    found = re.findall(r"^  (\w+): \[(.*)\],$", (WEB / "src" / "levels.ts").read_text(encoding="utf-8"), re.MULTILINE)
    assert {game: tuple(map(int, points.split(", "))) for game, points in found} == ELO


def test_the_page_finds_the_same_fault_with_names_as_the_server() -> None:
    script = """
        import { build } from "esbuild";
        const stdin = { contents: 'export { faultOf } from "./src/names.ts";', resolveDir: ".", loader: "ts" };
        const { outputFiles } = await build({ stdin, bundle: true, write: false, format: "esm" });
        const { faultOf } = await import("data:text/javascript," + encodeURIComponent(outputFiles[0].text));
        console.log(JSON.stringify(process.argv.slice(1).map(faultOf)));
    """
    wrong = {
        "Ann!": "A name cannot contain “!”.",
        "_Ann": "A name must begin with a letter or a digit.",
        "Ann\u0430": "All letters must be of one script.",
        "A" * 21: "At most 20 letters; wide letters count twice.",
        "\u3042" * 11: "At most 20 letters; wide letters count twice.",
        "A": "At least 2 letters.",
    }
    right = ("José María", "Ægir Þórsdóttir", "\u3042\u6f22\u30a2", "Анна-2")
    told = json.loads(node("--input-type=module", "--eval", script, "--", *wrong, *right).stdout)
    assert told == [*wrong.values(), *[""] * len(right)]
    for name in wrong:
        with pytest.raises(Refusal):
            checked_name(name)
    for name in right:
        assert checked_name(name) == name


def moves_in(sentences: Sequence[str]) -> list[set[str]]:
    """Return what is the same in all languages, of each sentence: moves, sizes and large numbers."""
    written = r"(?:[1-9]:)?[XO]?[a-o][1-9][0-9]?(?![0-9])|[0-9](?:×[0-9])+|[0-9]{2,}|gomoku\+swap"
    return [set(re.findall(written, each, re.ASCII)) for each in sentences]
