"""The report of civ, given k-gaps and release, and how soon its page shows a chart.

GLOVE (3 min) and the k-gap (5 min) of civ are computed first, if they are not there yet; neither is
part of what is timed. The page is opened in Chromium, if there is one.
"""

import shutil
from pathlib import Path

from benchmarks.common import FOLDER, dataset, incrowd, machine, row

PEOPLE = 82_728
PAGE = FOLDER / "civ-report.html"


def main() -> None:
    """Print the times."""
    machine()
    data = dataset("civ", PEOPLE, "parquet")
    release, who = FOLDER / "civ-release", FOLDER / "civ-who.parquet"
    gaps = FOLDER / "civ-gaps.parquet"
    if not release.exists():
        incrowd("anonymize", str(data), "--k", "2", "-o", str(release), "--record", str(who))
    if not gaps.exists():
        incrowd("measure", str(data), "-o", str(gaps))
    given = ("--original", str(data), "--record", str(who))
    zone = ("--local-tz", "Africa/Abidjan")
    print("| what | time | peak memory | claim |\n|---|---|---|---|", flush=True)
    made = incrowd(
        "report", str(release), *given, *zone, "--k-gaps", str(gaps), "-o", str(PAGE), "--overwrite"
    )
    row("`report` of civ, 82,728 people, given k-gaps and release", made, "at most 3 min, 6 GB")
    row("`evaluate` of civ", incrowd("evaluate", str(release), *given, *zone), "")
    print(f"\nThe page has {PAGE.stat().st_size / 1e6:.2f} MB (claim: under 3).")
    opened(PAGE)


def opened(page: Path) -> None:
    """Open a page five times; tell when it first shows a chart, and when all are live."""
    browser = shutil.which("chromium") or shutil.which("chromium-browser")
    if browser is None:
        print("There is no Chromium here, so that the page was not opened.")
        return
    from playwright.sync_api import sync_playwright

    first, live = [], []
    with sync_playwright() as play:
        chromium = play.chromium.launch(executable_path=browser, args=["--no-sandbox"])
        for _ in range(5):
            tab = chromium.new_page()
            tab.add_init_script(
                "new MutationObserver(() => { if (!window.seen && document.querySelector('.chart"
                " svg')) { requestAnimationFrame(() => { window.seen ??= performance.now(); }); }"
                " }).observe(document, { childList: true, subtree: true });"
            )
            tab.goto(page.absolute().as_uri())
            tab.wait_for_selector("html[data-drawn]")
            first.append(tab.evaluate("window.seen"))
            live.append(tab.evaluate("performance.now()"))
            tab.close()
        chromium.close()
    print(
        f"Opened in Chromium: the first chart after {sorted(first)[2] / 1000:.2f} s (claim: under "
        f"2), all of them live after {sorted(live)[2] / 1000:.2f} s; medians of five."
    )


if __name__ == "__main__":
    main()
