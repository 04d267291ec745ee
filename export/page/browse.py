"""Opens reports of runs in Chromium, from disk, and checks what a reader meets. browse.py FOLDER AXE [HTML…]

PAGE_SHOTS names a folder for pictures: of each report at 1280 and 390 px, dark and light.
"""

import os
import pathlib
import shutil
import sys

from playwright.sync_api import expect, sync_playwright

NAMES = ["#state", "#step", "#loss", "#metric", "#rate", "figure#chart-loss table", "figure#chart-metric table",
         "figure#chart-rate table", "#ring", "#ranks", "#timeline"]

# What the page of each history must show.
STATES = {"finished": "finished", "failed": "failed", "running": "running", "silent": "ended without a word",
          "resumed": "finished", "two": "finished", "twenty": "running", "hostile": "failed", "empty": "ended without a word",
          "minute": "finished"}


class Browser:
    """One Chromium, a fresh page for each look."""

    def __init__(self, playwright):
        self.chromium = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        self.faults = []

    def open(self, url, width=1280, scheme="light"):
        page = self.chromium.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
        page.requests, page.quiet = [], False
        page.on("request", lambda request: page.requests.append(request.url))
        page.on("console", lambda said: self.fault(url, f"the console says: {said.text}") if said.type == "error" and not page.quiet else None)
        page.on("pageerror", lambda error: self.fault(url, f"the script fails: {error}"))
        page.goto(url)
        return page

    def fault(self, url, text):
        self.faults.append(f"{url.rsplit('/', 1)[-1]}: {text}")

    def want(self, page, holds, text):
        if not holds:
            self.fault(page.url, text)


def look(browser, file, axe):
    name = file.stem
    shots = os.environ.get("PAGE_SHOTS")
    for width in (1280, 390):
        for scheme in ("light", "dark") if shots else ("light",) if width == 1280 else ("dark",):
            page = browser.open(file.as_uri(), width, scheme)
            want = lambda holds, text: browser.want(page, holds, f"{width} px, {scheme}: {text}")
            want(not [r for r in page.requests if r != file.as_uri() and not r.startswith("data:")],
                 f"requests leave the browser: {page.requests}")
            scroll = page.evaluate("document.documentElement.scrollWidth")
            want(scroll <= width, f"the page is {scroll} px wide")
            page.evaluate(axe)
            for found in page.evaluate("axe.run({resultTypes: ['violations']})")["violations"]:
                want(False, f"axe: {found['id']}: {found['help']}: {[n['html'][:150] for n in found['nodes'][:3]]}")
            if shots:
                page.screenshot(path=f"{shots}/{name}-{width}-{scheme}.png", full_page=True)
            page.close()
    page = browser.open(file.as_uri())
    check(browser, page, name)
    page.close()


def check(browser, page, name):
    want = lambda holds, text: browser.want(page, holds, text)
    for selector in NAMES:
        want(page.locator(selector).count() == 1, f"has {page.locator(selector).count()} of {selector}, want 1")
    want(page.inner_text("#state") == STATES[name], f"#state is {page.inner_text('#state')!r}, want {STATES[name]!r}")
    for chart in ("loss", "metric", "rate"):
        rows = page.locator(f"#chart-{chart} tbody tr").count()
        want(rows <= 200 and (rows > 0 or name == "empty"), f"the table of {chart} has {rows} rows")
        want(page.locator(f"#chart-{chart} thead th").first.text_content() == "step", f"the table of {chart} does not begin with the step")
    ranks = page.locator("#ranks tr[data-rank]").count()
    want(page.locator("#ring [data-rank]").count() == ranks > 0, f"#ring and #ranks differ: {ranks} rows")
    if name == "twenty":
        want(ranks == 20, f"{ranks} ranks, want 20")
        want("rank 13 on host-c" in page.inner_text("#waits"), f"#waits says {page.inner_text('#waits')!r}")
    if name == "hostile":
        want("broken" in page.inner_text("#cause"), "the cause of the failure is not shown")
        want(page.locator("script").count() == 7 and page.locator("img").count() == 0, "a text became HTML")
        want(not page.title().startswith("broken"), "a script of a text ran")
    if name == "resumed":
        want(page.locator("#timeline [data-event=generation]").count() == 1, "the generation is not on the timeline")
        want(page.locator("#timeline [data-event=start]").count() == 2, "the two starts are not on the timeline")
        steps = [int(cell) for cell in page.locator("#chart-loss tbody td:first-child").all_text_contents()]
        want(steps == sorted(set(steps)), "the curve goes back")
    if name == "two":
        want(page.locator("#results tbody tr").count() == 2, "the table of results has not two rows")
        want(page.locator("#run option").all_text_contents() == ["mnist", "mnist (2)"], "two runs of one name are not told apart")
        page.select_option("#run", "1")
        expect(page.locator("#ranks tr[data-rank]")).to_have_count(2)
        want("optimizer.learning_rate" in page.inner_text("#differ"), "the options that differ are not shown")
    if name != "empty":
        keyboard(browser, page)


def keyboard(browser, page):
    plot = page.locator("#chart-loss .plot")
    plot.focus()
    page.keyboard.press("Home")
    first = plot.get_attribute("aria-valuetext")
    page.keyboard.press("ArrowRight")
    second = plot.get_attribute("aria-valuetext")
    browser.want(page, first and second and first != second, f"the arrow does not move along the curve: {first!r}, {second!r}")
    browser.want(page, second == page.inner_text("#chart-loss .readout"), "the point is not shown to those who see")
    for box in ("input[value=t]", "input[name=log]", "input[name=smooth]"):
        page.locator(box).focus()
        page.keyboard.press("Space")
    page.wait_for_timeout(100)


def main(folder, axe):
    with sync_playwright() as playwright:
        browser = Browser(playwright)
        files = sorted(pathlib.Path(folder).glob("*.html"))
        for file in files:
            look(browser, file, pathlib.Path(axe).read_text())
        for fault in browser.faults:
            print(fault)
        if browser.faults or not files:
            sys.exit(f"{len(browser.faults)} faults in {len(files)} reports")
        print(f"{len(files)} reports, no fault")


if __name__ == "__main__":
    main(*sys.argv[1:3])
