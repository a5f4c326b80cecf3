"""The built page is what its sources make, and their types hold."""

from pathlib import Path

from tests.page.build import MODULES, WEB, node


def test_the_types_of_the_modules_hold() -> None:
    done = node(MODULES / "typescript" / "bin" / "tsc", "--project", "tsconfig.json")
    assert done.stdout == ""
    assert done.returncode == 0


def test_the_built_page_is_what_make_page_writes(tmp_path: Path) -> None:
    done = node("build.mjs", tmp_path)
    assert done.returncode == 0, done.stderr
    built = {path.name: path for path in (WEB / "built").iterdir()}
    fresh = {path.name: path for path in tmp_path.iterdir()}
    assert built.keys() == fresh.keys()
    for name, path in fresh.items():
        if not name.endswith(".br"):  # another version of brotli may pack otherwise
            assert built[name].read_bytes() == path.read_bytes(), f"{name}: run `make page`"


def test_what_was_compressed_beforehand_is_what_it_is_a_copy_of() -> None:
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
