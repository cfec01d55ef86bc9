"""The live page: stories of its users, against a server that is started as they start it."""

from __future__ import annotations

import json
import math
import os
import random
from pathlib import Path

import pytest

import lpsched
from lpsched.units import duration, energy_text, number, paired, power_text
from tests.browser.conftest import NONE_FOUND, QUIET, chromium
from tests.serve.servers import ROOT, started
from tests.serve.visits import Visitor, answered, headline, paste, rows_of

pytestmark = pytest.mark.slow

pytestmark = pytest.mark.slow  # a browser

PAGE = ROOT / "lpsched" / "serve" / "page"
SERVICE = ROOT / "instances" / "ai-service.yaml"
TINY = (ROOT / "instances" / "tiny.yaml").read_text()
TOKEN = "a token of more than sixteen letters"  # noqa: S105 - of a server that lives as long as its test
NO_AXE = "LPSCHED_AXE is not set: no axe.min.js (npm pack axe-core@4), so no rule of axe-core is checked"


@pytest.fixture(scope="module")
def browser():
    program = chromium()
    if program is None:
        pytest.skip(NONE_FOUND)
    playwright = pytest.importorskip("playwright.sync_api")
    with playwright.sync_playwright() as driver:
        launched = driver.chromium.launch(executable_path=program, args=list(QUIET))
        yield launched
        launched.close()


@pytest.fixture(scope="module")
def url():
    with started(SERVICE, "--workers", "2") as running:
        yield running.url.rstrip("/")


@pytest.fixture
def visit(browser, url):
    visitor = Visitor(browser, url)
    yield visitor
    visitor.close()


@pytest.fixture(scope="module")
def modules(browser, url):
    """Open a page that can import the modules of the live page."""
    visitor = Visitor(browser, url)
    yield visitor("/docs", answered=False)
    visitor.close()


def changed(**counts: int) -> lpsched.Bag:
    """Return the service with other counts of machines."""
    bag: lpsched.Bag = lpsched.read(SERVICE)
    types = tuple(each.model_copy(update={"count": counts.get(each.name, each.count)}) for each in bag.machine_types)
    return bag.model_copy(update={"machine_types": types})


def priced(bag: lpsched.Bag, per_bag: float) -> lpsched.Bag:
    return bag.model_copy(update={"prices": bag.prices.model_copy(update={"per_bag": per_bag})})


def earns(bag: lpsched.Bag) -> str:
    """Return the headline of a bag that earns, from an answer of this process."""
    value, bound = lpsched.solve(bag, effort="fast").texts()
    return f"A schedule earns {value} USD/h (verified). No schedule earns more than {bound} USD/h (proved)."


def test_the_workload_of_the_command_line_is_open(visit):
    page = visit()
    result = lpsched.solve(SERVICE, effort="fast")
    assert page.inner_text("h1") == "ai-service"
    assert headline(page) == earns(lpsched.read(SERVICE))
    facts = page.locator(".facts").inner_text()
    assert duration(result.measured.makespan_seconds) in facts
    assert energy_text(result.measured.energy_joules) in facts
    assert page.inner_text("#status") == f"answered in {page.get_attribute('html', 'data-answered')} ms"
    allocated = rows_of(page, "#allocation")
    counts = result.breakdown.allocation["image-generation"]
    machines = [each.name for each in lpsched.read(SERVICE).machine_types]
    assert allocated["image-generation"][1:] == [str(counts[name]) if name in counts else "\u00b7" for name in machines]


def test_a_slider_of_machines_moves_headline_money_and_marginal_values(visit):
    page = visit()
    with answered(page):
        page.locator("[data-slider='machine_types.0']").fill("8")  # as a drag that ends there
    bag = changed(H100=8)
    result = lpsched.solve(bag, effort="fast")
    assert headline(page) == earns(bag) != earns(lpsched.read(SERVICE))
    assert page.input_value("[data-key='machine_types.0']") == "8"
    profit = rows_of(page, "#money")["profit"][0]
    assert float(profit) == pytest.approx(result.value, abs=0.005)
    assert rows_of(page, "#marginals")["H100"][-1] == result.worth.machine_text("H100")
    with answered(page):
        page.click("#reset")
    assert headline(page) == earns(lpsched.read(SERVICE))


def test_a_price_moves_the_marker_of_the_price_curve(visit):
    page = visit()
    mark = page.locator("#price-figure path.mark")
    assert float(mark.get_attribute("data-x")) == 260
    with answered(page):
        page.fill("[data-key='per_bag']", "200")
    result = lpsched.solve(priced(lpsched.read(SERVICE), 200.0), effort="fast")
    assert float(mark.get_attribute("data-x")) == 200
    assert float(mark.get_attribute("data-y")) == pytest.approx(result.value)
    assert "break-even at least 78 (proved)" in page.locator("#price-figure svg").text_content()


def test_yaml_with_an_error_has_the_words_of_the_command_line_and_keeps_the_answer(visit):
    page = visit()
    before = headline(page)
    page.click("#editor > summary")
    text = page.input_value("#yaml-text")
    assert text == SERVICE.read_text()  # with its comments
    wrong = text.replace("{name: H100, count: 12,", "{name: H100, count: 0,")
    page.fill("#yaml-text", wrong)
    problem = page.locator("#editor .problems li").first
    problem.wait_for()
    line = wrong[: wrong.index("count: 0")].count("\n") + 1
    assert problem.inner_text().startswith(
        f"line {line}, machine_types[0].count: got 0, expected a whole number from 1"
    )
    assert "last valid version" in page.inner_text("#banner")
    assert headline(page) == before
    assert page.locator("[data-apply]").is_disabled()
    problem.locator("button").click()
    selected = "() => { const b = document.activeElement; return b.value.slice(b.selectionStart, b.selectionEnd); }"
    assert page.evaluate(selected) == wrong.split("\n")[line - 1]
    page.fill("#yaml-text", text.replace("{name: H100, count: 12,", "{name: H100, count: 8,"))
    with answered(page):
        page.locator("[data-apply]:enabled").click()
    assert headline(page) == earns(changed(H100=8))
    assert page.inner_text("#banner") == ""


def test_a_number_that_is_none_is_not_taken(visit):
    page = visit()
    before = headline(page)
    page.fill("[data-key='machine_types.1']", "0")
    assert "A100: got 0, expected a whole number from 1 up" in page.inner_text("#banner")
    assert "last valid version" in page.inner_text("#banner")
    page.press("[data-key='machine_types.1']", "Tab")
    assert page.input_value("[data-key='machine_types.1']") == "16"  # what the answer is of
    assert page.inner_text("#banner") == ""
    assert headline(page) == before


def test_a_number_that_the_server_rejects_keeps_the_answer(visit):
    page = visit()
    before = headline(page)
    page.fill("[data-key='per_bag']", "1e40")
    said = page.locator("[data-source=solve]")
    said.wait_for()
    with pytest.raises(lpsched.InstanceError) as error:
        lpsched.Bag.read(json.loads(lpsched.read(SERVICE).model_dump_json()) | {"prices": {"per_bag": 1e40}})
    assert str(error.value.issues[0]) in said.inner_text()
    assert "last valid version" in said.inner_text()
    page.locator("#results:not(.stale)").wait_for()  # all three are answered
    assert headline(page) == before
    assert page.locator("#price-figure path.mark, #front-figure path.mark").count() == 2  # of that version too
    with answered(page):
        page.fill("[data-key='per_bag']", "200")
    assert headline(page) == earns(priced(lpsched.read(SERVICE), 200.0))
    assert page.inner_text("#banner") == ""


def test_an_upload_and_a_pasted_text_with_names_like_html(visit, tmp_path):
    page = visit()
    file = tmp_path / "tiny.json"
    lpsched.write(lpsched.read(ROOT / "instances" / "tiny.yaml"), file)
    page.click("#open")
    with answered(page):
        page.set_input_files("#open-file", file)
    assert headline(page) == earns(lpsched.read(file))
    hostile = TINY.replace("scan", "'<img src=x onerror=alert(1)>'")
    with answered(page):
        paste(page, hostile)
    assert "<img src=x onerror=alert(1)>" in page.inner_text("#allocation")
    assert page.locator("img").count() == 0
    assert page.inner_text("#subtitle") == "your document"
    paste(page, TINY.replace("count: 6", "count: many"))
    said = page.locator("#open-message")
    said.get_by_text("task_types[0].count").wait_for()
    page.get_by_role("button", name="Correct it in the editor").click()
    page.locator("#editor .problems li").first.wait_for()
    assert "last valid version" in page.inner_text("#banner")


def test_a_pinned_scenario_stands_beside_the_present_one(visit):
    page = visit()
    page.click("#pin")
    with answered(page):
        page.fill("[data-key='machine_types.0']", "8")
    before, now = (lpsched.solve(bag, effort="fast") for bag in (lpsched.read(SERVICE), changed(H100=8)))
    cells = rows_of(page, "#comparison")["a schedule earns (verified)"]
    assert cells == [
        f"{now.texts()[0]} USD/h",
        f"{before.texts()[0]} USD/h",
        f"+{number(now.value - before.value)} USD/h",
    ]
    electricity = rows_of(page, "#money")["electricity"]
    change = before.breakdown.per_hour.electricity - now.breakdown.per_hour.electricity  # less cost is more money
    assert float(electricity[2].replace("\u2212", "-")) == pytest.approx(change, abs=1e-4)
    assert page.locator("#price-figure path.mark").count() == 2
    assert rows_of(page, "#marginals")["A100"][-1] == "0"  # its own costs, in both
    page.click("#pin")
    assert page.locator("#compared").is_hidden()
    assert page.locator("#price-figure path.mark").count() == 1


def test_a_pin_has_figures_of_its_own_state_only(visit):
    page = visit()
    held = []

    def hold(route) -> None:
        held.append(route)

    for kind in ("front", "price"):
        page.route(f"**/v1/{kind}", hold)
    with answered(page):
        page.fill("[data-key='machine_types.0']", "40")
        page.locator("#headline", has_text=earns(changed(H100=40))).wait_for()
        page.click("#pin")
        assert page.locator("#compared").is_visible()
        assert page.locator(".curve.pinned").count() == 0  # the figures that are shown are of 12 machines
        assert len(held) == 2
        for route in held:
            route.continue_()
    lines = (page.get_attribute(f"#price-figure .curve.{name}", "points") for name in ("pinned", "bound"))
    assert next(lines) == next(lines)  # they came, and are those of the pin too


def test_figures_stay_with_the_headline_where_a_solve_fails(visit):
    page = visit()
    figures = ("#price-figure", "#front-figure")
    before = [headline(page), *(page.inner_html(each) for each in figures)]
    error = {"error": {"code": "worker-died", "message": "the process ended", "faults": []}}
    page.route("**/v1/solve", lambda route: route.fulfill(status=500, json=error))
    page.fill("[data-key='machine_types.0']", "40")
    page.locator("[data-source=solve]").wait_for()
    page.locator("#results:not(.stale)").wait_for()  # all three are answered
    assert [headline(page), *(page.inner_html(each) for each in figures)] == before
    page.unroute("**/v1/solve")
    with answered(page):
        page.get_by_role("button", name="Try again").click()
    assert headline(page) == earns(changed(H100=40))
    assert page.inner_html("#front-figure") != before[2]
    assert all("status of 500" in each for each in visit.complaints)  # what the browser writes
    visit.complaints.clear()


def test_a_pin_in_another_currency_is_not_relabelled(visit):
    page = visit()
    page.click("#pin")
    page.click("#editor > summary")
    page.fill("#yaml-text", SERVICE.read_text().replace("currency: USD", "currency: EUR"))
    with answered(page):
        page.locator("[data-apply]:enabled").click()
    assert rows_of(page, "#comparison")["value of a schedule (verified)"][1].endswith(" USD/h")
    for place in ("#money", "#price-figure", "#marginals"):
        assert page.locator(f"{place} .note", has_text="in USD").count() == 1
    assert page.locator("#price-figure .curve.pinned, #price-figure .mark.pinned").count() == 0
    assert "pinned" not in page.locator("#marginals table").first.inner_text()
    assert page.locator("#front-figure .curve.pinned").count() == 1  # energy and time have the same units


def test_yaml_of_another_kind_is_not_applied(visit):
    page = visit()
    before = headline(page)
    page.click("#editor > summary")
    page.fill("#yaml-text", (ROOT / "instances" / "facility-tiny.yaml").read_text())
    problem = page.locator("#editor .problems li")
    problem.wait_for()
    assert "this page works on bags of tasks" in problem.inner_text()
    assert page.locator("[data-apply]").is_disabled()
    page.press("#yaml-text", "Control+Enter")
    page.click("[data-revert]")
    assert page.input_value("#yaml-text") == SERVICE.read_text()
    assert (page.inner_text("h1"), headline(page)) == ("ai-service", before)


def test_a_link_restores_document_changes_objective_and_pin_in_another_tab(visit):
    page = visit()
    with answered(page):
        paste(page, TINY)
    page.click("#pin")
    with answered(page):
        page.fill("[data-key='machine_types.1']", "3")
    with answered(page):
        page.get_by_label("least energy").check()
    page.click("#link")
    page.locator("[data-source=share]").wait_for()
    link = page.url
    assert "#s=" in link
    other = visit(link.removeprefix(visit.url))
    other.locator("#comparison table").wait_for()
    assert headline(other) == headline(page)
    assert other.inner_text("#comparison") == page.inner_text("#comparison")
    assert other.input_value("[data-key='machine_types.1']") == "3"
    assert other.get_by_label("least energy").is_checked()
    assert not any("s=" in address for address in visit.asked if "#" not in address)  # a fragment is not sent


def test_a_link_says_what_it_holds_and_whether_the_workload_has_changed(visit):
    page = visit()
    page.click("#link")
    said = page.locator("[data-source=share]")
    said.wait_for()
    assert "the name of the workload and the changes" in said.inner_text()
    warned = page.get_by_text("The workload has changed since the link was made")

    def edited(route) -> None:
        found = route.fetch().json()
        found["document"]["machine_types"][0]["count"] = 13
        route.fulfill(json=found)

    page.reload()
    page.wait_for_selector("html[data-version]", state="attached")
    assert warned.count() == 0
    page.route("**/v1/workloads/ai-service", edited)
    page.reload()
    warned.wait_for()
    with answered(page):
        paste(page, TINY)
    page.click("#link")
    page.get_by_text("It holds the whole scenario.").wait_for()


def test_a_pin_of_a_harder_search_comes_back_as_it_was(visit):
    page = visit()
    with answered(page):
        page.fill("[data-key='machine_types.0']", "7")
    page.click("#harder")
    page.get_by_text("A better schedule was found").wait_for()
    page.click("#pin")
    pinned = rows_of(page, "#comparison")["a schedule earns (verified)"][1]
    page.click("#link")
    page.locator("[data-source=share]").wait_for()
    page.reload()
    page.locator("#comparison table").wait_for()
    assert rows_of(page, "#comparison")["a schedule earns (verified)"][1] == pinned
    assert headline(page) == earns(changed(H100=7))  # of the quick search, which finds less


def test_a_damaged_link_gives_a_message(visit):
    page = visit("/#s=AAAA")
    said = page.locator("[data-source=link]")
    said.get_by_text("This link cannot be read: part of it is missing").wait_for()
    assert headline(page) == earns(lpsched.read(SERVICE))
    for fragment in ("#s=", "#s=%00", "#s=VY5BCsMg", "#s=" + "A" * 4000):  # and in a page that is open
        said.get_by_role("button", name="Close").click()
        page.evaluate("(fragment) => { location.hash = fragment; }", fragment)
        said.get_by_text("This link cannot be read").wait_for()
    assert headline(page) == earns(lpsched.read(SERVICE))


def test_downloads_pass_the_checker(visit, tmp_path):
    page = visit()
    with answered(page):
        page.fill("[data-key='machine_types.0']", "8")
    for kind in ("yaml", "schedule", "certificate"):
        with page.expect_download() as download:
            page.click(f"[data-file={kind}]")
        download.value.save_as(tmp_path / download.value.suggested_filename)
    command = page.locator("#files code").first.inner_text().split()
    assert command[:2] == ["lpsched", "verify"]
    bag = lpsched.read(tmp_path / command[2])
    assert bag.content_hash == changed(H100=8).content_hash
    audit = lpsched.verify(bag, [tmp_path / name for name in command[3:]])
    assert audit.accepted
    assert len(audit.files) == 2


def test_a_deadline_that_no_schedule_meets(visit, tmp_path):
    page = visit()
    with answered(page):
        page.check("[data-toggle=deadline]")
    assert headline(page).startswith("A schedule earns")  # it begins above the makespan
    with answered(page):
        page.fill("[data-key=deadline]", "1")
    with pytest.raises(lpsched.InfeasibleError) as error:
        lpsched.solve(SERVICE, effort="fast", deadline=3600.0)
    assert headline(page) == f"No schedule is possible: {error.value}."
    assert "9,000 s" in headline(page)
    assert "nothing to show here" in page.inner_text("#money")
    assert page.locator("#again").is_hidden()  # there is no answer to give again
    with page.expect_download() as download:
        page.click("[data-file=yaml]")
    download.value.save_as(tmp_path / "workload.yaml")
    assert lpsched.read(tmp_path / "workload.yaml").site.deadline_seconds == 3600
    with answered(page):
        page.uncheck("[data-toggle=deadline]")
    assert headline(page) == earns(lpsched.read(SERVICE))
    assert page.locator("#again").is_visible()


def test_a_price_at_which_it_is_best_not_to_run(visit):
    page = visit()
    with answered(page):
        page.fill("[data-key='per_bag']", "5")
    result = lpsched.solve(priced(lpsched.read(SERVICE), 5.0), effort="fast")
    loss = number(-result.value)
    assert headline(page) == (
        f"Best not to run: that loses {loss} USD/h (verified). In any case at least {loss} USD/h is lost (proved)."
    )
    curve = lpsched.price_curve(lpsched.read(SERVICE), effort="fast")
    assert (
        f"Best not to run up to {math.floor(1000 * curve.least_price_to_run) / 1000:g} USD per bag"
        in page.inner_text(".notes")
    )
    assert page.inner_text("#allocation") == "Nothing runs, so no task runs anywhere."


def test_search_harder_replaces_the_headline_until_the_next_change(visit):
    page = visit()
    with answered(page):
        page.fill("[data-key='machine_types.0']", "8")
    page.click("#harder")
    page.get_by_text("schedule was found").wait_for()
    value, bound = lpsched.solve(changed(H100=8), effort="auto").texts()
    assert (
        headline(page)
        == f"A schedule earns {value} USD/h (verified). No schedule earns more than {bound} USD/h (proved)."
    )
    assert page.inner_text("#again").endswith("--effort auto")
    with answered(page):
        page.fill("[data-key='machine_types.0']", "7")
    assert page.inner_text("#again").endswith("--effort fast")
    assert headline(page) == earns(changed(H100=7))


def test_what_is_missing_is_said_in_place_of_figures(visit):
    page = visit()
    cut = TINY.partition("\nwatts:")[0]
    with answered(page):
        paste(page, cut.replace(", idle_watts: 20", "").replace(", idle_watts: 10", ""))
    assert headline(page).startswith("A schedule is done in 12 s (verified).")
    assert page.inner_text("#front-figure") == "The bag has no watts, so energy is unknown and there is no front."
    assert page.inner_text("#price-figure") == "A price curve needs the price of electricity (0 is a price)."
    assert "Profit needs a price." in page.inner_text("#objective-note")
    assert page.locator("svg").count() == 0


def test_a_table_of_money_with_revenue_is_not_called_costs(visit):
    page = visit()
    with answered(page):
        paste(page, SERVICE.read_text().replace("electricity_per_kwh: 0.15, ", ""))
    assert "revenue" in rows_of(page, "#money")
    assert page.inner_text("#money caption") == "Money of the schedule (verified)"


def test_a_server_that_is_gone_and_comes_back(visit):
    visit.may_be_gone = True
    page = visit()
    before = headline(page)
    page.route("**/v1/*", lambda route: route.abort("connectionrefused"))
    page.fill("[data-key='machine_types.0']", "8")
    page.locator("[data-source=gone]").wait_for()
    assert "The server does not answer." in page.inner_text("#banner")
    assert headline(page) == before
    page.unroute("**/v1/*")
    with answered(page):
        page.get_by_role("button", name="Try again now").click()
    assert headline(page) == earns(changed(H100=8))
    assert page.inner_text("#banner") == ""


def test_a_busy_server_is_asked_once_more(visit):
    page = visit()
    asked = []

    def busy(route) -> None:
        asked.append(route.request.url)
        if len(asked) > 1:
            route.continue_()
        else:
            error = {"error": {"code": "queue-full", "message": "wait", "faults": []}}
            route.fulfill(status=503, headers={"Retry-After": "0.2"}, json=error)

    page.route("**/v1/solve", busy)
    with answered(page):
        page.fill("[data-key='machine_types.0']", "8")
    assert headline(page) == earns(changed(H100=8))
    assert len(asked) == 2


def test_a_server_with_a_token_asks_for_it_once(browser):
    with started(SERVICE, "--workers", "1", LPSCHED_TOKEN=TOKEN) as running:
        visitor = Visitor(browser, running.url.rstrip("/"))
        page = visitor(answered=False)
        page.fill("#token", "not this one")
        page.press("#token", "Enter")
        page.get_by_text("The server rejected this token.").wait_for()
        page.fill("#token", TOKEN)
        page.click("#token-send")
        page.wait_for_selector("html[data-version]", state="attached")
        assert headline(page) == earns(lpsched.read(SERVICE))
        page.reload()
        page.wait_for_selector("html[data-version]", state="attached")  # the tab keeps it
        assert page.locator("dialog[open]").count() == 0
        assert not any("sixteen" in each for each in visitor.asked)
        visitor.close()


def test_the_keyboard_is_enough(visit):
    page = visit()
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the answer"
    for _ in range(60):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.dataset.slider") == "machine_types.0":
            break
    else:
        raise AssertionError("the slider of the first machine type was not reached")
    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    with answered(page):
        page.keyboard.press("ArrowLeft")
    assert headline(page) == earns(changed(H100=11))
    assert page.evaluate("document.activeElement.getAttribute('aria-valuetext')") == "11"
    page.click("#open")
    page.keyboard.press("Escape")
    assert page.evaluate("document.activeElement.id") == "open"  # where it was opened


def test_nothing_scrolls_sideways_on_a_telephone(visit):
    page = visit(width=400, height=800)
    page.click("#pin")
    with answered(page):
        page.fill("[data-key='machine_types.0']", "8")
    page.evaluate("() => document.querySelectorAll('details').forEach((each) => { each.open = true; })")
    assert page.evaluate("document.documentElement.scrollWidth") == 400
    page.evaluate("scrollTo(0, 1500)")
    assert page.evaluate("document.getElementById('headline').getBoundingClientRect().top") == 0  # it stays in sight
    page.goto(visit.url + "/docs")
    page.locator("section").first.wait_for()
    assert page.evaluate("document.documentElement.scrollWidth") == 400


def test_the_documentation_tries_its_examples(visit):
    page = visit("/docs", answered=False)
    for operation in ("solve", "convert"):
        section = page.locator(f"#post-v1-{operation}")
        section.get_by_role("button", name="Try").click()
        section.locator("pre").get_by_text('"format"').wait_for()
        assert section.locator("[role=status]").inner_text().startswith("200")
    section = page.locator("#post-v1-solve")
    section.locator("textarea").fill('{"bag": {}}')
    section.get_by_role("button", name="Try").click()
    section.get_by_text("422 Unprocessable").wait_for()
    assert json.loads(section.locator("pre").inner_text())["error"]["code"] == "bad-input"


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_no_rule_of_axe_is_broken(visit, dark):
    script = os.environ.get("LPSCHED_AXE")
    if not script or not Path(script).is_file():
        pytest.skip(NO_AXE)
    page = visit(bypass_csp=True, color_scheme="dark" if dark else "light")
    page.click("#pin")
    with answered(page):
        page.fill("[data-key='per_bag']", "5")
    page.click("#editor > summary")
    page.fill("#yaml-text", SERVICE.read_text().replace("count: 12", "count: 0"))
    page.locator("#editor .problems").wait_for()
    page.evaluate("() => document.querySelectorAll('details').forEach((each) => { each.open = true; })")
    page.add_script_tag(path=script)
    broken = "async () => (await axe.run()).violations.map((each) => each.id + ': ' + each.nodes[0].html)"
    assert page.evaluate(broken) == []
    page.click("#open")
    assert page.evaluate(broken) == []
    if dark:
        return  # the documentation has the same colours
    page.goto(visit.url + "/docs")
    page.locator("section").first.wait_for()
    page.add_script_tag(path=script)
    assert page.evaluate(broken) == []


# Pure functions of the modules, against the Python that they repeat.


def test_texts_are_those_of_units(modules):
    draw = random.Random(5)  # noqa: S311
    values = [10 ** draw.uniform(-4, 9) for _ in range(150)] + [0.0, 1.0, 60.0, 3600.0, 86400.0, 59.5, 28_230.0, 3599.7]
    gaps = [0.0, 1e-9, 1e-5, 3e-4, 0.02, 0.5]
    pairs = [(value, value * (1 + gap), True) for value in values[:40] for gap in gaps]
    pairs += [(value, value / (1 + gap), False) for value in values[:40] for gap in gaps]
    made = modules.evaluate(
        """async ([values, pairs]) => {
          const { duration, energyText, paired, powerText } = await import("/page/texts.js");
          const each = values.map((x) => [duration(x), duration(x, { upper: true }), duration(x, { upper: false, finer: 1 }),
            energyText(x), energyText(x, { upper: false }), powerText(x)]);
          return [each, pairs.map(([value, bound, upper]) => [...paired(value, bound, upper), ...paired(value, bound, upper, duration)])];
        }""",
        [values, pairs],
    )
    assert made[0] == [
        [
            duration(x),
            duration(x, upper=True),
            duration(x, upper=False, finer=1),
            energy_text(x),
            energy_text(x, upper=False),
            power_text(x),
        ]
        for x in values
    ]
    assert made[1] == [
        [*paired(value, bound, upper=upper), *paired(value, bound, upper=upper, write=duration)]
        for value, bound, upper in pairs
    ]


def test_links_hold_any_text_and_are_not_too_long(modules):
    draw = random.Random(6)  # noqa: S311
    small = {"name": "Bücher und 書籍 <b>", "list": [1.5, None, {"a": [True]}]}
    large = {"name": "x", "list": [draw.random() for _ in range(5000)]}
    scenarios = [
        {"base": {"document": small}, "changes": [[["name"], "y"], [["list"]]], "objective": "energy"},
        {"base": {"workload": "a/b c"}, "changes": [], "objective": None},
        {"base": {"document": large}, "changes": [], "objective": None},
    ]
    made = modules.evaluate(
        """async (scenarios) => {
          const { decoded, encoded } = await import("/page/share.js");
          const [first, second, large] = scenarios;
          const again = async (now, pin) => decoded("#" + await encoded({ now, pin }));
          return [await again(first, null), await again(second, first), await again(first, first), await encoded({ now: large, pin: null })];
        }""",
        scenarios,
    )
    first, second = scenarios[:2]
    assert made[:3] == [{"now": first, "pin": None}, {"now": second, "pin": first}, {"now": first, "pin": first}]
    assert made[3] is None  # the page then asks to send the YAML


def test_values_of_the_price_figure_are_those_of_schedules(modules):
    ends = [(0, 10, 0, 10, 0, 9), (10, None, 10, None, 9, None)]  # prices, bounds, values
    keys = ("from_price", "to_price", "bound_at_from", "bound_at_to", "value_at_from", "value_at_to")
    curve = {
        "unit": "USD/hour",
        "break_even_price": None,
        "least_price_to_run": None,
        "pieces": [dict(zip(keys, each, strict=True)) for each in ends],
        "points": [{"price": 0, "bound": 0, "value": 0}, {"price": 20, "bound": 30.00001, "value": 27}],
    }
    labels, dots, lines, marks, rows = modules.evaluate(
        """async (curve) => {
          const { drawPrice } = await import("/page/figures.js");
          const box = document.createElement("div");
          box.id = "price-test";
          drawPrice(box, { curve, price: 12, solve: { objective: "profit", value: 12.5 } }, null); // to a price of 18
          document.body.append(box);
          const details = box.querySelector("details");
          details.open = true;
          await new Promise((done) => { details.addEventListener("toggle", done, { once: true }); });
          const texts = (selector) => [...box.querySelectorAll(selector)].map((each) => each.textContent);
          const all = [texts(".legend li"), box.querySelectorAll("circle.dot.value").length,
            box.querySelectorAll("polyline").length, texts("title"),
            [...box.querySelectorAll("tbody tr")].map((row) => [...row.children].map((each) => each.textContent))];
          box.remove();
          return all;
        }""",
        curve,
    )
    assert "a schedule earns this (verified)" in labels
    assert (dots, lines) == (3, 1)  # the first segment ends where the second begins; the line is the bound
    assert marks == ["price 12 USD, profit 12.5 USD/h"]
    # At 18: 10 + 0.8 * 20.00001 = 26.000008, rounded up; no schedule was verified at that price.
    assert rows == [["0", "0", "0"], ["10", "10", "9"], ["18", "26.01", "-"]]


def test_changes_of_a_document_are_found_and_applied(modules):
    odd = [[[["__proto__", "x"], 1]], [[[], 1]], [["a"]], [[["list", 7, "x"], 1]], [[["list", "x"], 1]], 5]
    made = modules.evaluate(
        """async (odd) => {
          const { applied, differences, withValue } = await import("/page/document.js");
          const from = { name: "a", list: [{ count: 1 }, { count: 2 }], gone: { x: 1 } };
          let to = withValue(from, ["list", 1, "count"], 5);
          to = withValue(withValue(to, ["gone", "x"], undefined), ["site", "cap"], 3);
          const rejected = odd.map((each) => { try { applied(from, each); return "taken"; } catch (error) { return error.message; } });
          return [from, to, differences(from, to), applied(from, differences(from, to)), rejected];
        }""",
        odd,
    )
    origin, target, changes, again, rejected = made
    assert origin == {"name": "a", "list": [{"count": 1}, {"count": 2}], "gone": {"x": 1}}  # left as it was
    assert target == again == {"name": "a", "list": [{"count": 1}, {"count": 5}], "gone": {}, "site": {"cap": 3}}
    assert sorted(changes, key=str) == [[["gone", "x"]], [["list", 1, "count"], 5], [["site"], {"cap": 3}]]
    assert "taken" not in rejected


def test_sliders_reach_the_values_that_are_typed(visit):
    page = visit()
    assert (
        page.get_attribute("[data-slider='machine_types.0']", "max") == "50"
    )  # the next of 1, 2, 5 after 2.5 times 12
    with answered(page):
        page.fill("[data-key='machine_types.0']", "70")
    slider = page.locator("[data-slider='machine_types.0']")
    assert slider.input_value() == "70"
    assert float(slider.get_attribute("max")) >= 70
    assert headline(page) == earns(changed(H100=70))
