"""Tell how a session ended: as a value, as a sentence for people, and as the exit code of the program."""

from dataclasses import dataclass, field

import ttt_net
from ttt_net.client.finding.address import site_of
from ttt_net.client.json_lines import summary_line
from ttt_net.client.options import Options
from ttt_net.client.user_io import complain, write_text
from ttt_net.errors import Code
from ttt_net.programs import SERVE
from ttt_net.sdk.events import Farewell, Parting
from ttt_net.sdk.matches import Tally

_VERSION_CLASH = (
    f"This is ttt_net {ttt_net.__version__}: install the version that the server has, or play in a browser at {{site}}"
)
OK, FAULT, USAGE, NETWORK, REFUSED = range(5)
"""Exit codes: fine, a fault of ours, started wrongly, the network, refused by the server."""


@dataclass(frozen=True, slots=True)
class Ending:
    """How a session ended: the server's farewell if there was one, the last sentence, what was won and lost."""

    farewell: Farewell | None
    sentence: str = ""
    tally: Tally = field(default_factory=Tally)
    is_going_back: bool = False
    """Whether the person wants to go somewhere else."""
    is_serving_on: bool = False
    """Whether the server of their own is to go on without them."""


def report(options: Options, ending: Ending) -> int:
    """Say how a session ended, people's words to where people look, and return the exit code."""
    if options.is_json:
        write_text(summary_line(ending.tally))
    elif ending.sentence:
        print(ending.sentence)
    return complain_of(options, ending.farewell)


def _advice(options: Options) -> str:
    if options.join:
        return "or use another address of that server, if it has several: the code is good at each"
    return f"or start a server with: {SERVE}"


def complain_of(options: Options, farewell: Farewell | None) -> int:
    """Complain of what kept us from what we came for, if anything did, and return the exit code."""
    if farewell is None or farewell.why is Parting.DONE:
        return OK
    if farewell.why is Parting.UNREACHABLE:
        complain(
            f"cannot reach {options.url}: {farewell.sentence}. Check the address and the firewall, {_advice(options)}"
        )
        return NETWORK
    if farewell.why is Parting.DISTRUSTED:
        complain(f"{options.url}: {farewell.sentence}")
        return NETWORK
    clash = f". {_VERSION_CLASH.format(site=site_of(options.url))}" if farewell.code == Code.BAD_PROTOCOL else ""
    complain(f"{farewell.sentence}{clash}")
    return REFUSED
