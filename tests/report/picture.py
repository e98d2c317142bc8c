"""Writes one section of a report as a picture: picture.py REPORT SELECTOR OUT.png [dark]"""

import base64
import sys

from browser import Browser

MARGIN = 24


def main(report, selector, out, scheme="light"):
    with Browser() as browser:
        browser.open(report, dark=scheme == "dark")
        box = browser.evaluate(
            f"(r => r && [r.x + scrollX, r.y + scrollY, r.width, r.height])(document.querySelector({selector!r})?.getBoundingClientRect())"
        )
        if box is None:
            sys.exit(f"{report}: nothing matches {selector}")
        x, y, width, height = box
        clip = {
            "x": x - MARGIN,
            "y": y - MARGIN,
            "width": width + 2 * MARGIN,
            "height": height + 2 * MARGIN,
            "scale": 2,
        }
        image = browser.call("Page.captureScreenshot", clip=clip, captureBeyondViewport=True)["data"]
    with open(out, "wb") as file:
        file.write(base64.b64decode(image))


if __name__ == "__main__":
    if len(sys.argv) not in (4, 5):
        sys.exit(__doc__)
    main(*sys.argv[1:])
