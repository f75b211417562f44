#!/usr/bin/env python3
"""Serves folders as web sites on loopback, with ranges, validators and faults.

usage: faulty_web.py HOSTS PORT_FILE LOG

HOSTS/<hostname> is a virtual host. HOSTS/<hostname>/.faults is read at every request; its lines:

  break PATH BYTES TIMES    the first TIMES answers end after BYTES bytes of their body
  slow PATH BYTES           so many bytes a second
  ranges PATH no|wrong      ranges are not known; or another part than was asked for is sent
  etag PATH TAG|none        instead of one made of size and time
  status PATH STATUS TIMES  the first TIMES answers have this status
  type PATH TYPE            another Content-Type
  redirect PATH TARGET      303
  endpoint PATH KEY=VALUE.. a SPARQL endpoint, see below

An endpoint passes queries on to the one at to=HOST:PORT and misbehaves: cap=N rows or triples at
most; fail=N every Nth query is answered 500; late=N queries with a LIMIT above N are answered
504; post=yes GET is refused with 405; get=yes POST is; retry=N the first is answered 503 with
Retry-After: N; lie=N COUNT is answered with N; move=PATH it is there; unordered=yes ORDER BY is answered 400; nocount=yes COUNT is; truncate=N every Nth
answer ends in its middle.

The log has a line for each answer, separated by tabs: time, host, method, URI, status, bytes sent,
Range, If-Range, If-None-Match, If-Modified-Since, query."""
import email.utils
import http.client
import http.server
import os
import re
import socketserver
import sys
import threading
import time
import urllib.parse

hosts, port_file, log_path = sys.argv[1:4]
lock = threading.Lock()
counts = {}
log = open(log_path, "a", buffering=1)


def count(*key):
    with lock:
        counts[key] = counts.get(key, 0) + 1
        return counts[key]


def faults(host, path):
    found = {}
    try:
        with open(os.path.join(hosts, host, ".faults")) as lines:
            for line in lines:
                words = line.split()
                if len(words) > 1 and words[1] == path:
                    found[words[0]] = words[2:]
    except OSError:
        pass
    return found


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def note(self, status, sent, query=""):
        header = lambda name: self.headers.get(name, "-")
        log.write("\t".join([
            "%.3f" % time.time(), self.host, self.command, self.path, str(status), str(sent),
            header("Range"), header("If-Range"), header("If-None-Match"),
            header("If-Modified-Since"), " ".join(query.split())]) + "\n")

    def empty(self, status, headers=(), body=b""):
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
        self.note(status, len(body))

    def body(self, data, fault, status, query=""):
        sent, cut = 0, len(data)
        if "break" in fault and count("break", self.host, self.path) <= int(fault["break"][1]):
            cut = int(fault["break"][0])
        speed = int(fault["slow"][0]) if "slow" in fault else 0
        step = max(1, speed // 20) if speed else 1 << 16
        try:
            while sent < min(cut, len(data)):
                piece = data[sent:min(cut, len(data), sent + step)]
                self.wfile.write(piece)
                sent += len(piece)
                if speed:
                    time.sleep(len(piece) / speed)
        except OSError:
            pass
        self.note(status, sent, query)
        if sent < len(data):
            self.close_connection = True

    def do_GET(self):
        self.host = self.headers.get("Host", "").split(":")[0]
        path = self.path.split("?")[0]
        fault = faults(self.host, path)
        if "endpoint" in fault:
            return self.endpoint(dict(word.split("=", 1) for word in fault["endpoint"]))
        if "redirect" in fault:
            return self.empty(303, [("Location", fault["redirect"][0])])
        if "status" in fault and count("status", self.host, path) <= int(fault["status"][1]):
            return self.empty(int(fault["status"][0]))
        name = os.path.join(hosts, self.host, urllib.parse.unquote(path).lstrip("/"))
        if os.path.isdir(name):
            name = os.path.join(name, "index.html")
        if not os.path.isfile(name) or path == "/.faults":
            return self.empty(404)
        about = os.stat(name)
        with open(name, "rb") as file:
            data = file.read()
        date = email.utils.formatdate(int(about.st_mtime), usegmt=True)
        tag = '"%x-%x"' % (int(about.st_mtime * 1000), about.st_size)
        if "etag" in fault:
            tag = None if fault["etag"][0] == "none" else fault["etag"][0]
        if (tag and self.headers.get("If-None-Match") == tag) or (
                not self.headers.get("If-None-Match") and
                self.headers.get("If-Modified-Since") == date):
            return self.empty(304, [("ETag", tag)] if tag else [])
        status, first = 200, 0
        wanted = re.match(r"bytes=(\d+)-$", self.headers.get("Range", ""))
        ranges = fault.get("ranges", ["yes"])[0]
        version = self.headers.get("If-Range")
        if wanted and ranges != "no" and (ranges == "wrong" or version in (None, tag, date)):
            first, status = int(wanted.group(1)), 206
            if ranges == "wrong":
                first = first // 2
            if first >= len(data):
                return self.empty(416, [("Content-Range", "bytes */%d" % len(data))])
        self.send_response(status)
        kinds = {"html": "text/html", "xml": "application/xml", "ttl": "text/turtle",
                 "rdf": "application/rdf+xml", "txt": "text/plain"}
        kind = kinds.get(name.rsplit(".", 1)[-1], "application/n-triples")
        self.send_header("Content-Type", fault.get("type", [kind])[0])
        self.send_header("Content-Length", str(len(data) - first))
        self.send_header("Last-Modified", date)
        if tag:
            self.send_header("ETag", tag)
        if status == 206:
            self.send_header("Content-Range",
                             "bytes %d-%d/%d" % (first, len(data) - 1, len(data)))
        self.end_headers()
        if self.command != "HEAD":
            self.body(data[first:], fault, status)

    do_POST = do_HEAD = do_GET

    # ---- endpoints ----

    def endpoint(self, says):
        length = int(self.headers.get("Content-Length") or 0)
        sent = self.rfile.read(length) if length else b""
        form = self.path.partition("?")[2]
        kind = self.headers.get("Content-Type", "").split(";")[0]
        if self.command == "POST" and kind == "application/sparql-query":
            query = sent.decode()
        else:
            if self.command == "POST":
                form = sent.decode()
            query = urllib.parse.parse_qs(form).get("query", [""])[0]
        number = count("endpoint", self.host, self.path.split("?")[0])
        refuse = lambda status, *headers: (self.note(status, 0, query), self.quiet(status, headers))
        if says.get("post") and self.command == "GET" or says.get("get") and self.command == "POST":
            return refuse(405)
        if says.get("move"):
            return refuse(302, ("Location", says["move"] + "?" + form))
        if says.get("retry") and number == 1:
            return refuse(503, ("Retry-After", says["retry"]))
        if says.get("fail") and number % int(says["fail"]) == 0:
            return refuse(500)
        if not query:
            return refuse(400)
        if says.get("unordered") and "ORDER BY" in query:
            return refuse(400)
        if says.get("nocount") and "COUNT" in query:
            return refuse(400)
        limit = re.search(r"LIMIT (\d+)", query)
        if says.get("late") and limit and int(limit.group(1)) > int(says["late"]):
            return refuse(504)
        query_sent = query
        if says.get("cap") and "CONSTRUCT" in query:
            query_sent += " LIMIT " + says["cap"]
        connection = http.client.HTTPConnection(says["to"])
        connection.request("POST", "/sparql", query_sent.encode(), {
            "Content-Type": "application/sparql-query", "Accept": self.headers.get("Accept", "*/*")})
        answer = connection.getresponse()
        data = answer.read()
        if says.get("lie") and "COUNT" in query:
            data = re.sub(rb"\d+", says["lie"].encode(), data)
        self.send_response(answer.status)
        self.send_header("Content-Type", answer.headers.get("Content-Type", "text/plain"))
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        if says.get("truncate") and number % int(says["truncate"]) == 0:
            data = data[:len(data) // 2]
            self.close_connection = True
        self.wfile.write(data)
        self.note(answer.status, len(data), query)

    def quiet(self, status, headers):
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("Content-Length", "0")
        self.end_headers()


class Server(socketserver.ThreadingMixIn, http.server.HTTPServer):
    daemon_threads = True
    request_queue_size = 100


server = Server(("127.0.0.1", 0), Handler)
with open(port_file + ".new", "w") as out:
    out.write("%d\n" % server.server_port)
os.rename(port_file + ".new", port_file)
server.serve_forever()
