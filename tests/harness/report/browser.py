"""A page opened from disk in a real browser, as tests see it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from harness.report.html import html_report
from harness.report.model import RunReport

__all__ = ["Page"]


def _wait(driver: Any) -> Any:
    from selenium.webdriver.support.ui import WebDriverWait

    return WebDriverWait(driver, 20, poll_frequency=0.02)


class Page:
    """The one browser, and what was opened in it."""

    def __init__(self, driver: Any, folder: Path) -> None:
        self.driver = driver
        self.folder = folder
        self.attacked = False

    def open(self, shown: RunReport, before: str = "") -> Page:
        """Open `shown` from disk; `before` runs in the page before anything of its own."""
        file = self.folder / "index.html"
        file.write_text(html_report(shown), "utf-8")
        self.logs()
        given = self.cdp("Page.addScriptToEvaluateOnNewDocument", source=before)
        self.driver.get(file.as_uri())
        self.cdp("Page.removeScriptToEvaluateOnNewDocument", **given)
        return self

    def cdp(self, command: str, **values: Any) -> Any:
        return self.driver.execute_cdp_cmd(command, values)

    def js(self, expression: str) -> Any:
        return self.driver.execute_script(f"return {expression}")

    def until(self, expression: str) -> Any:
        return _wait(self.driver).until(
            lambda _: self.js(expression), f"never came true: {expression}"
        )

    def unfold(self) -> None:
        """Open everything, and what is in it, until nothing is folded."""
        self.until("""(() => {
            const closed = [...document.querySelectorAll("details:not([open])")];
            for (const each of closed) each.open = true;
            for (const each of document.querySelectorAll(
              ".alike button, .more, [data-unfolds][aria-expanded=false]")) each.click();
            const waits = [...document.querySelectorAll("details.case, .unfolded")]
              .some((each) => !each.dataset.state);
            return !waits && !closed.length;
        })()""")

    def press(self, *keys: str) -> None:
        from selenium.webdriver.common.action_chains import ActionChains

        for key in keys:
            ActionChains(self.driver).send_keys(key).perform()

    def click(self, selector: str) -> None:
        self.driver.find_element("css selector", selector).click()

    def text(self, selector: str) -> str:
        return str(self.js(f"document.querySelector({json.dumps(selector)}).innerText"))

    def shown(self) -> list[str]:
        return list(
            self.js(
                "[...document.querySelectorAll('details.case:not([hidden]) .name')]"
                ".map((each) => each.textContent)"
            )
        )

    def logs(self) -> list[str]:
        return [entry["message"] for entry in self.driver.get_log("browser")]

    def requested(self) -> list[str]:
        """Addresses of all that the browser asked for since the last look."""
        events = [json.loads(e["message"])["message"] for e in self.driver.get_log("performance")]
        sent = (each for each in events if each["method"] == "Network.requestWillBeSent")
        return [each["params"]["request"]["url"] for each in sent]
