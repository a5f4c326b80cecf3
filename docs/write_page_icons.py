"""Write the raster icons of the page from icon.svg, with Chromium: python docs/write_page_icons.py, then make page.

`icon-192.png` and `icon-512.png` are for launchers, `icon-maskable.png` fills its square so that any shape can be cut
out of it, and `icon-apple.png` is the one that iOS asks for; it rounds the corners itself.
"""

import os
import re
import shutil
from pathlib import Path

from playwright.sync_api import sync_playwright

SOURCES = Path(__file__).parent.parent / "ttt_net" / "web" / "src"
ICONS = {"icon-192": (192, False), "icon-512": (512, False), "icon-maskable": (512, True), "icon-apple": (180, True)}
"""The side in pixels, and whether the icon fills its square."""


def main() -> None:
    """Draw each icon on a transparent page of its size, and keep the picture."""
    drawing = (SOURCES / "icon.svg").read_text(encoding="utf-8")
    options = ["--no-sandbox"] if os.geteuid() == 0 else []
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=options)
        for name, (side, is_full) in ICONS.items():
            svg = re.sub(r' rx="\d+"', "", drawing) if is_full else drawing
            page = browser.new_page(viewport={"width": side, "height": side})
            page.set_content(f"<style>body{{margin:0}}svg{{display:block;width:{side}px}}</style>{svg}")
            page.screenshot(path=SOURCES / f"{name}.png", omit_background=True)
        browser.close()


if __name__ == "__main__":
    main()
