#!/usr/bin/env python3
"""The pages in Chromium, driven by the WebDriver protocol (https://www.w3.org/TR/webdriver2/): opened at three widths,
dark and light, by keyboard and without scripts; a thing found by a misspelt word, asked for with a completed query, seen
as table, chart, map and graph; hostile text harmless; nothing wrong in the console; nothing asked of other hosts.

usage: pages_check.py PORT PROFILE_FOLDER PICTURES_FOLDER|''"""
import base64
import json
import os
import re
import subprocess
import sys
import time
import urllib.parse
import urllib.request

PORT, PROFILE, PICTURES = sys.argv[1:]
SITE = f"http://127.0.0.1:{PORT}"
BELA, HOSTILE = "http://people.example/bela.ttl", "http://hostile.example/thing.ttl"
ENTER, TAB, DOWN, CONTROL, SPACE = "\ue007", "\ue004", "\ue015", "\ue009", " "
PATIENCE = 120  # seconds for one condition or reply: what takes longer hangs
GROUPED = "SELECT ?class (COUNT(*) AS ?n) { ?s a ?class } GROUP BY ?class ORDER BY DESC(?n) ?class LIMIT 10"
PLACES = "SELECT ?place ?name ?lat ?long { ?place geo:lat ?lat ; geo:long ?long . OPTIONAL { ?place rdfs:label ?name } }"
CLOSE = "SELECT ?x ?y { VALUES (?x ?y) { (9007199254740992 1) (9007199254740994 2) } }"  # neighbours among doubles
CONSTRUCT = f"CONSTRUCT {{ ?s ?p ?o }} {{ GRAPH <{BELA}> {{ ?s ?p ?o }} }}"


def address(path, **parameters):
    return path + ("?" + urllib.parse.urlencode(parameters) if parameters else "")


PAGES = {
    "front": "/",
    "search": address("/search", q="apple"),
    "nothing-found": address("/search", q="qqqqqqqqqqqq"),
    "narrowed": address("/search", q="apple", fq="domain:recipes.example"),
    "lookup": address("/lookup", q="apple"),
    "query": "/sparql",
    "answer": address("/sparql", query=GROUPED),
    "chart": address("/sparql", query=GROUPED, view="chart"),
    "map": address("/sparql", query=PLACES, view="map"),
    "graph": address("/sparql", query=CONSTRUCT, view="graph"),
    "resource": address("/resource", uri=BELA + "#me"),
    "hostile-resource": address("/resource", uri=HOSTILE + "#it"),
    "document": address("/document", uri=BELA),
    "hostile-document": address("/document", uri=HOSTILE),
    "host": address("/document", uri="http://people.example"),
    "documents": "/document",
    "changes": address("/changes", uri=HOSTILE),
    "identity": address("/identity", uri=BELA + "#me"),
    "inspect": "/inspect",
    "validate": address("/validate", uri="http://xmlns.com/foaf/0.1/name"),
    "report": address("/report", host="people.example"),
    "reports": "/report",
    "tell": "/ping",
    "status": "/status",
}


class Browser:
    def __init__(self):
        self.driver = subprocess.Popen(["chromedriver", "--port=0"], stdout=subprocess.PIPE, text=True)
        for line in self.driver.stdout:
            found = re.search(r"started successfully on port (\d+)", line)
            if found:
                self.base = f"http://127.0.0.1:{found[1]}"
                break
        options = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars",
                   "--disable-background-networking", "--disable-component-update", f"--user-data-dir={PROFILE}",
                   "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1"]
        wanted = {"browserName": "chrome", "goog:loggingPrefs": {"browser": "ALL", "performance": "ALL"},
                  "goog:chromeOptions": {"args": options}}
        self.session = "/session"
        self.session += "/" + self.call("POST", "", {"capabilities": {"alwaysMatch": wanted}})["sessionId"]

    def call(self, method, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.base + self.session + path, data, {"Content-Type": "application/json"},
                                         method=method)
        try:
            with urllib.request.urlopen(request, timeout=PATIENCE) as reply:
                return json.load(reply)["value"]
        except urllib.error.HTTPError as error:
            raise AssertionError(f"{method} {path}: {error.read()[:600]}") from None

    def close(self):
        try:
            self.call("DELETE", "")
        finally:
            self.driver.terminate()
            self.driver.wait()

    def chrome(self, command, **parameters):
        return self.call("POST", "/goog/cdp/execute", {"cmd": command, "params": parameters})

    def open(self, path):
        self.call("POST", "/url", {"url": SITE + path})

    def run(self, script, *arguments):
        return self.call("POST", "/execute/sync", {"script": script, "args": list(arguments)})

    def wait(self, what, script, *arguments):
        """Until the script gives something true, which is returned."""
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            found = self.run("return " + script, *arguments)
            if found:
                return found
            time.sleep(0.05)
        raise AssertionError(f"waited in vain for {what} at {self.run('return location.href')}: "
                             + self.run("return document.body.innerText.slice(0, 600)"))

    def focus(self, selector):
        self.run("document.querySelector(arguments[0]).focus()", selector)

    def press(self, *keys):
        """Keys of a text one after the other; (A, B): B while A is held."""
        actions = []
        for key in keys:
            held = key if isinstance(key, tuple) else ()
            for each in held or key:
                actions += [{"type": "keyDown", "value": each}] + ([] if held else [{"type": "keyUp", "value": each}])
            actions += [{"type": "keyUp", "value": each} for each in reversed(held)]
        self.call("POST", "/actions", {"actions": [{"type": "key", "id": "keyboard", "actions": actions}]})

    def click(self, selector):
        """A link or button that is seen, as by a mouse."""
        element = self.call("POST", "/element", {"using": "css selector", "value": selector})
        self.call("POST", f"/element/{next(iter(element.values()))}/click", {})

    def width(self, pixels, height=900):
        self.chrome("Emulation.setDeviceMetricsOverride", width=pixels, height=height, deviceScaleFactor=1, mobile=False)

    def picture(self, name):
        if PICTURES:
            os.makedirs(PICTURES, exist_ok=True)
            with open(f"{PICTURES}/{name}.png", "wb") as file:
                file.write(base64.b64decode(self.call("GET", "/screenshot")))

    def complaints(self):
        return [f"{entry['level']}: {entry['message']}" for entry in self.call("POST", "/se/log", {"type": "browser"})
                if entry["level"] in ("SEVERE", "WARNING")]

    def asked(self):
        """The addresses that pages asked for since the last call."""
        events = [json.loads(entry["message"])["message"] for entry in self.call("POST", "/se/log", {"type": "performance"})]
        return [event["params"]["request"]["url"] for event in events if event["method"] == "Network.requestWillBeSent"]


def check_harmless(browser, name):
    found = browser.run("""
        const wrong = [];
        if (window.hacked !== undefined) wrong.push(`script of the web ran: ${window.hacked}`);
        for (const element of document.querySelectorAll('*')) {
            for (const {name, value} of element.attributes) {
                if (/^on/i.test(name) || name === 'autofocus' && !element.closest('.front')) wrong.push(`attribute ${name}`);
                if (/^(href|src|action)$/.test(name) && /^\\s*javascript:/i.test(value)) wrong.push(value);
            }
        }
        for (const script of document.scripts) if (!script.src.startsWith(location.origin + '/assets/')) wrong.push('script');
        for (const picture of document.images) wrong.push(`picture ${picture.src}`);
        return wrong""")
    assert not found, f"{name}: {found}"


def check_pages(browser):
    for name, path in PAGES.items():
        browser.width(360)
        browser.open(path)
        if "view=" in path:
            browser.wait("a drawing", "document.querySelector('#view svg.drawing')")
        for pixels in (360, 800, 1400):
            browser.width(pixels)
            wide = browser.run("return document.documentElement.scrollWidth")
            assert wide <= pixels, f"{name} is {wide} wide at {pixels}"
            browser.picture(f"{name}-{pixels}")
        check_harmless(browser, name)
        assert browser.run("return document.querySelector('main').innerText.length > 10"), f"{name} is empty"
        unnamed = browser.run("""return [...document.querySelectorAll('input, select, textarea, button, a')].filter(
            (element) => element.checkVisibility() && !element.closest('.CodeMirror') && !element.labels?.length &&
            !(element.getAttribute('aria-label') || element.textContent.trim())).map((element) => element.outerHTML)""")
        assert not unnamed, f"{name}: no label: {unnamed}"
        complaints = browser.complaints()
        assert not complaints, f"{name}: {complaints}"
    foreign = [url for url in browser.asked() if not url.startswith((SITE, "data:", "chrome", "about:"))]
    assert not foreign, f"asked of other hosts: {foreign}"


def check_dark(browser):
    browser.open("/")
    light = browser.run("return getComputedStyle(document.body).backgroundColor")
    browser.chrome("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark"}])
    for name in ("front", "answer", "resource", "status", "chart"):
        browser.open(PAGES[name])
        browser.picture(f"{name}-dark")
    dark = browser.run("return getComputedStyle(document.body).backgroundColor")
    assert light != dark, "dark is as light"
    browser.chrome("Emulation.setEmulatedMedia", features=[])


def check_search(browser):
    """A misspelt word leads to a thing, the thing to who says what of it, and that to what its server sent."""
    browser.open("/")
    browser.press("orchad ferryy", ENTER)
    browser.wait("what was found for a misspelt word", "location.pathname === '/search' && document.querySelector('main a')")
    browser.open("/")
    browser.focus("input[data-suggest]")
    browser.press("orch")
    browser.wait("suggestions", "document.querySelector('.suggestions:not([hidden]) li')?.textContent === 'orchard'")
    browser.picture("suggestions")
    browser.press(DOWN, ENTER)
    browser.wait("hits of the suggestion", "location.search.includes('orchard') && document.querySelector('.hit')")
    browser.open(address("/search", q="orchrad"))
    browser.wait("hits of a misspelt word", "document.querySelector('.hit') && document.body.innerText.includes('orchard')")
    browser.picture("misspelt")
    browser.click('.hit a[href^="/resource?uri="]')
    browser.wait("who says what of it", "location.pathname === '/resource' && document.querySelector('table.statements')")
    browser.open(PAGES["resource"])
    browser.wait("the name", "document.querySelector('h1').textContent === 'Béla Szöllősi'")
    browser.click('table.statements a[href*="/document?uri="]')
    browser.wait("the document", "location.pathname === '/document' && document.querySelector('table.triples')")
    browser.click('a[href^="/changes?uri="]')
    browser.wait("what changed in it", "location.pathname === '/changes' && document.querySelector('table.triples')")
    browser.open(PAGES["resource"])
    browser.click('a[href^="/identity?uri="]')
    browser.wait("why it is the same", "document.body.innerText.includes('sameAs')")
    browser.open(address("/archived", uri=HOSTILE))
    browser.wait("the archived response", "document.body.innerText.includes('HTTP/1.1 200')")
    assert browser.run("return document.scripts.length + document.images.length") == 0, "the archive ran"


def check_receipt(browser):
    """A page is told of, from the form and from the page about it; the receipts say what becomes of it."""
    browser.open("/ping")
    browser.focus("main input[name=url]")
    browser.press(BELA, ENTER)
    browser.wait("a receipt", "/^.ping.[0-9a-f]+$/.test(location.pathname) && document.body.innerText.includes(arguments[0])", BELA)
    browser.picture("receipt")
    browser.open(PAGES["document"])
    browser.click('form[action="/v2/ping"] button')
    browser.wait("a receipt", "/^.ping.[0-9a-f]+$/.test(location.pathname) && document.body.innerText.includes(arguments[0])", BELA)


def check_inspection(browser):
    """What is pasted is looked at: the forms of our pages reach us."""
    browser.open("/inspect")
    browser.run("document.querySelector('textarea[name=document]').value = arguments[0]",
                "<urn:a> <http://xmlns.com/foaf/0.1/name> \"pasted <script>window.hacked=9</script>\" .")
    browser.click("form[method=post] button")
    browser.wait("what was found", "document.querySelector('main').innerText.includes('pasted <script>')")
    browser.picture("inspected")
    check_harmless(browser, "inspected")
    browser.open(PAGES["document"])
    browser.click('a[href^="/inspect?archived="]')
    browser.wait("each statement with its line", "location.pathname === '/inspect' && /turtle.\\d/.test(document.body.innerText)")


def check_validation(browser):
    """From the page of a document to what its terms lack, and by the form to those of a property."""
    browser.open(PAGES["document"])
    browser.click('a[href^="/validate?uri="]')
    browser.wait("the document's terms", "location.pathname === '/validate' && document.querySelector('main').innerText.includes('foaf')")
    browser.picture("validated")
    browser.run("document.querySelector('main input[name=uri]').value = arguments[0]", "http://xmlns.com/foaf/0.1/name")
    browser.focus("main input[name=uri]")
    browser.press(ENTER)
    browser.wait("the property", "location.search.includes('foaf') && document.querySelector('main').innerText.includes('foaf/0.1/name')")


def check_query(browser):
    """A query with completion, its answer as a drawing, its address for others."""
    browser.open("/sparql")
    if browser.run("return document.querySelector('.CodeMirror') !== null"):
        browser.run("document.querySelector('.CodeMirror').CodeMirror.setValue('')")
        browser.run("document.querySelector('.CodeMirror').CodeMirror.focus()")
        browser.press("SELECT ?one ?other { ?one foaf:know")
        browser.press((CONTROL, SPACE))
        browser.wait("completions", "document.querySelector('.CodeMirror-hint')?.textContent.startsWith('foaf:knows')")
        browser.picture("completions")
        browser.press(ENTER)
        browser.wait("what was completed", "document.querySelector('.CodeMirror').CodeMirror.getValue().includes('foaf:knows')")
        browser.press(" ?other }", (CONTROL, ENTER))
    else:
        browser.run("document.getElementById('query').value = 'SELECT ?one ?other { ?one foaf:knows ?other }'")
        browser.click("#query-form button")
    rows = browser.wait("rows", "document.querySelectorAll('#rows tbody tr').length")
    browser.click('[data-kind="graph"]')
    browser.wait("a graph", "document.querySelectorAll('#view line.edge').length === arguments[0]", rows)
    shared = browser.run("return location.href")
    assert "view=graph" in shared and "foaf%3Aknows" in shared, shared
    browser.open(address("/sparql", query=PLACES, view="map"))
    browser.wait("places", "document.querySelectorAll('#view circle').length >= 2")
    browser.open(address("/sparql", query=CLOSE, view="chart"))
    browser.wait("a chart of close values", "document.querySelector('#view path.line')")
    browser.complaints()
    browser.open(address("/sparql", query="SELECT nonsense"))
    browser.wait("what is wrong", "document.querySelector('[role=alert]')?.textContent.length > 10")
    wrong = [line for line in browser.complaints() if "status of 400" not in line]
    assert not wrong, wrong


def check_keyboard(browser):
    browser.open("/status")
    browser.press(TAB)
    browser.wait("the link past the navigation", "document.activeElement.className === 'skip'")
    assert browser.run("return document.activeElement.getBoundingClientRect().left >= 0"), "the link is not seen"
    browser.press(ENTER)
    browser.wait("the content", "location.hash === '#content'")
    browser.open(PAGES["identity"])
    browser.press(TAB, TAB, TAB)
    outline = browser.run("return getComputedStyle(document.activeElement).outlineStyle")
    assert outline != "none", "what has the keyboard is not seen"


def check_status(browser):
    browser.open("/status")
    browser.run("window.first = document.getElementById('live')")
    browser.wait("plots", "document.querySelectorAll('#plots:not([hidden]) svg.drawing').length === 4")
    browser.wait("new figures", "document.getElementById('live') !== window.first")
    assert browser.run("return document.querySelectorAll('[data-stage]').length") == 5
    # What was kept before the page was opened is drawn, too.
    browser.wait("what was kept", "fetch('/status/history').then((reply) => reply.json()).then((told) => "
                 "told.samples.some((sample) => sample[0] < performance.timeOrigin && sample[2] > 0))")
    browser.click('button[data-span="day"]')
    browser.wait("a day", "document.querySelector('[data-span=day]').getAttribute('aria-pressed') === 'true'")
    browser.wait("plots of a day", "document.querySelectorAll('#plots svg.drawing path.line').length > 0")
    browser.width(1400, 1500)
    browser.picture("status-live")


def check_without_scripts(browser):
    browser.chrome("Emulation.setScriptExecutionDisabled", value=True)
    for name in ("search", "answer", "resource", "document", "identity", "status"):
        browser.open(PAGES[name])
        browser.picture(f"{name}-plain")
    source = browser.call("GET", "/source")
    assert "http-equiv=\"refresh\"" in source, "the status does not load itself anew"
    browser.open(address("/sparql", query=GROUPED))
    source = browser.call("GET", "/source")
    assert source.count("<td data-term=") >= 10, "no table without scripts"
    browser.chrome("Emulation.setScriptExecutionDisabled", value=False)


def main():
    browser = Browser()
    try:
        for check in (check_pages, check_dark, check_search, check_receipt, check_inspection, check_validation, check_query, check_keyboard,
                      check_status, check_without_scripts):
            begin = time.monotonic()
            check(browser)
            complaints = browser.complaints()
            assert not complaints, f"{check.__name__}: {complaints}"
            print(f"{check.__name__}: {time.monotonic() - begin:.1f} s")
    finally:
        browser.close()


main()
