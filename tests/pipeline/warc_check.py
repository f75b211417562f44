#!/usr/bin/env python3
"""Reads WARC files (ISO 28500:2017) with Python's standard library alone and checks every record.

usage: warc_check.py FILE.warc.gz...
Each gzip member must be one record with the mandatory headers, exact lengths and right digests;
responses must be HTTP. Prints how many records of each type there are; exit 1 at the first fault.
"""
import base64
import collections
import datetime
import gzip
import hashlib
import re
import sys
import zlib

MANDATORY = ("WARC-Record-ID", "WARC-Date", "WARC-Type", "Content-Length")


def members(path):
    """The gzip members of a file, each decompressed and tested by its checksum."""
    with open(path, "rb") as file:
        piece = file.read(1 << 16)
        while piece:
            reader, record = zlib.decompressobj(16 + zlib.MAX_WBITS), []
            while piece and not reader.eof:
                record.append(reader.decompress(piece))
                piece = reader.unused_data or (b"" if reader.eof else file.read(1 << 16))
            if not reader.eof:
                raise ValueError("a member is cut off")
            yield b"".join(record)
            piece = piece or file.read(1 << 16)


def headers_of(text):
    headers = {}
    for line in text.decode("utf-8").split("\r\n")[1:]:
        name, colon, value = line.partition(":")
        if not colon or not re.fullmatch(r"[A-Za-z0-9-]+", name):
            raise ValueError("header line %r" % line)
        if name in headers:
            raise ValueError("%s twice" % name)
        headers[name] = value.strip()
    return headers


def digest(data):
    return "sha1:" + base64.b32encode(hashlib.sha1(data).digest()).decode()


def check_record(record, known):
    head, end, rest = record.partition(b"\r\n\r\n")
    if not end or not head.startswith(b"WARC/1.1\r\n"):
        raise ValueError("no header of WARC/1.1: %r" % head[:40])
    headers = headers_of(head)
    for name in MANDATORY:
        if name not in headers:
            raise ValueError("without " + name)
    length, kind = int(headers["Content-Length"]), headers["WARC-Type"]
    block = rest[:length]
    if rest[length:] != b"\r\n\r\n":
        raise ValueError("Content-Length %d does not end the record" % length)
    datetime.datetime.fromisoformat(headers["WARC-Date"].replace("Z", "+00:00"))
    if not re.fullmatch(r"<urn:uuid:[0-9a-f-]{36}>", headers["WARC-Record-ID"]):
        raise ValueError("WARC-Record-ID " + headers["WARC-Record-ID"])
    if headers["WARC-Record-ID"] in known:
        raise ValueError("WARC-Record-ID twice: " + headers["WARC-Record-ID"])
    if headers.get("WARC-Block-Digest") not in (None, digest(block)):
        raise ValueError("wrong WARC-Block-Digest of " + headers["WARC-Record-ID"])
    if kind in ("request", "response"):
        check_exchange(kind, headers, block)
    if kind == "request" and headers.get("WARC-Concurrent-To") not in known:
        raise ValueError("request without its response: " + headers["WARC-Record-ID"])
    known.add(headers["WARC-Record-ID"])
    return kind


def check_exchange(kind, headers, block):
    uri = headers.get("WARC-Target-URI", "")
    if not re.match(r"https?://[^ <>]+$", uri):
        raise ValueError("WARC-Target-URI %r" % uri)
    head, end, body = block.partition(b"\r\n\r\n")
    first = rb"HTTP/1\.[01] [0-9]{3}( |\r|$)" if kind == "response" else rb"GET \S+ HTTP/1\.[01]\r"
    if not end or not re.match(first, head):
        raise ValueError("no HTTP %s: %r" % (kind, block[:60]))
    if headers.get("WARC-Payload-Digest") not in (None, digest(body)):
        raise ValueError("wrong WARC-Payload-Digest of " + uri)
    if re.search(rb"(?i)\r\nTransfer-Encoding:", head):
        raise ValueError("announces a transfer coding that is undone: " + uri)


def main(paths):
    total = collections.Counter()
    for path in paths:
        known, size = set(), 0
        try:
            for number, record in enumerate(members(path)):
                size += len(record)
                kind = check_record(record, known)
                if (kind == "warcinfo") != (number == 0):
                    raise ValueError("a file must have one warcinfo, its first record")
                total[kind] += 1
            with gzip.open(path, "rb") as whole:  # another reader sees the same bytes
                if sum(len(piece) for piece in iter(lambda: whole.read(1 << 20), b"")) != size:
                    raise ValueError("gzip reads another length")
        except (ValueError, zlib.error, EOFError, OSError) as fault:
            print("%s: record %d: %s" % (path, sum(total.values()), fault))
            return 1
    print(" ".join("%s=%d" % pair for pair in sorted(total.items())))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
