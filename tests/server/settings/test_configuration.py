"""Flags over environment over a file over the defaults; what is wrong is refused in one line with its place."""

import re
import socket
import tomllib
from pathlib import Path

import pytest

from ttt_net.errors import ConfigurationError
from ttt_net.server.settings.configuration import METAVARS, SETTINGS, Configuration, Limits, Rate, Setting
from ttt_net.server.settings.sources import NOT_OURS, as_file, read_order, value_of

ROOT = Path(__file__).parent.parent.parent.parent
OTHER = {bool: "yes", int: "4567", float: "7.5", str: "other", Path | None: "/tmp/other", Rate: "7/9min"}
"""A value of each type that is no default."""


CHECKED = {
    "games.rated": "hex, othello",
    "public_url": "wss://play.example.org",
    "node": "one",
    "cluster.ledger": "nats://one:4222, tls://two:4222",
    "cluster.stream": "another",
}
"""A value for each setting that takes no other text or list."""


def other(one: Setting) -> str:
    """Return another value than the default, as a text."""
    if one.choices:
        return next(choice for choice in one.choices if choice != one.default)
    if one.is_truth:
        return "no" if one.default else "yes"
    if one.kind in (int, float):
        return str(int(one.least) + 1 if int(one.least) + 1 != one.default else int(one.least) + 2)
    if one.key in CHECKED:
        return CHECKED[one.key]
    return "192.0.2.1, 192.0.2.128/25" if one.kind == tuple[str, ...] else OTHER[one.kind]


def flags(one: Setting) -> list[str]:
    """Return the arguments that give the setting that other value."""
    if one.is_truth:
        return [one.flag.replace("--", "--no-") if one.default else one.flag]
    return [one.flag, other(one)]


@pytest.mark.parametrize(
    ("is_public", "asked", "may_rate"),
    [(False, None, True), (True, None, False), (True, True, True), (False, False, False)],
)
def test_two_players_of_one_address_play_for_ratings_except_on_a_public_server(
    asked: bool | None, *, is_public: bool, may_rate: bool
) -> None:
    limits = Limits(rated_same_address=asked)
    assert Configuration(public=is_public, limits=limits).rates_same_address == may_rate
    assert read_order([], {"TTT_NET_LIMITS_RATED_SAME_ADDRESS": ""}).configuration.limits.rated_same_address is None


def test_without_arguments_every_setting_has_its_default() -> None:
    order = read_order([], {})
    assert order.configuration == Configuration()
    assert not order.is_print


@pytest.mark.parametrize("one", SETTINGS, ids=lambda one: one.key)
def test_each_setting_is_read_from_flag_environment_and_file_alike(one: Setting, tmp_path: Path) -> None:
    assert one.kind in METAVARS
    assert one.read(other(one)) != one.default
    by_flag = read_order(flags(one), {}).configuration
    assert value_of(by_flag, one) == one.read(other(one))
    assert read_order([], {one.variable: other(one)}).configuration == by_flag
    file = tmp_path / "server.toml"
    file.write_text(as_file(by_flag))
    assert read_order(["--config", str(file)], {}).configuration == by_flag
    assert read_order([], {"TTT_NET_CONFIG": str(file)}).configuration == by_flag
    assert [each.key for each in SETTINGS if value_of(by_flag, each) != each.default] == [one.key]


def test_a_password_in_an_address_is_neither_printed_nor_sent(tmp_path: Path) -> None:
    servers = "tls://node:SECRET@one:4222,nats://node:SECRET@two"
    printed = as_file(read_order(["--cluster-ledger", servers], {}).configuration)
    assert "# Users and passwords are left out here; add them." in printed
    assert 'ledger = ["tls://one:4222", "nats://two"]' in printed
    assert "SECRET" not in printed
    for wrong in (
        "nat://node:SECRET@one",
        "tls://node:SECRET/x@one",
        "tls://node:x/SECRET@one",
        "tls://a:SECRET@one:x",
    ):
        with pytest.raises(ConfigurationError, match="is no server of NATS; write nats://HOST:4222") as raised:
            read_order(["--cluster-ledger", wrong], {})
        assert "SECRET" not in str(raised.value)


def test_a_flag_wins_over_the_environment_and_that_over_the_file(tmp_path: Path) -> None:
    file = tmp_path / "server.toml"
    file.write_text('port = 1\nhost = "file"\nname = "file"\n[limits]\ncodes = "1/s"\n')
    environment = {"TTT_NET_CONFIG": str(file), "TTT_NET_PORT": "2", "TTT_NET_HOST": "environment", "PATH": "/bin"}
    found = read_order(["--port", "3"], environment).configuration
    assert (found.port, found.host, found.name, found.limits.codes) == (3, "environment", "file", Rate(1))


@pytest.mark.parametrize(
    ("arguments", "environment", "file", "complaint"),
    [
        (["--prot", "1"], {}, "", "there is no option --prot; did you mean --port; see server.py --help"),
        (["--por", "1"], {}, "", "there is no option --por; did you mean --port; see server.py --help"),
        (["--port"], {}, "", "--port: expected one argument; see server.py --help"),
        (["--port", "x"], {}, "", "--port: 'x' is no whole number"),
        (["--port", "65536"], {}, "", "--port: 65536 is out of range; 0 to 65,535"),
        (["--port=-1"], {}, "", "--port: -1 is out of range; 0 to 65,535"),
        (["--rate", "0"], {}, "", "--rate 0: a number of messages per second, 1 to 1,000,000"),
        (["--rate", "nan"], {}, "", "--rate nan: a number of messages per second, 1 to 1,000,000"),
        (["--name", "a\x1b[2J"], {}, "", "--name: 'a\\x1b[2J' has control characters"),
        (["--limits-handshake-s", "nan"], {}, "", "--limits-handshake-s: nan is out of range; 0.05 to 60"),
        (["chekc"], {}, "", "there is no word chekc; see server.py --help"),
        ([], {"TTT_NET_PORT": ""}, "", "TTT_NET_PORT: '' is no whole number"),
        ([], {"TTT_NET_PROT": "1"}, "", "TTT_NET_PROT: there is no such setting; server.py --print-config lists them"),
        ([], {}, "prot = 1", "FILE: prot: there is no such setting; server.py --print-config lists them"),
        ([], {}, "[limits]\nport = 1", "FILE: limits.port: there is no such setting; server.py --print-config lists"),
        ([], {}, "[limit]\ncodes = 1", "FILE: limit: there is no such setting; server.py --print-config lists them"),
        ([], {}, 'port = "x"', "FILE: port: 'x' is no whole number"),
        ([], {}, "port = 1.5", "FILE: port: 1.5 is no whole number"),
        ([], {}, "port = true", "FILE: port: True is no whole number"),
        ([], {}, "host = 1", "FILE: host: 1 is no text; write it in quotation marks"),
        ([], {}, "host = [1]", "FILE: host: [1] is no text; write it in quotation marks"),
        ([], {}, '[limits]\ncodes = "often"', "FILE: limits.codes: 'often' is no rate; write 20/s, 10/min, 5/10s or"),
        (
            ["--public-url", "play.example"],
            {},
            "",
            "--public-url: 'play.example' is no address of a server; write wss://",
        ),
        (["--public-url", "wss://a/b"], {}, "", "--public-url: 'wss://a/b' is no address of a server"),
        (["--proxies", "a"], {}, "", "--proxies: 'a' does not appear to be an IPv4 or IPv6 network"),
        ([], {}, 'proxies = ["10.0.0.1/8"]', "FILE: proxies: 10.0.0.1/8 has host bits set"),
        ([], {}, "proxies = [1]", "FILE: proxies: [1] is no list of texts"),
        ([], {}, "port = ", "FILE: Invalid value (at end of document)"),
        ([], {}, "port = 1\nport = 2", "FILE: Cannot overwrite a value (at"),
        (["--config", "/nowhere/a.toml"], {}, "", "cannot read /nowhere/a.toml: No such file or directory"),
        (["--config", "/"], {}, "", "cannot read /: Is a directory"),
    ],
)
def test_errors_are_reported_in_one_line_with_the_place(
    tmp_path: Path, arguments: list[str], environment: dict[str, str], file: str, complaint: str
) -> None:
    path = tmp_path / "server.toml"
    path.write_text(file)
    with pytest.raises(ConfigurationError) as raised:
        read_order(["--config", str(path), *arguments], environment)
    said = str(raised.value).replace(str(path), "FILE")
    unquoted = said.replace("'", "")  # newer versions of argparse do without some
    assert unquoted.startswith(complaint.replace("'", ""))
    assert "\n" not in said


def test_a_file_that_is_no_text_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "server.toml"
    path.write_bytes(b"name = '\xff'")
    with pytest.raises(ConfigurationError, match=re.escape(str(path))):
        read_order(["--config", str(path)], {})


def helped(argument: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("COLUMNS", "80")
    with pytest.raises(SystemExit) as ended:
        read_order([argument], {})
    assert ended.value.code == 0
    return capsys.readouterr().out


def test_the_help_has_the_common_settings_and_says_where_the_others_are(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    short = helped("--help", capsys, monkeypatch)
    assert {each.flag for each in SETTINGS if re.search(rf"^  {each.flag}\b", short, re.MULTILINE)} == {
        each.flag for each in SETTINGS if each.is_common
    }
    assert len(short.splitlines()) <= 45
    assert "--help-all" in short
    assert "docs/configuration.md" in short


def test_the_whole_help_has_every_setting(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    whole = helped("--help-all", capsys, monkeypatch)
    assert all(re.search(rf"^  {each.flag}\b", whole, re.MULTILINE) for each in SETTINGS)
    assert "--rate" in whole


def test_the_old_flag_for_the_rate_still_works() -> None:
    assert read_order(["--rate", "50"], {}).configuration.limits.messages == Rate(100, 2.0)
    both = read_order(["--rate", "50", "--limits-messages", "7/s"], {}).configuration
    assert both.limits.messages == Rate(7)


def test_the_file_explains_each_setting_and_is_valid_toml() -> None:
    text = as_file(Configuration(name='a "b" \\ c', port=1))
    assert tomllib.loads(text) == {"name": 'a "b" \\ c', "port": 1, **{t: {} for t in {s.table for s in SETTINGS} if t}}
    for each in SETTINGS:
        assert f"# {each.help}\n" in text
        assert each.help[0].islower()
        assert not each.help.endswith(".")


def test_a_key_of_two_tables_has_two_flags() -> None:
    for names in ([each.flag for each in SETTINGS], [each.variable for each in SETTINGS]):
        assert len(names) == len(set(names))


def test_the_variable_of_a_setting_is_its_flag_in_capitals() -> None:
    assert [each.variable for each in SETTINGS] == [
        f"TTT_NET_{each.flag.removeprefix('--').upper().replace('-', '_')}" for each in SETTINGS
    ]


def test_every_other_variable_of_ours_is_known_not_to_be_a_setting() -> None:
    """A server refuses variables that look like settings, and must not refuse those that others read."""
    settings = {each.variable for each in SETTINGS}
    sources = [*ROOT.glob("ttt_net/**/*.py"), *ROOT.glob("tests/**/conftest.py")]
    read = {name for path in sources for name in re.findall(r'"(TTT_NET_[A-Z_]+)"', path.read_text(encoding="utf-8"))}
    assert read - settings <= NOT_OURS


@pytest.mark.parametrize("text", ["1/s", "20/s", "10/min", "5/10s", "100/h", "200/2s", "7/90min"])
def test_a_rate_reads_as_it_is_written(text: str) -> None:
    assert str(Rate.of(text)) == text


@pytest.mark.parametrize("text", ["", "5", "0/s", "-1/s", "5/0s", "1.5/s", "5/day", "5/s2", "٣/s", "5/99999s"])
def test_invalid_rates_are_rejected(text: str) -> None:
    with pytest.raises(ValueError, match="is no rate"):
        Rate.of(text)


def test_a_server_without_a_name_is_called_after_its_address_or_its_machine() -> None:
    assert Configuration(name="Ann's games", public_url="wss://play.example.org").title == "Ann's games"
    assert Configuration(public_url="wss://play.example.org:8443").title == "play.example.org"
    assert Configuration().title == f"Games on {socket.gethostname()}"
