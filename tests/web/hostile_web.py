#!/usr/bin/env python3
"""Hosts that do to a crawler what they can, on loopback, each in a way of its own.

usage: hostile_web.py [--tls CERTIFICATE KEY] PORTS_FILE LOG
       hostile_web.py --hosts          # a line for each host: name, good pages that it has

Every host has a root that links to two good pages (Turtle) and to what it is there for (/bad and
others, see the tables). PORTS_FILE gets "port PORT" and, with --tls, a line "NAME PORT" for each
way to spoil TLS or HTTP/2. Besides 127.0.0.1 the port is open at 127.0.0.2 and ::1, which stand for
what is private: no request may ever come there.

The log has a line for each request: host, method, URI, seconds since the start; and lines "!WHAT ..." for what a crawler must
not do: connect to a private address, send cookies, credentials or header lines of a server."""
import asyncio
import gzip
import os
import re
import socket
import ssl
import struct
import sys
import time

began = time.monotonic()
ports = {}
log = None
BLOCK = 1 << 18
MEMBER = gzip.compress(bytes(10 << 20), 6)
BOMB = MEMBER * 100  # a megabyte, of which a gigabyte comes
HTML, XML, TURTLE = "text/html", "application/rdf+xml", "text/turtle"


def note(*words):
    log.write("\t".join(words) + "\n")


def own(host, path):
    return f"http://{host}:{ports['port']}{path}"


def private(path):
    """Every way to write what is not public."""
    port = ports["port"]
    names = ["127.0.0.2", "2130706434", "0x7f000002", "0177.0.0.2", "127.2", "127.0.2", "0x7f.2",
             "[::1]", "[::ffff:127.0.0.2]", "[::ffff:7f00:2]", "[0:0:0:0:0:0:0:1]", "[::127.0.0.2]",
             "[64:ff9b::7f00:2]", "[2002:7f00:2::]", "[::ffff:0:127.0.0.2]", "[fe80::1]", "[::]",
             "[100::1]", "inner.example", "INNER.example", "inner.example.", "%69nner.example",
             "１２７.０.０.２", "127。0。0。2", "10.0.0.1", "169.254.169.254", "192.168.0.1", "0.0.0.0",
             "u:p@127.0.0.2", "[2001:db8::5efe:127.0.0.2]"]
    return [f"http://{name}:{port}{path}" for name in names]


class Gone(Exception):
    pass


class Peer:
    def __init__(self, reader, writer, host, path, headers):
        self.reader, self.writer = reader, writer
        self.host, self.path, self.headers = host, path, headers

    async def say(self, data):
        self.writer.write(data if isinstance(data, bytes) else data.encode("utf-8", "surrogateescape"))
        await self.writer.drain()

    async def answer(self, body, kind=HTML, status="200 OK", headers=()):
        body = body if isinstance(body, bytes) else body.encode()
        lines = [f"HTTP/1.1 {status}", f"Content-Type: {kind}", f"Content-Length: {len(body)}",
                 "Connection: close", *headers]
        await self.say("\r\n".join(lines) + "\r\n\r\n")
        await self.say(body)

    async def ever(self, data, pause=0.0):
        data = data.encode() if isinstance(data, str) else data
        data = data if pause else data * max(1, BLOCK // len(data))
        while True:
            await self.say(data)
            await asyncio.sleep(pause or 0.01)  # others are to be answered, too

    def reset(self):
        sock = self.writer.get_extra_info("socket")
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.writer.transport.abort()


# ---- what is said at /bad, in bytes; a tuple: first once, then the second for ever ----

OK = "HTTP/1.1 200 OK\r\n"
CHUNKED = OK + "Transfer-Encoding: chunked\r\n\r\n"
RAW = {
    "header-endless": (OK, "X-Endless: yes yes yes yes\r\n"),
    "header-line": (OK + "X-Line: ", "x" * 1000),
    "header-folded": (OK + "X-Folded: a\r\n", " and more\r\n"),
    "header-nul": OK + "X-Nul: a\0b\r\nContent-Length: 1\r\n\r\nx",
    "header-no-colon": OK + "nothing at all\r\n: empty\r\nContent-Length: 1\r\n\r\nx",
    "header-link": OK + "Link: " + "<http://x.example/>; rel=x, " * 900 + "\r\nContent-Length: 1\r\n\r\nx",
    "header-bare-cr": OK + "X-A: b\rX-B: c\rContent-Length: 1\r\n\r\nx",
    "interim-endless": ("", "HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n"),
    "interim-continue": ("", "HTTP/1.1 100 Continue\r\n\r\n"),
    "status-switch": "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\r\nbytes",
    "status-garbage": "HELLO there\r\n\r\nwhat?",
    "status-none": "<!DOCTYPE html><title>HTTP/0.9</title>",
    "status-999": "HTTP/1.1 999 Beyond\r\nContent-Length: 0\r\n\r\n",
    "status-negative": "HTTP/1.1 -200 Less\r\nContent-Length: 0\r\n\r\n",
    "status-large": "HTTP/1.1 20000 Large\r\nContent-Length: 0\r\n\r\n",
    "status-zero": "HTTP/1.1 000 None\r\nContent-Length: 0\r\n\r\n",
    "status-version": "HTTP/9.9 200 OK\r\nContent-Length: 0\r\n\r\n",
    "status-line": ("HTTP/1.1 200 ", "O" * 1000),
    "status-304": "HTTP/1.1 304 Not Modified\r\nETag: \"x\"\r\n\r\n",
    "status-204": "HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\nhello",
    "status-206": "HTTP/1.1 206 Partial\r\nContent-Range: bytes 5-1/-7\r\nContent-Length: 5\r\n\r\nhello",
    "status-401": "HTTP/1.1 401 Who\r\nWWW-Authenticate: Basic realm=\"" + "x" * 9000 + "\"\r\nContent-Length: 0\r\n\r\n",
    "trailers-endless": (CHUNKED + "1\r\nx\r\n0\r\n", "X-Endless: yes yes yes yes\r\n"),
    "trailers-location": CHUNKED + "1\r\nx\r\n0\r\nLocation: http://127.0.0.2/\r\nContent-Length: 99\r\n\r\n",
    "chunk-extension": (CHUNKED + "1;", "x=yyyyyyyyyyyyyyyyy;"),
    "chunk-size": CHUNKED + "FFFFFFFFFFFFFFFFFF\r\nx",
    "chunk-negative": CHUNKED + "-5\r\nhello",
    "chunk-endless": (CHUNKED, "1\r\nx\r\n"),
    "chunk-cut": CHUNKED + "100\r\nhalf",
    "chunk-and-length": OK + "Transfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n1\r\nx\r\n0\r\n\r\n",
    "chunk-twice": OK + "Transfer-Encoding: chunked, chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n",
    "length-long": OK + "Content-Length: 1000\r\n\r\nshort",
    "length-two": OK + "Content-Length: 1\r\nContent-Length: 5\r\n\r\nhello",
    "length-huge": OK + "Content-Length: 999999999999999999\r\n\r\nx",
    "length-overflow": OK + "Content-Length: 99999999999999999999999\r\n\r\nx",
    "length-negative": OK + "Content-Length: -1\r\n\r\nx",
    "length-words": OK + "Content-Length: many\r\n\r\nx",
    "body-endless": (OK + "Content-Type: text/html\r\n\r\n", "<p>more"),
    "close-request": "",
    "close-status": "HTTP/1.",
    "close-header": OK + "Content-Le",
    "coding-unknown": OK + "Content-Encoding: sdch, x-nothing\r\nContent-Length: 1\r\n\r\nx",
    "coding-lie": OK + "Content-Encoding: gzip\r\nContent-Length: 5\r\n\r\nhello",
    "coding-chain": OK + "Content-Encoding: " + "gzip, " * 500 + "gzip\r\nContent-Length: 5\r\n\r\nhello",
    "coding-cut": (OK + "Content-Encoding: gzip\r\nContent-Length: 9000\r\n\r\n").encode() + MEMBER[:5000],
    "redirect-none": "HTTP/1.1 302 Found\r\nContent-Length: 0\r\n\r\n",
    "redirect-nul": "HTTP/1.1 302 Found\r\nLocation: /a\0b\r\nContent-Length: 0\r\n\r\n",
    "redirect-long": "HTTP/1.1 302 Found\r\nLocation: /" + "x" * 60000 + "\r\nContent-Length: 0\r\n\r\n",
    "redirect-many": "HTTP/1.1 302 Found\r\n" + "Location: /good1\r\n" * 500 + "Content-Length: 0\r\n\r\n",
    "retry-far": "HTTP/1.1 503 Wait\r\nRetry-After: 99999999999999999999\r\nContent-Length: 0\r\n\r\n",
    "retry-date": "HTTP/1.1 429 Wait\r\nRetry-After: Fri, 31 Dec 9999 23:59:59 GMT\r\nContent-Length: 0\r\n\r\n",
    "retry-past": "HTTP/1.1 503 Wait\r\nRetry-After: -5\r\nContent-Length: 0\r\n\r\n",
    "alternative": OK + "Alt-Svc: h2=\"127.0.0.2:PORT\"; ma=9\r\nRefresh: 0; url=http://127.0.0.2:PORT/\r\n"
                   "Content-Location: http://127.0.0.2:PORT/\r\nContent-Length: 1\r\n\r\nx",
    "cookies": OK + "".join(f"Set-Cookie: c{i}=v; Domain=.example; Path=/\r\n" for i in range(300)) + "Content-Length: 1\r\n\r\nx",
}

# ---- documents at /bad: type, text ----

RDF = '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:v="http://v.example/">'


def laughs(root, use):
    text, last = f"<!DOCTYPE {root} [<!ENTITY a0 'aaaaaaaaaaaaaaaaaaaaaaaaa'>", "a0"
    for i in range(1, 12):
        text += f"<!ENTITY a{i} '{('&' + last + ';') * 10}'>"
        last = f"a{i}"
    return text + "]>" + use.replace("BOMB", f"&{last};")


DOCUMENTS = {
    "html-deep": (HTML, "<!DOCTYPE html>" + "<div><b><a href=x>" * 20000),
    "html-attribute": (HTML, "<!DOCTYPE html><a href='/bad' title='" + "x" * 900000 + "'>x</a>"),
    "html-attributes": (HTML, "<!DOCTYPE html><p " + " ".join(f"a{i}=1" for i in range(60000)) + ">x"),
    "html-links": (HTML, "<!DOCTYPE html>" + "".join(f"<a href=/bad?q={i}>" for i in range(5000))),
    "html-nul": (HTML, "<!DOCTYPE html>\0\0<a href='/go\0od1'>\0</a>" + "\0" * 5000),
    "html-comment": (HTML, "<!DOCTYPE html><!--" + "-" * 500000),
    "html-entities": (HTML, "<!DOCTYPE html><p>" + "&#x110000;&#0;&amp" * 40000),
    "html-table": (HTML, "<!DOCTYPE html>" + "<table><tr><td>x" * 20000),
    "xml-deep": (XML, RDF + "<rdf:Description><v:p>" * 30000),
    "xml-laughs": (XML, laughs("rdf:RDF", RDF + "<rdf:Description><v:p>BOMB</v:p></rdf:Description></rdf:RDF>")),
    "xml-file": (XML, "<!DOCTYPE x [<!ENTITY a SYSTEM 'file:///etc/passwd'>]>" + RDF +
                 "<rdf:Description><v:p>&a;</v:p></rdf:Description></rdf:RDF>"),
    "xml-attribute": (XML, RDF + "<rdf:Description v:p='" + "x" * 900000 + "'/></rdf:RDF>"),
    "json-deep": ("application/ld+json", '{"@context":{"p":"http://v.example/p"},"p":' + "[" * 200000),
    "json-objects": ("application/ld+json", '{"http://v.example/p":' * 50000),
    "json-number": ("application/ld+json", '{"http://v.example/p":' + "9" * 500000 + "}"),
    "turtle-deep": (TURTLE, "<http://a.example/> <http://v.example/p> " + "[ <http://v.example/p> " * 100000),
    "turtle-lists": (TURTLE, "<http://a.example/> <http://v.example/p> " + "(" * 200000),
    "turtle-blanks": (TURTLE, "\n".join(f"_:b{i} <http://v.example/p> _:b{(i * 7 + 1) % 3000} ." for i in range(9000))),
    "charset-seven": ("text/html; charset=utf-7", "+ADw-script+AD4-"),
    "charset-wide": ("text/html; charset=utf-16", "<!DOCTYPE html><p>not wide"),
    "charset-none": ("text/html; charset=" + "x" * 5000, "<!DOCTYPE html><p>x"),
    "type-none": ("/;;;=\"", "what am I?"),
}

# ---- robots.txt and sitemaps of a host; robots.txt names /map unless it is given here ----

MAP = '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">'
INDEX = '<sitemapindex xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">'


def listed(head, locations):
    item, end = ("sitemap", "</sitemapindex>") if head == INDEX else ("url", "</urlset>")
    return head + "".join(f"<{item}><loc>{one}</loc></{item}>" for one in locations) + end


MAPS = {
    "map-nested": lambda p: listed(INDEX, [own(p.host, f"/map{int(p.path[4:] or 0) * 2 + i}") for i in (1, 2)]),
    "map-self": lambda p: listed(INDEX, [own(p.host, "/map"), own(p.host, "/map1")]),
    "map-wide": lambda p: listed(INDEX, [own(p.host, f"/map{i}") for i in range(3000)]) if p.path == "/map" else MAP,
    "map-file": lambda p: "<!DOCTYPE x [<!ENTITY a SYSTEM 'file:///etc/passwd'>]>" + listed(MAP, ["/&a;"]),
    "map-fetch": lambda p: f"<!DOCTYPE x SYSTEM 'http://127.0.0.2:{ports['port']}/x.dtd'>" + listed(MAP, ["/good1"]),
    "map-laughs": lambda p: laughs("urlset", listed(MAP, ["/BOMB"])),
    "map-bomb": lambda p: BOMB,
    "map-bombs": lambda p: gzip.compress(BOMB, 1),
    "map-deep": lambda p: MAP + "<url><loc>" * 200000,
    "map-location": lambda p: listed(MAP, ["/" + "x" * 900000]),
    "map-foreign": lambda p: listed(MAP, private("/map") + ["http://other.example/x"]),
    "map-schemes": lambda p: listed(MAP, ["file:///etc/passwd", "javascript:x", "ftp://127.0.0.2/x", "//127.0.0.2/x"]),
    "map-ampersands": lambda p: MAP + "<url><loc>" + "&" * 900000,
    "map-binary": lambda p: os.urandom(100000),
    "map-wide-letters": lambda p: b"\xff\xfe" + os.urandom(100001),
    "map-lines": lambda p: "\n".join(private("/list")) + "\nhttp://" + "x" * 100000,
}
ROBOTS = {
    "robots-binary": b"\0\xff\xfe" * 5000 + b"\nUser-agent: *\nDisallow: /secret\n",
    "robots-line": b"User-agent: *\nDisallow: /" + b"x" * 400000,
    "robots-page": b"<!DOCTYPE html><title>404</title>",
    "robots-stars": b"User-agent: *\nDisallow: /" + b"*a" * 2000 + b"$\n",
    "robots-delay": b"User-agent: *\nCrawl-delay: 99999999999999999999\nCrawl-delay: -1\n",
    "robots-maps": b"User-agent: *\n" + b"".join(b"Sitemap: /map%d\n" % i for i in range(20000)),
    "robots-agents": b"User-agent: x\n" * 30000,
}

# ---- what takes more than bytes ----


async def drip(p):
    await p.say(OK + "Content-Length: 1000\r\n\r\n")
    await p.ever("x", 0.3)


async def drip_header(p):
    await p.say(OK)
    await p.ever("X", 0.3)


async def silent(p):
    await asyncio.sleep(60)


async def reset(p):
    await p.say(OK + "Content-Length: 100\r\n\r\nhalf")
    p.reset()


async def bomb(p):
    await p.answer(BOMB, HTML, headers=("Content-Encoding: gzip",))


async def bombs(p):
    body = BOMB
    for _ in range(3):
        body = gzip.compress(body, 1)
    await p.answer(body, TURTLE, headers=("Content-Encoding: gzip, gzip, gzip, gzip",))


async def bomb_xml(p):
    text = RDF + "<rdf:Description>" + "<v:p>x</v:p>" * 10
    await p.answer(gzip.compress(text.encode()) + MEMBER * 20, XML, headers=("Content-Encoding: gzip",))


async def poison(p):
    """The rest of it looks like the answer to the next request of the connection, which it would be if it came later."""
    await p.say(OK + "Content-Type: text/html\r\nContent-Length: 1\r\n\r\nx"
                "HTTP/1.1 200 OK\r\nContent-Type: text/turtle\r\nContent-Length: 60\r\n\r\n"
                "<> <http://vocab.example/name> \"poisoned\" .".ljust(60))
    await asyncio.sleep(1)


def to(target, status="302 Found"):
    async def redirect(p):
        where = target(p) if callable(target) else target
        await p.say(f"HTTP/1.1 {status}\r\nLocation: {where}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
    return redirect


def number(p):
    found = re.search(r"\d+$", p.path)
    return int(found.group()) if found else 0


def many(name, targets):
    """A page of links, each of which is redirected to one of the targets."""
    async def page(p):
        if p.path == "/bad":
            links = "".join(f"<a href=/bad{i}>" for i in range(1, len(targets()) + 1))
            return await p.answer("<!DOCTYPE html>" + links)
        await to(targets()[(number(p) - 1) % len(targets())])(p)
    return name, page


async def robots_endless(p):
    await p.say(OK + "\r\nUser-agent: *\nAllow: /\n")
    await p.ever("# nothing\n")


async def robots_bomb(p):
    await p.answer(BOMB, "text/plain", headers=("Content-Encoding: gzip",))


async def trap(p):
    links = "".join(f"<a href={p.path.rstrip('/')}/{i}x>" for i in range(3))
    await p.answer("<!DOCTYPE html>" + links + f"<a href='?s={number(p) + 1}'>")


async def page_of_private(p):
    p_links = "".join(f"<a href='{one}'>" for one in private("/link"))
    await p.answer(f"<!DOCTYPE html><base href='{private('/')[0]}'>"
                   f"<meta http-equiv=refresh content='0; url={private('/refresh')[0]}'>"
                   f"<link rel=meta href=/relative>{p_links}")


async def contexts(p):
    if p.path == "/bad":
        at = number(p)
        items = ", ".join(f'{{"@context": "{one}", "x": 1}}' for one in private("/context")[:12])
        return await p.answer(f'[{items}, {{"@context": "{own(p.host, "/bad1")}", "x": {at}}}]',
                              "application/ld+json")
    await p.answer(f'{{"@context": ["{own(p.host, f"/bad{number(p) + 1}")}", {{"x": "http://v.example/x"}}]}}',
                   "application/ld+json")


async def tags(p):
    """Validators that would end the header line of the next request."""
    await p.answer("<!DOCTYPE html>x", headers=("ETag: \"a\rX-Smuggled: 1\"", "Last-Modified: now\rX-Smuggled: 2"))


BAD = {
    "body-drip": drip, "header-drip": drip_header, "silent": silent, "reset": reset, "bomb": bomb,
    "bombs": bombs, "bomb-xml": bomb_xml, "poison": poison, "html-trap": trap,
    "html-private": page_of_private, "json-contexts": contexts, "tags": tags,
    "redirect-self": to("/bad"), "redirect-loop": to(lambda p: "/bad2" if p.path == "/bad" else "/bad"),
    "redirect-chain": to(lambda p: f"/bad{number(p) + 1}"),
    "redirect-smuggle": to("/good1%0d%0aX-Smuggled:%201\rX-Smuggled: 2"),
    "redirect-user": to(lambda p: own(p.host, "/good1").replace("//", "//user:secret@")),
    "redirect-relative": to("../../../../../..//\\/../good1"),
    "redirect-forever": to(lambda p: own(p.host, "/bad?" + p.path + "x" * 100), "308 Moved"),
    **dict([
        many("redirect-private", lambda: private("/")),
        many("redirect-schemes", lambda: ["file:///etc/passwd", "ftp://127.0.0.2/", "gopher://127.0.0.2:PORT/",
                                          "javascript:alert(1)", "data:text/html,x", "ldap://127.0.0.2/",
                                          "http:", "http://", "https:///x", "//", "about:blank", "dict://127.0.0.2:1/"]),
        many("redirect-ports", lambda: [f"http://hop.example:{n}/" for n in
                                        ("0", "65536", "99999999999", "-1", "1", "80 ", "x")]),
        many("redirect-names", lambda: ["http://ехample.example/", "http://xn--/", "http://xn--a.example/",
                                        "http://a\u00adb.example/", "http://" + "a" * 300 + ".example/",
                                        "http://a..example/", "http://-a.example/", "http://[::1/", "http://[x]/",
                                        "http://ex ample.example/", "http://%00.example/", "http://\u202ea.example/"]),
    ]),
}

ROBOTS_BAD = {
    "robots-endless": robots_endless, "robots-bomb": robots_bomb,
    "robots-chain": to(lambda p: f"/robots.txt?{len(p.path)}{p.path}"), "robots-loop": to("/robots.txt"),
    "robots-private": to(lambda p: private("/robots.txt")[0]), "robots-named": to(lambda p: private("/robots.txt")[18]),
    "robots-drip": drip, "robots-silent": silent, "robots-reset": reset,
}
NO_RULES = {"robots-private", "robots-named", "robots-drip", "robots-silent", "robots-reset"}
TLS = ("tls-plain", "tls-garbage", "tls-silent", "tls-alert", "tls-close", "tls-records", "tls-name", "h2-reset",
       "h2-goaway", "h2-pings", "h2-settings", "h2-continuation", "h2-push", "h2-frame", "h2-window")

hosts = ["plain", *RAW, *DOCUMENTS, *MAPS, *ROBOTS, *BAD, *ROBOTS_BAD, "close-accept", *TLS]


def name_of(host):
    return host[:-len(".example")] if host.endswith(".example") else host


async def bad(p, name):
    if name in RAW:
        said = RAW[name]
        first, rest = said if isinstance(said, tuple) else (said, None)
        first = first.replace("PORT", str(ports["port"])) if isinstance(first, str) else first
        if first:
            await p.say(first)
        if rest:
            await p.ever(rest)
    elif name in DOCUMENTS:
        await p.answer(DOCUMENTS[name][1], DOCUMENTS[name][0])
    elif name in BAD:
        await BAD[name](p)
    elif name == "close-accept":
        p.reset()
    else:
        await p.answer("<!DOCTYPE html>nothing bad")


async def page(p):
    name = name_of(p.host)
    if p.path == "/robots.txt" and name in ROBOTS_BAD or p.path.startswith("/robots.txt?"):
        await ROBOTS_BAD[name](p)
    elif p.path == "/robots.txt":
        maps = f"Sitemap: {own(p.host, '/map')}\n" if name in MAPS else ""
        await p.answer(ROBOTS.get(name, ("User-agent: *\nDisallow: /secret\n" + maps).encode()), "text/plain")
    elif p.path == "/":
        links = ["/good1", "/bad", "/good2"]
        if name in TLS:
            links += [f"https://{p.host}:{ports[name]}/bad"]
        await p.answer("<!DOCTYPE html><title>root</title>" + "".join(f"<a href='{one}'>x</a>" for one in links))
    elif p.path in ("/good1", "/good2"):
        await p.answer(f'<> <http://vocab.example/name> "{p.path[1:]} of {p.host}" .', TURTLE)
    elif p.path.startswith("/map") and name in MAPS:
        await p.answer(MAPS[name](p), "application/xml")
    elif p.path.startswith("/bad"):
        await bad(p, name)
    else:
        await p.answer("", status="404 Not Found")


def judge(host, lines):
    for line in lines[1:]:
        name = line.split(":")[0].strip().lower()
        if name in ("cookie", "authorization", "x-smuggled", "referer") or not re.fullmatch(r"[a-z-]+", name):
            note("!HEADER", host, repr(line))


async def serve(reader, writer):
    try:
        while True:
            head = await reader.readuntil(b"\r\n\r\n")
            lines = head.decode("latin-1")[:-4].split("\r\n")
            method, path, _ = lines[0].split(" ", 2)
            headers = dict(line.split(": ", 1) for line in lines[1:] if ": " in line)
            host = re.sub(r":\d+$", "", headers.get("Host", "-"))
            note(host, method, path, "%.2f" % (time.monotonic() - began))
            judge(host, lines)
            p = Peer(reader, writer, host, path, headers)
            await page(p)
            if name_of(host) != "poison":
                break
    except (OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, ValueError, Gone):
        pass
    finally:
        writer.close()


async def serve_private(reader, writer):
    note("!PRIVATE", str(writer.get_extra_info("sockname")))
    writer.close()


# ---- TLS and HTTP/2 ----


def frame(kind, flags, stream, payload=b""):
    return struct.pack(">I", len(payload))[1:] + bytes((kind, flags)) + struct.pack(">I", stream) + payload


HEAD = b"\x88"  # :status 200, of the static table
H2 = {
    "h2-reset": [frame(3, 0, 1, struct.pack(">I", 8))],
    "h2-goaway": [frame(7, 0, 0, struct.pack(">II", 0, 11))],
    "h2-pings": [frame(6, 0, 0, bytes(8)) * 1000],
    "h2-settings": [frame(4, 0, 0, struct.pack(">HI", 3, 100) * 50) * 500],
    "h2-continuation": [frame(1, 0, 1, HEAD)] + [frame(9, 0, 1, b"\x40\x01a\x7f\x80\x01" + b"b" * 255) * 50],
    "h2-push": [frame(5, 4, 1, struct.pack(">I", 2) + HEAD) * 100],
    "h2-frame": [b"\xff\xff\xff\x00\x00\x00\x00\x00\x01", bytes(16384)],
    "h2-window": [frame(8, 0, 0, struct.pack(">I", 0x7fffffff)) * 1000],
}


async def serve_h2(name, reader, writer):
    try:
        writer.write(frame(4, 0, 0))
        await reader.read(65536)
        await asyncio.sleep(0.1)
        for data in H2[name]:
            writer.write(data)
            await writer.drain()
        for _ in range(200):
            writer.write(H2[name][-1])
            await writer.drain()
            await asyncio.sleep(0.005)
        await asyncio.sleep(5)
    except OSError:
        pass
    finally:
        writer.close()


async def serve_tls_oddly(name, reader, writer):
    try:
        await reader.read(4096)
        if name == "tls-plain":
            writer.write(OK.encode() + b"\r\nplain")
        elif name == "tls-garbage":
            writer.write(os.urandom(100000))
        elif name == "tls-alert":
            writer.write(b"\x15\x03\x03\x00\x02\x02\x28")
        elif name == "tls-records":  # empty ones, for ever
            for _ in range(200):
                writer.write(b"\x16\x03\x03\x00\x00" * 100)
                await writer.drain()
                await asyncio.sleep(0.005)
        elif name == "tls-silent":
            await asyncio.sleep(60)
        await writer.drain()
    except OSError:
        pass
    finally:
        writer.close()


async def start_tls(certificate, key):
    for name in TLS:
        context = None
        if name in H2 or name == "tls-name":
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate, key)
            context.set_alpn_protocols(["h2"] if name in H2 else ["http/1.1"])
        handler = serve_h2 if name in H2 else serve_tls_oddly
        server = await asyncio.start_server(
            lambda r, w, name=name, handler=handler: handler(name, r, w), "127.0.0.1", 0, ssl=context)
        ports[name] = server.sockets[0].getsockname()[1]


async def main(arguments):
    global log
    tls = arguments[1:3] if arguments[0] == "--tls" else None
    ports_file, log_file = arguments[-2:]
    log = open(log_file, "a", buffering=1)
    while "port" not in ports:
        first = await asyncio.start_server(serve, "127.0.0.1", 0, backlog=1000)
        port = first.sockets[0].getsockname()[1]
        try:
            await asyncio.start_server(serve_private, "127.0.0.2", port)
            ports["port"] = port
        except OSError:
            first.close()
    try:
        await asyncio.start_server(serve_private, "::1", port)
    except OSError:
        pass  # no IPv6 here
    if tls:
        await start_tls(*tls)
    with open(ports_file + ".new", "w") as file:
        file.writelines(f"{name} {port}\n" for name, port in ports.items())
    os.rename(ports_file + ".new", ports_file)
    await asyncio.Event().wait()


if sys.argv[1:] == ["--hosts"]:
    for one in hosts:
        print(one + ".example", 0 if one in NO_RULES else 2)
else:
    asyncio.run(main(sys.argv[1:]))
