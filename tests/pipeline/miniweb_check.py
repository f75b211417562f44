#!/usr/bin/env python3
"""Checks a crawl of the mini web against its server's log, its pages and other RDF parsers.

1. Nothing was fetched twice, nothing that robots.txt forbids was fetched.
2. Every seed was fetched, and with every document all that it links to on the crawled hosts:
   redirects, links of HTML (read by Python's own parser), of feeds and sitemaps, and IRIs of RDF
   (from the dump, since 3. checks that).
3. Every RDF file gave as many triples as serdi or rapper count; where the count of TRIPLES.tsv
   differs, distinct triples are counted, as an index stores sets. What remains must stand in the
   file of differences: path pattern, ours, theirs, reason.

Prints what it counted; exit 1 with a line for each fault. It shares no code with the crawler.
"""
import argparse
import collections
import fnmatch
import gzip
import html.entities
import html.parser
import http.client
import os
import re
import subprocess
import sys
import tempfile
import urllib.parse
import urllib.robotparser
import xml.etree.ElementTree

UNRESERVED = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
KEPT = UNRESERVED | frozenset(b"!$&'()*+,;=:@/?")
FOLLOWED_RELATIONS = frozenset(
    "alternate appendix bookmark chapter contents copyright first glossary help index last license "
    "meta next prev section start subsection top up author canonical describedby me".split())
TOOLS = {
    "rdfxml": ["rapper", "-q", "-i", "rdfxml", "-o", "ntriples"],
    "turtle": ["serdi", "-q", "-i", "turtle", "-o", "ntriples"],
    "trig": ["serdi", "-q", "-i", "trig"],
    "ntriples": ["serdi", "-q", "-i", "ntriples"],
    "nquads": ["serdi", "-q", "-i", "nquads"],
}
TERM = rb'(?:<[^<>]*>|_:\S+|"(?:[^"\\]|\\.)*"(?:@[A-Za-z0-9-]+|\^\^<[^<>]*>)?)'
QUAD = re.compile(rb"^(" + TERM + rb" " + TERM + rb" " + TERM + rb") (?:<[^<>]*>|_:\S+) \.$")


# ---- URLs ----

def escape(text):
    """One spelling of a path or query: unreserved decoded, the rest upper case, bad % escaped."""
    bytes_in, out, at = text.encode("utf-8", "surrogateescape"), [], 0
    while at < len(bytes_in):
        byte, digits = bytes_in[at], bytes_in[at + 1:at + 3]
        if byte == 0x25 and re.fullmatch(rb"[0-9A-Fa-f]{2}", digits):
            value = int(digits, 16)
            out.append(chr(value) if value in UNRESERVED else "%%%02X" % value)
            at += 3
            continue
        out.append(chr(byte) if byte in KEPT else "%%%02X" % byte)
        at += 1
    return "".join(out)


def without_dots(path):
    out = []
    segments = path.split("/")[1:]
    for i, segment in enumerate(segments):
        last = i == len(segments) - 1
        if segment == "..":
            del out[-1:]
        elif segment != ".":
            out.append(segment)
            continue
        if last:
            out.append("")
    return "/" + "/".join(out)


def resolve(reference, base):
    """By the rules for web addresses, which know no empty segments to drop; dots stay."""
    scheme = re.match(r"(?i)([a-z][a-z0-9+.-]*):", reference)
    base_scheme, _, rest = base.partition("://")
    if scheme and scheme.group(1).lower() not in ("http", "https"):
        return reference
    head, mark, tail = reference.partition("#")[0].partition("?")
    head, tail = head.replace("\\", "/"), mark + tail
    if scheme:
        head = head[scheme.end():]
        if head.startswith("//") or scheme.group(1).lower() != base_scheme.lower():
            return scheme.group(1).lower() + "://" + head.lstrip("/") + tail
    if head.startswith("//"):
        return base_scheme + "://" + head.lstrip("/") + tail
    host, slash, path = rest.partition("#")[0].partition("?")[0].partition("/")
    origin = base_scheme + "://" + host
    if head.startswith("/"):
        return origin + head + tail
    if head:
        return origin + "/" + path[:path.rfind("/") + 1] + head + tail
    return origin + slash + path + tail if mark else base.partition("#")[0]


def key(reference, base):
    """The URI by which a crawler should know what is referred to; None when it is not of the web."""
    reference = re.sub(r"[\t\n\r]", "", reference.strip("".join(map(chr, range(33)))))
    try:
        parts = urllib.parse.urlsplit(resolve(reference, base))
        port = parts.port
    except ValueError:
        return None
    if parts.scheme not in ("http", "https") or not parts.hostname:
        return None
    name = parts.hostname.rstrip(".")
    if port and port != {"http": 80, "https": 443}[parts.scheme]:
        name += ":%d" % port
    uri = parts.scheme + "://" + name + without_dots(escape(parts.path or "/"))
    return uri + "?" + escape(parts.query).replace("'", "%27") if parts.query else uri


# ---- links ----

class Links(html.parser.HTMLParser):
    SILENT = frozenset(("template", "textarea", "title", "xmp", "noembed", "noframes", "iframe"))

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.base, self.found, self.silent = None, [], None

    def handle_starttag(self, tag, attributes):
        if self.silent:
            return
        value = {}
        for name, text in attributes:
            value.setdefault(name, text or "")
        if tag == "base" and self.base is None and "href" in value:
            self.base = value["href"]
        elif tag in ("a", "area") and "href" in value:
            self.found.append(value["href"])
        elif tag in ("frame", "iframe") and value.get("src"):
            self.found.append(value["src"])
        elif tag == "link" and "href" in value:
            if FOLLOWED_RELATIONS & set(value.get("rel", "").lower().split()):
                self.found.append(value["href"])
        if tag in self.SILENT:
            self.silent = tag

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)

    def handle_endtag(self, tag):
        if tag == self.silent:
            self.silent = None


def decode(body):
    for mark, name in ((b"\xef\xbb\xbf", "utf-8-sig"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16")):
        if body.startswith(mark):
            return body.decode(name, "replace")
    said = re.search(rb"<meta[^>]*charset\s*=\s*[\"']?\s*([A-Za-z0-9_:-]+)", body[:4096])
    try:
        return body.decode(said.group(1).decode() if said else "utf-8")
    except (LookupError, UnicodeDecodeError):
        return body.decode("utf-8" if not said else "windows-1252", "replace")


def guard(match):
    """html.parser decodes what in an attribute is none: a reference without ; before = or a letter."""
    name, after = match.groups()
    if after == ";" or (after != "=" and name in html.entities.html5):
        return match.group(0)
    return "&amp;" + name + after


def html_links(uri, body):
    reader = Links()
    reader.feed(re.sub(r"&([A-Za-z][A-Za-z0-9]*)([^A-Za-z0-9])", guard, decode(body)))
    base = resolve(reader.base.strip(), uri) if reader.base else uri
    if not base.startswith(("http:", "https:")):
        base = uri
    return [(link, base) for link in reader.found]


def xml_links(uri, body):
    """Links of feeds and sitemaps."""
    try:
        tree = xml.etree.ElementTree.fromstring(body)
    except (xml.etree.ElementTree.ParseError, ValueError, LookupError):
        return []
    space, _, root = tree.tag.rpartition("}")
    found = []
    if root in ("urlset", "sitemapindex"):
        host = urllib.parse.urlsplit(uri).netloc
        for entry in tree:
            for child in entry:
                if child.tag.rpartition("}")[2] == "loc" and child.text and (
                        urllib.parse.urlsplit(child.text.strip()).netloc == host):
                    found.append(child.text)
    elif root == "rss" and not space:
        for channel in tree.findall("channel"):
            for item in [channel] + channel.findall("item"):
                if any(name.endswith("}base") for part in (tree, channel, item) for name in part.attrib):
                    continue
                texts = [child.text for child in item if child.tag == "link"]
                found += texts[:1] if texts and texts[0] else []
    elif root == "feed" and space.endswith("www.w3.org/2005/Atom"):
        for entry in [tree] + tree.findall(space + "}entry"):
            for link in entry.findall(space + "}link"):
                if link.get("rel", "alternate") == "alternate" and link.get("href") and not any(
                        name.endswith("}base") for part in (tree, entry, link) for name in part.attrib):
                    found.append(link.get("href"))
    return [(link, uri) for link in found]


# ---- the web ----

class Web:
    def __init__(self, server):
        self.address, self.connection = server, None

    def get(self, host, path):
        for attempt in (1, 2):
            if self.connection is None:
                self.connection = http.client.HTTPConnection(self.address, timeout=20)
            try:
                self.connection.putrequest("GET", path, skip_host=True)
                self.connection.putheader("Host", host)
                self.connection.endheaders()
                answer = self.connection.getresponse()
                return answer, answer.read()
            except (http.client.HTTPException, OSError):
                self.connection.close()
                self.connection = None
                if attempt == 2:
                    raise
        return None


def read_log(path):
    """GETs of pages by URI: how often, last status; and how often robots.txt of an origin."""
    pages, rules = collections.Counter(), collections.Counter()
    with open(path, encoding="utf-8", errors="surrogateescape") as log:
        for line in log:
            _, host, method, target, _, _, scheme = line.rstrip("\n").split("\t")[:7]
            if method == "GET":
                (rules if target == "/robots.txt" else pages)["%s://%s%s" % (scheme, host, target)] += 1
    return pages, rules


def read_dump(path):
    """Number of quads of each graph, and the http IRIs that are subject or object in it."""
    counts, iris = collections.Counter(), collections.defaultdict(set)
    term = re.compile(rb"^(?:<(http[^<>]*)>|_:\S+) <[^<>]*> (?:<(http[^<>]*)>|.*) <([^<>]*)> \.\n?$", re.S)
    with open(path, "rb") as dump:
        for line in dump:
            match = term.match(line)
            graph = line[line.rindex(b"<") + 1:line.rindex(b">")].decode()
            counts[graph] += 1
            for iri in match.groups()[:2] if match else ():
                if iri:
                    iris[graph].add(iri.decode())
    return counts, iris


# ---- checks ----

class Check:
    def __init__(self, options):
        self.options, self.faults, self.web = options, [], Web(options.server)
        with open(options.seeds, encoding="utf-8") as seeds:
            self.seeds = [line.strip() for line in seeds if line.strip() and line[0] != "#"]
        self.hosts = {urllib.parse.urlsplit(seed).netloc for seed in self.seeds}
        self.pages, self.rules_asked = read_log(options.log)
        self.counts, self.iris = read_dump(options.dump)
        self.rules = {}

    def fault(self, *words):
        self.faults.append(" ".join(map(str, words)))

    def allowed(self, uri):
        parts = urllib.parse.urlsplit(uri)
        if parts.netloc not in self.rules:
            answer, body = self.web.get(parts.netloc, "/robots.txt")
            rules = urllib.robotparser.RobotFileParser()
            rules.parse(body.decode("utf-8", "replace").splitlines() if answer.status == 200 else [])
            self.rules[parts.netloc] = rules
        return self.rules[parts.netloc].can_fetch("Quadrille", uri)

    def doubles(self):
        for uri, n in self.pages.items():
            # A JSON-LD context is fetched as a page that is linked, and for documents that need it.
            if n > (2 if uri.endswith((".jsonld", "context.json")) else 1):
                self.fault("fetched", n, "times:", uri)
            if not uri.partition("://")[2].startswith("_/") and not self.allowed(uri):
                self.fault("fetched though robots.txt forbids it:", uri)
        for uri, n in self.rules_asked.items():
            if n > 2:  # once for its rules, once as a page that is linked
                self.fault("rules asked for", n, "times:", uri)

    def links_of(self, uri):
        parts = urllib.parse.urlsplit(uri)
        answer, body = self.web.get(parts.netloc, uri.partition(parts.netloc)[2])
        if answer.status in (301, 302, 303, 307, 308):
            target = answer.getheader("Location")
            # The server builds it for the port that was asked.
            return [(re.sub("^https?:", parts.scheme + ":", target), uri)]
        if answer.status != 200:
            return []
        kind = (answer.getheader("Content-Type") or "").partition(";")[0]
        start = body[:1024].lstrip(b"\xef\xbb\xbf \t\r\n")
        rdf = kind in ("application/rdf+xml", "text/turtle", "application/trig", "application/n-triples",
                       "application/n-quads", "text/n3")
        if rdf:
            return [(iri, uri) for iri in self.iris[uri]]
        root = re.search(rb"<([A-Za-z][A-Za-z0-9_:.-]*)", start)
        if kind in ("text/html", "application/xhtml+xml") and (
                not start.startswith(b"<?xml") or (root and root.group(1).lower() == b"html")):
            return html_links(uri, body)
        if kind in ("text/xml", "application/rss+xml", "application/atom+xml"):
            return xml_links(uri, body)
        return []

    def completeness(self):
        fetched = {key(uri, uri) for uri in self.pages}
        links = missing = denied = 0
        for seed in self.seeds:
            if key(seed, seed) not in fetched:
                self.fault("seed was not fetched:", seed)
        seen = set(fetched)
        for uri in sorted(fetched - {None}):
            if urllib.parse.urlsplit(uri).netloc not in self.hosts:
                self.fault("out of scope:", uri)
                continue
            for reference, base in self.links_of(uri):
                target = key(reference, base)
                links += 1
                if target is None or target in seen or urllib.parse.urlsplit(target).netloc not in self.hosts:
                    continue
                seen.add(target)
                if target.endswith("/robots.txt") and self.rules_asked[target] > 1:
                    continue
                if not self.allowed(target):
                    denied += 1
                    continue
                missing += 1
                self.fault("not fetched:", target, "which is linked as", repr(reference), "from", uri)
        print("pages: %d fetched once; %d links of them on %d hosts, %d denied by robots.txt, %d missing"
              % (len(fetched), links, len(self.hosts), denied, missing))

    def distinct(self, path, syntax, uri):
        with open(os.path.join(self.options.hosts, path), "rb") as file:
            body = file.read()
        if syntax.endswith("+gz"):
            syntax, body = syntax[:-3], gzip.decompress(body)
        with tempfile.NamedTemporaryFile() as copy:
            copy.write(body)
            copy.flush()
            lines = subprocess.run(TOOLS[syntax] + [copy.name, uri], stdout=subprocess.PIPE, check=False,
                                   stderr=subprocess.DEVNULL, timeout=120).stdout.split(b"\n")
        if syntax in ("trig", "nquads"):  # graphs are folded into the document's
            lines = [QUAD.sub(rb"\1 .", line) for line in lines]
        return len(set(lines) - {b""})

    def differences(self):
        with open(self.options.differences, encoding="utf-8") as file:
            return [line.rstrip("\n").split("\t") for line in file if line.strip() and line[0] != "#"]

    def triples(self):
        by_path = {}
        for uri in self.pages:
            if uri.startswith("http://"):
                by_path[urllib.parse.unquote(uri[7:])] = uri
        listed, used = self.differences(), set()
        outcome = collections.Counter()
        with open(self.options.triples, encoding="utf-8") as table:
            rows = [line.rstrip("\n").split("\t") for line in table][1:]
        for path, syntax, said in (row[:3] for row in rows):
            uri = by_path.get(path)
            if syntax == "jsonld" or uri is None:
                continue
            ours = self.counts[uri]
            if said == str(ours):
                outcome["equal"] += 1
                continue
            theirs = self.distinct(path, syntax, uri)
            if theirs == ours:
                outcome["equal when doubles count once"] += 1
                continue
            for i, (pattern, our_count, their_count, _) in enumerate(listed):
                if (fnmatch.fnmatchcase(path, pattern) and our_count in ("*", str(ours)) and
                        their_count in ("*", str(theirs))):
                    used.add(i)
                    outcome["differ for a listed reason"] += 1
                    break
            else:
                self.fault("triples:", path, "ours", ours, "theirs", theirs)
        if self.options.all:
            for i, row in enumerate(listed):
                if i not in used:
                    self.fault("listed, but does not differ that way:", *row[:3])
        print("RDF files: " + ", ".join("%d %s" % (n, what) for what, n in outcome.most_common()))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    for name, text in (("hosts", "folder of the hosts' files"), ("log", "the server's access log"),
                       ("server", "its host:port"), ("dump", "N-Quads of the crawl"),
                       ("seeds", "seeds, one a line: the hosts that were crawled"),
                       ("triples", "TRIPLES.tsv"), ("differences", "differences that are explained")):
        parser.add_argument("--" + name, required=True, help=text)
    parser.add_argument("--all", action="store_true", help="all hosts: every difference must occur")
    check = Check(parser.parse_args())
    check.doubles()
    check.completeness()
    check.triples()
    for fault in check.faults[:200]:
        print("FAULT:", fault)
    print("faults: %d" % len(check.faults))
    return 1 if check.faults else 0


if __name__ == "__main__":
    sys.exit(main())
