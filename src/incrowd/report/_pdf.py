"""The page as a PDF, printed by a browser that is there: Chromium, Chrome or Edge.

The style sheet of the page says how it is printed (A4, a running foot with title, hash and page),
so that printing it from any browser gives the same document. A browser is taken for it because it
draws the very page that was read; no library that makes PDFs does.
"""

import os
import shutil
import subprocess
from pathlib import Path

from incrowd._atomic import replacing
from incrowd._hidden import temporary_folder
from incrowd.errors import OutputError

__all__ = [
    "find_browser",
    "print_pdf",
]

BROWSERS = (
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "chrome",
    "microsoft-edge",
    "msedge",
)
SECONDS = 120
HINT = (
    "Install Chromium (Debian: apt install chromium), name a browser of its kind in the "
    "environment variable CHROMIUM, or open the page in any browser and print it to a PDF"
)


def find_browser() -> str:
    """Return the path of a browser that can print.

    Raises
    ------
    OutputError
        If there is none.
    """
    named = os.environ.get("CHROMIUM")
    for name in [named] if named else BROWSERS:
        if (found := shutil.which(name)) is not None:
            return found
    what = f"CHROMIUM names {named}, which is not there" if named else "there is no browser"
    raise OutputError(f"cannot print a PDF: {what}. {HINT}", hint=HINT)


def print_pdf(html: str, path: str | os.PathLike[str], *, overwrite: bool = False) -> Path:
    """Print a page to a PDF, whole or not at all.

    Raises
    ------
    OutputError
        If there is no browser, it fails, or the file is there already.
    """
    browser = find_browser()
    with replacing(path, overwrite=overwrite) as part, temporary_folder() as folder:
        page, made = folder / "report.html", folder / "report.pdf"
        page.write_text(html, encoding="utf-8")
        words = [
            browser, "--headless", "--disable-gpu", "--no-first-run", "--disable-extensions",
            "--disable-background-networking", f"--user-data-dir={folder}/profile",
            "--no-pdf-header-footer", "--virtual-time-budget=20000",
            f"--print-to-pdf={made}", page.as_uri(),
        ]  # fmt: skip
        if hasattr(os, "geteuid") and os.geteuid() == 0:
            words.insert(1, "--no-sandbox")  # Chromium refuses to start as root otherwise
        try:
            done = subprocess.run(  # noqa: S603  the browser that was found, and our own page
                words, capture_output=True, text=True, timeout=SECONDS, check=False
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise OutputError(f"{browser} did not print the page: {error}. {HINT}") from error
        if not made.is_file():
            last = (done.stderr.strip().splitlines() or ["it said nothing"])[-1]
            raise OutputError(f"{browser} did not print the page: {last}. {HINT}")
        shutil.copyfile(made, part)
    return Path(path)
