#!/usr/bin/env python3
"""Cuts N-Triples from standard input into one document per resource below a prefix.

usage: miniweb_datasets.py HOSTS RESOURCES PREFIX

HOSTS/HOST/PATH gets the triples whose subject is the resource (or, for hash URIs, any of the
document's), and those of the blank nodes that hang on it. Appends the documents to RESOURCES."""
import collections
import os
import re
import sys
import urllib.parse

hosts, resources, prefix = sys.argv[1:4]
by_subject = collections.defaultdict(list)
for line in sys.stdin:
    if line.strip():
        by_subject[line.split(None, 1)[0]].append(line)
documents = collections.defaultdict(list)


def take(subject, document, seen):
    if subject in seen:
        return
    seen.add(subject)
    for line in by_subject.get(subject, ()):
        documents[document].append(line)
        node = re.search(r"(_:\S+) \.$", line)
        if node:
            take(node.group(1), document, seen)


for subject in by_subject:
    if subject.startswith("<" + prefix):
        document = subject[1:-1].split("#")[0]
        take(subject, document, set())
with open(resources, "a") as named:
    for document, lines in documents.items():
        url = urllib.parse.urlsplit(document)
        path = hosts + "/" + url.hostname + urllib.parse.unquote(url.path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as file:
            file.writelines(sorted(set(lines)))
        named.write(document + "\n")
