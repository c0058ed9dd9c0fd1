"""The one browser of the tests of the report's page."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.harness.report.browser import Page


@pytest.fixture(scope="session")
def driver() -> Iterator[Any]:
    chromium, chromedriver = shutil.which("chromium"), shutil.which("chromedriver")
    if chromium is None or chromedriver is None:
        pytest.skip("no Chromium here: `apt-get install chromium chromium-driver` (Debian's)")
    webdriver = pytest.importorskip(
        "selenium.webdriver", reason="selenium is missing: `pip install --group browser`"
    )
    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    for flag in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    made = webdriver.Chrome(
        options=options, service=webdriver.ChromeService(executable_path=chromedriver)
    )
    try:
        yield made
    finally:
        made.quit()


@pytest.fixture
def page(driver: Any, tmp_path: Path) -> Iterator[Page]:
    opened = Page(driver, tmp_path)
    opened.requested()
    yield opened
    # Whatever a test does, the page never complains and never asks anybody for anything.
    complaints = opened.logs()
    assert opened.attacked or complaints == []
    # A data address holds what it names.
    assert {url.partition(":")[0] for url in opened.requested()} <= {"file", "data"}
    assert opened.js("window.hacked") is None
    opened.cdp("Emulation.clearDeviceMetricsOverride")
    opened.cdp("Emulation.setEmulatedMedia", features=[])
    driver.get("about:blank")
