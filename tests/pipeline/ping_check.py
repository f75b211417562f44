"""Pings as publishers' programs send them, and their receipts. Arguments: tell or follow, URL of the service, a file
in which the first leaves the receipts for the second."""
import json
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
import xmlrpc.client

step, service, path = sys.argv[1:]
SITE = "http://pub.example"
GOOD, BAD = "0123456789abcdef", "fedcba9876543210"


def ask(target, body=None, content_type="text/plain", **headers):
    headers["Accept"] = headers.get("Accept", "application/json")
    if body is not None:
        headers["Content-Type"] = content_type
        body = body.encode()
    request = urllib.request.Request(service + target, body, headers)
    try:
        with urllib.request.urlopen(request, timeout=60) as reply:
            return reply.status, reply.headers, reply.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.headers, error.read().decode()


def check(holds, *what):
    if not holds:
        sys.exit(f"{step}: {what}")


def submit(key, urls, **more):
    return ask("/indexnow", json.dumps({"host": "pub.example", "key": key, "urlList": urls, **more}),
               "application/json; charset=utf-8")


def receipt(address, **more):
    status, _, text = ask(address, **more)
    check(status == 200, address, status, text)
    return json.loads(text)


def tell():
    status, headers, text = ask("/v2/ping", f"{SITE}/a.ttl\n\n{SITE}/missing.ttl\n{SITE}/private/x\n{SITE}/busy.ttl\nno URL\n"
                                            "http://elsewhere.example/\n")
    reply = json.loads(text)
    check(status == 202 and headers["Location"] == reply["receipt"], status, text)
    check((reply["taken"], reply["refused"], reply["verified"]) == (4, 2, "no"), text)
    check("out of scope" in reply["problems"][1]["reason"], text)
    found = receipt(reply["receipt"])["found"]
    check([f["state"] for f in found] == ["queued"] * 4, found)
    receipts = {"post": reply["receipt"]}

    status, _, text = ask("/v2/ping", "http://elsewhere.example/\n")
    check(status == 422 and "out of scope" in text, status, text)
    check(ask("/v2/ping", "no URL")[0] == 400, "malformed")
    check(ask("/v2/ping", "")[0] == 400, "empty")
    check(ask("/v2/ping", f"{SITE}/a.ttl", Origin="http://evil.example")[0] == 403, "a page of another site")
    status, headers, text = ask("/v2/ping", "".join(f"{SITE}/{i}\n" for i in range(51)))
    check(status == 429 and int(headers["Retry-After"]) > 0, status, text)

    server = xmlrpc.client.ServerProxy(service + "/xmlrpc/api")
    reply = server.weblogUpdates.ping("A site", SITE + "/b.ttl")
    check(reply["flerror"] is False, reply)
    receipts["xmlrpc"] = reply["receipt"]
    reply = server.weblogUpdates.extendedPing("A site", SITE + "/b.ttl", SITE + "/b.ttl", SITE + "/a.ttl")
    check(reply["flerror"] is False and receipt(reply["receipt"])["urls"] == 2, reply)
    check(server.weblogUpdates.ping("A site", "http://elsewhere.example/")["flerror"] is True, "out of scope")
    try:
        server.system.listMethods()
        check(False, "an unknown method")
    except xmlrpc.client.Fault as fault:
        check(fault.faultCode == -32601, fault)

    status, _, text = submit(GOOD, [SITE + "/sub/c.ttl", SITE + "/sub/busy.ttl"])
    check(status == 202 and json.loads(text)["verified"] == "awaited", status, text)
    receipts["good"] = json.loads(text)["receipt"]
    check(receipt(receipts["good"])["found"][0]["state"] == "awaits key", receipts)
    status, _, text = submit(BAD, [SITE + "/never.ttl"])
    check(status == 202, status, text)
    receipts["bad"] = json.loads(text)["receipt"]
    check(submit("short", [SITE + "/a.ttl"])[0] == 422, "a key that is none")
    check(submit(GOOD, [SITE + "/d.ttl", "http://elsewhere.example/"])[0] == 202, "one is in scope")
    check(submit(GOOD, ["http://elsewhere.example/"], host="elsewhere.example")[0] == 422, "out of scope")
    check(submit(GOOD, [SITE + "/a.ttl"], host="elsewhere.example")[0] == 422, "another host")
    check(submit(GOOD, [SITE + "/a.ttl"], keyLocation=SITE + "/sub/k.txt")[0] == 422, "outside of the folder")
    check(ask("/indexnow", "{", "application/json")[0] == 400, "no JSON")
    check(ask("/indexnow?key=" + GOOD)[0] == 400, "no url")
    check(ask("/ping/" + "0" * 32)[0] == 404, "no such receipt")
    status, headers, text = ask(receipts["post"], Accept="text/html")
    check(status == 200 and "<table>" in text and SITE + "/a.ttl" in text and "Refresh" in headers, text)
    # What a browser sends from the form; it is led to the receipt.
    check('name="url"' in ask("/ping", Accept="text/html")[2], "no form")
    status, _, text = ask("/v2/ping", urllib.parse.urlencode({"url": f"{SITE}/a.ttl\r\n{SITE}/b.ttl"}),
                          "application/x-www-form-urlencoded", Accept="text/html", Origin=service)
    check(status == 200 and "2 URLs" in text and SITE + "/b.ttl" in text, status, text)
    with open(path, "w", encoding="utf-8") as file:
        json.dump(receipts, file)


def until(address, holds):
    """Follows a receipt until all of its URLs have ended."""
    end = time.time() + 240
    while True:
        found = receipt(address)
        if holds(found):
            return found
        check(time.time() < end, found)
        time.sleep(0.1)


def follow():
    with open(path, encoding="utf-8") as file:
        receipts = json.load(file)
    post = until(receipts["post"], lambda r: r["ended"] == 4)
    check("Refresh" not in ask(receipts["post"], Accept="text/html")[1], "all is final")
    by_url = {f["url"]: f for f in post["found"]}
    a = by_url[SITE + "/a.ttl"]
    check((a["state"], a["quads"], a["status"]) == ("indexed", 1, 200), a)
    check(by_url[SITE + "/missing.ttl"]["outcome"] == "gone", post)
    private = by_url[SITE + "/private/x"]
    check(private["outcome"] == "denied" and "robots" in private["reason"], private)
    busy = by_url[SITE + "/busy.ttl"]
    check((busy["state"], busy["outcome"], busy["status"]) == ("ended", "failed", 503), busy)
    check((post["documents"], post["quads"]) == (1, 1), post)
    b = until(receipts["xmlrpc"], lambda r: r["ended"] == 1)
    check(b["documents"] == 1, b)
    good = until(receipts["good"], lambda r: r["ended"] == 2)
    check(good["verified"] == "yes" and good["documents"] == 2, good)
    bad = until(receipts["bad"], lambda r: r["verified"] != "awaited")
    check(bad["verified"] == "failed" and bad["found"][0]["state"] == "refused", bad)
    check("another key" in bad["keyReason"], bad)
    status, _, text = submit(BAD, [SITE + "/never.ttl"])
    check(status == 403 and "another key" in text, status, text)
    status, _, text = ask(f"/indexnow?key={GOOD}&url={SITE}/sub/c.ttl")
    check(status == 200 and json.loads(text)["verified"] == "yes", status, text)
    again = until(json.loads(text)["receipt"], lambda r: r["ended"] == 1)
    check(again["found"][0]["state"] == "indexed", again)
    check(again["found"][0]["outcome"] in ("unchanged", "not_modified"), again)
    end = time.time() + 240
    while "Zwetschgendatschi" not in ask("/search?format=json&q=zwetschgendatschi")[2]:
        check(time.time() < end, "the search does not find it")
        time.sleep(0.1)


{"tell": tell, "follow": follow}[step]()
