"""Opens a live page in Chromium and checks what a reader meets while a run goes on. live.py LINK LINK-OF-A-LOST-ONE FOLDER AXE

Says on standard output what is to happen next, and waits for a line of standard input: then it has happened.
"""

import os
import pathlib
import sys

from playwright.sync_api import expect, sync_playwright

from browse import Browser

SECONDS = 20  # a busy machine; a page draws within half a second


def happen(what):
    print(what, flush=True)
    sys.stdin.readline()


def wants(page, selector, text):
    expect(page.locator(selector)).to_have_text(text, timeout=SECONDS * 1000)


def steps(page):
    return page.locator("#chart-loss tbody td:first-child").all_text_contents()


def shot(page, name):
    if shots := os.environ.get("PAGE_SHOTS"):
        page.screenshot(path=f"{shots}/live-{name}.png", full_page=True)


def follow(browser, link, folder, axe):
    page = browser.open(link)
    wants(page, "#state", "running")
    wants(page, "#step", "1,200")
    browser.want(page, "token" not in page.url, "the address keeps the token")
    browser.want(page, steps(page)[0] == "30", "the first minute is not there")
    expect(page.locator("#report")).to_be_hidden()
    paint = page.evaluate("performance.getEntriesByName('first-contentful-paint')[0]?.startTime")
    print(f"first paint after {paint} ms", file=sys.stderr)

    happen("hang")
    wants(page, "#state", "stalled")
    wants(page, "#waits", "rank 1 waits")
    expect(page.locator("#ring path.waits")).to_have_count(1, timeout=SECONDS * 1000)
    expect(page.locator("#ring .missing")).to_have_count(1)
    browser.want(page, "rank 1 waits for rank 2" in page.inner_text("#peers"), "no word of who waits for whom")
    shot(page, "stalled")

    happen("generation")
    expect(page.locator("#timeline [data-event=generation]")).to_have_count(1, timeout=SECONDS * 1000)
    expect(page.locator("#announce")).to_contain_text("generation 2", timeout=SECONDS * 1000)
    wants(page, "#step", "1,500")
    before = steps(page)
    shot(page, "again")
    page.evaluate(axe)
    for found in page.evaluate("axe.run({resultTypes: ['violations']})")["violations"]:
        browser.want(page, False, f"axe: {found['id']}: {[n['html'][:150] for n in found['nodes'][:3]]}")

    page.reload()
    wants(page, "#step", "1,500")
    browser.want(page, steps(page) == before, f"after a reload the curve has {len(steps(page))} points, before {len(before)}")
    second = browser.open(link, 390, "dark")
    wants(second, "#step", "1,500")
    browser.want(second, steps(second) == before, "a second browser has another curve")
    shot(second, "second")

    page.quiet = second.quiet = True  # the console tells of the lost connection
    happen("drop")
    for reader in (page, second):
        wants(reader, "#step", "1,800")
        wants(reader, "#state", "running")
    logged = page.locator("#log li").count()
    page.reload()
    wants(page, "#step", "1,800")
    browser.want(page, page.locator("#log li").count() == logged, "after a broken connection events came twice, or never")

    happen("done")
    for reader in (page, second):
        wants(reader, "#state", "finished")
    with page.expect_download() as saved:
        page.click("#report")
    report = pathlib.Path(folder) / "saved.html"
    saved.value.save_as(report)
    alone = browser.open(report.as_uri())
    wants(alone, "#state", "finished")
    browser.want(alone, steps(alone) == steps(page), "the saved report has another curve than the page")
    browser.want(alone, len(alone.requests) <= 2, f"the saved report makes requests: {alone.requests}")


def lose(browser, link):
    page = browser.open(link)
    wants(page, "#step", "300")
    page.quiet = True  # the console tells of the lost connection
    happen("lost")
    expect(page.locator("#state")).to_contain_text("no word since", timeout=SECONDS * 1000)
    shot(page, "lost")


def main(link, lost, folder, axe):
    with sync_playwright() as playwright:
        browser = Browser(playwright)
        follow(browser, link, folder, pathlib.Path(axe).read_text())
        lose(browser, lost)
        happen("faults: " + "; ".join(browser.faults))


main(*sys.argv[1:5])
