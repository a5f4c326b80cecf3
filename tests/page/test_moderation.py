"""A player is reported from the page, and reads there what the host decides."""

import json
import subprocess
import sys
from typing import Any

from tests.end_to_end.process import ROOT
from tests.page.place import SMALL_PHONE, Place, wait_for
from tests.patience import PATIENCE_S


def asked(place: Place, *words: str) -> dict[str, Any]:
    """Return what `ttt_net admin` answers."""
    line = [sys.executable, "-m", "ttt_net", "admin", "--data", str(place.data), "--json", *words]
    done = subprocess.run(line, cwd=ROOT, capture_output=True, text=True, timeout=PATIENCE_S, check=True)
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def test_a_report_from_a_match_reaches_the_host_and_a_mute_is_announced(place: Place) -> None:
    rude, other = place.pair(**SMALL_PHONE)
    for visitor in (rude, other):
        visitor.page.locator("summary", has_text="Chat").click()
    rude.page.get_by_label("To your opponent").fill("you are a fool")
    rude.press("Send")
    other.page.locator(".spoken", has_text="you are a fool").wait_for()
    name = other.page.locator(".spoken bdi").first.inner_text()
    other.page.locator("summary", has_text=f"Report {name}").click()
    other.press("What they write")
    other.page.locator(".toast", has_text="Thank you").wait_for()
    detail = json.dumps(asked(place, "reports", "show", "1"))
    assert "you are a fool" in detail
    place.administer("reports", "close", "1", "--mute", "--for", "5m", "--reason", "be kind")
    rude.page.locator(".chat .trouble", has_text="Nobody sees what you write").wait_for()
    assert "Reason: Be kind." in rude.page.locator(".chat .trouble").inner_text()
    assert rude.page.get_by_label("To your opponent").count() == 0
    assert rude.page.evaluate("document.scrollingElement.scrollWidth") <= 320
    place.administer("unmute", name)
    rude.page.locator(".toast", has_text="can see what you write again").wait_for()
    rude.sees(".chat .trouble", 0)
    rude.page.get_by_label("To your opponent").wait_for()
    rude.page.evaluate(  # before, or it may have run out when it is looked for
        """() => new MutationObserver(() => { window.wasMute ||= !!document.querySelector(".chat .trouble") })
            .observe(document.body, { childList: true, subtree: true })"""
    )
    place.administer("mute", name, "--for", "2s")
    wait_for(lambda: rude.page.evaluate("window.wasMute === true"), rude)
    rude.page.get_by_label("To your opponent").wait_for()  # it has run out
