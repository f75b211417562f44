#!/usr/bin/env python3
"""Serves a folder by FTP on loopback, passive mode only, with faults.

usage: ftp_server.py ROOT PORT_FILE LOG [CERTIFICATE]

With a certificate (PEM, with its key) it is FTP over TLS from the first byte (ftps). Anonymous users,
and me:secret. ROOT/.faults is read at every command; its lines, where PATH * is every path:

  greet CODE TIMES          the first TIMES connections are greeted with this reply and closed
  reply PATH VERB CODE TIMES  the first TIMES commands VERB get this reply; PATH is that of SIZE,
                            MDTM, RETR and CWD, of REST the one of the last SIZE, else *
  break PATH BYTES TIMES    the first TIMES downloads end after BYTES bytes with 426
  drop PATH BYTES TIMES     the same, and the control connection breaks with them
  slow PATH BYTES           so many bytes a second
  size PATH BYTES           SIZE says this
  endless PATH              the file never ends
  unended PATH              no reply follows the file
  silent *                  no greeting comes
  noise * KIND              replies are preceded by: line (a megabyte without an end), lines (for
                            ever), binary
  foreign *                 EPSV is not known, PASV names 127.0.0.2

The log has a line for each command, separated by tabs: time at which it came, number of the connection, user, verb,
argument, reply, bytes sent, offset; and for the end of each connection one with the verb "end"."""
import os
import socket
import socketserver
import ssl
import sys
import threading
import time

root, port_file, log_path = sys.argv[1:4]
certificate = sys.argv[4] if len(sys.argv) > 4 else None
lock = threading.Lock()
counts = {}
log = open(log_path, "a", buffering=1)


def count(*key):
    with lock:
        counts[key] = counts.get(key, 0) + 1
        return counts[key]


def fault(path, name, verb=None):
    """The words after the path of the first line that fits; None: there is none."""
    try:
        with open(os.path.join(root, ".faults")) as lines:
            for line in lines:
                words = line.split()
                if name == "greet" and words[:1] == ["greet"]:
                    return words[1:]
                if len(words) > 1 and words[0] == name and words[1] in ("*", path):
                    if verb is None or words[2] == verb:
                        return words[2:]
    except OSError:
        pass
    return None


class Handler(socketserver.BaseRequestHandler):
    def setup(self):
        self.number, self.at = count("connection"), time.time()
        self.user, self.known, self.folder = "-", False, "/"
        self.offset, self.listener, self.protected = 0, None, False
        self.replied, self.asked = 0, "*"

    def note(self, verb, argument="", sent=0):
        log.write("\t".join([
            "%.3f" % self.at, str(self.number), self.user, verb, argument, str(self.replied),
            str(sent), str(self.offset)]) + "\n")

    def say(self, code, text="so"):
        noise = fault("", "noise")
        kind = noise[0] if noise else ""
        self.replied = code
        if kind == "line":
            self.request.sendall(b"%d-" % code + b"x" * (1 << 20) + b"\r\n")
        while kind == "lines":
            self.request.sendall(b"%d-and so on\r\n" % code * 100)
        if kind == "binary":
            self.request.sendall(os.urandom(5000).replace(b"2", b"\0"))
        self.request.sendall(b"%d %s\r\n" % (code, text.encode()))

    def handle(self):
        try:
            if certificate:
                self.request = self.server.tls.wrap_socket(self.request, server_side=True)
            if fault("", "silent") is not None:
                time.sleep(3600)
            greet = fault("", "greet")
            if greet and count("greet") <= int(greet[1]):
                self.say(int(greet[0]))
                return self.note("greet")
            self.say(220, "a server for tests")
            lines = self.request.makefile("rb")
            while True:
                line = lines.readline(10000)
                if not line:
                    break
                self.at = time.time()
                verb, _, argument = line.decode("utf-8", "replace").strip("\r\n").partition(" ")
                if not self.command(verb.upper(), argument):
                    break
        except OSError:
            pass
        finally:
            self.note("end")
            if self.listener:
                self.listener.close()

    def path_of(self, argument):
        return os.path.normpath(os.path.join(self.folder, argument)).replace("//", "/")

    def command(self, verb, argument):
        path = self.path_of(argument) if verb in ("SIZE", "MDTM", "RETR", "CWD") else "*"
        self.asked = path if verb == "SIZE" else self.asked
        path = self.asked if verb == "REST" else path
        reply = fault(path, "reply", verb)
        if reply and count("reply", path, verb) <= int(reply[2]):
            self.say(int(reply[1]))
            self.note(verb, argument)
            return int(reply[1]) != 421
        perform = getattr(self, "do_" + verb, None)
        if perform is None or not (self.known or verb in ("USER", "PASS", "QUIT", "PBSZ", "PROT")):
            self.say(502 if perform is None else 530, "no")
            self.note(verb, argument)
            return True
        sent = perform(argument, path)
        self.note(verb, argument, sent or 0)
        self.offset = 0 if verb == "RETR" else self.offset
        return verb != "QUIT" and sent != -1

    def do_USER(self, argument, _):
        self.user = argument
        self.say(331, "the password of %s" % argument)

    def do_PASS(self, argument, _):
        self.known = self.user == "anonymous" and "@" in argument or (
            self.user == "me" and argument == "secret")
        self.say(230 if self.known else 530, "for %s" % self.user)

    def do_PBSZ(self, *_):
        self.say(200)

    def do_PROT(self, argument, _):
        self.protected = argument == "P"
        self.say(200)

    def do_PWD(self, *_):
        self.say(257, '"%s"' % self.folder)

    def do_TYPE(self, argument, _):
        self.say(200 if argument == "I" else 504)

    def do_CWD(self, _, path):
        there = os.path.isdir(root + path)
        self.folder = path if there else self.folder
        self.say(250 if there else 550)

    def do_SIZE(self, _, path):
        lie = fault(path, "size")
        if not os.path.isfile(root + path):
            return self.say(550, "no such file")
        self.say(213, lie[0] if lie else str(os.path.getsize(root + path)))

    def do_MDTM(self, _, path):
        if not os.path.isfile(root + path):
            return self.say(550, "no such file")
        self.say(213, time.strftime("%Y%m%d%H%M%S", time.gmtime(os.path.getmtime(root + path))))

    def do_REST(self, argument, _):
        self.offset = int(argument)
        self.say(350)

    def listen(self):
        if self.listener:
            self.listener.close()
        self.listener = socket.create_server((self.request.getsockname()[0], 0))
        self.listener.settimeout(10)
        return self.listener.getsockname()

    def do_EPSV(self, *_):
        if fault("", "foreign") is not None:
            return self.say(500)
        self.say(229, "here (|||%d|)" % self.listen()[1])

    def do_PASV(self, *_):
        address, port = self.listen()
        if fault("", "foreign") is not None:
            address = "127.0.0.2"
        self.say(227, "here (%s,%d,%d)" % (address.replace(".", ","), port >> 8, port & 255))

    def do_RETR(self, _, path):
        if not os.path.isfile(root + path):
            self.say(550, "no such file")
            return 0
        if not self.listener:
            self.say(425)
            return 0
        self.say(150)
        data, _ = self.listener.accept()
        if certificate and self.protected:
            data = self.server.tls.wrap_socket(data, server_side=True)
        try:
            sent, broken = self.send(path, data)
        finally:
            try:
                data = data.unwrap() if certificate and self.protected else data
            except OSError:
                pass
            data.close()
        if broken == "drop":
            return -1
        if fault(path, "unended") is not None:
            time.sleep(3600)
        self.say(426 if broken else 226)
        return sent

    def send(self, path, data):
        cut, broken = 1 << 62, None
        for kind in ("break", "drop"):
            words = fault(path, kind)
            if words and count(kind, path) <= int(words[1]):
                cut, broken = int(words[0]), kind
        slow = fault(path, "slow")
        speed = int(slow[0]) if slow else 0
        step = max(1, speed // 20) if speed else 1 << 16
        sent = 0
        with open(root + path, "rb") as file:
            file.seek(self.offset)
            while sent < cut:
                piece = file.read(min(step, cut - sent))
                if not piece and fault(path, "endless") is not None:
                    piece = b"#" * step
                if not piece:
                    return sent, None
                data.sendall(piece)
                sent += len(piece)
                if speed:
                    time.sleep(len(piece) / speed)
        return sent, broken

    def do_QUIT(self, *_):
        self.say(221)


class Server(socketserver.ThreadingMixIn, socketserver.TCPServer):
    daemon_threads = True
    allow_reuse_address = True
    request_queue_size = 100


server = Server(("127.0.0.1", 0), Handler)
if certificate:
    server.tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.tls.load_cert_chain(certificate)
with open(port_file + ".new", "w") as out:
    out.write("%d\n" % server.server_address[1])
os.rename(port_file + ".new", port_file)
server.serve_forever()
