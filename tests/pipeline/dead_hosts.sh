#!/usr/bin/env bash
# Hosts that refuse connections, accept them and say nothing, fail at TLS, or have no address are set aside
# with all their URIs: a finite crawl ends and says which, how many, why, and has all pages of the hosts that
# answer. The crawl again tries each of them once. Processes that go on ask each by one request at a time, also after all of
# them were killed with -9; what is found for such a host meanwhile joins; and when they are back each of their URIs is
# asked for once, in order. The server logs every connection and every question for a name.
. "$(dirname "$0")/lib.sh"
command -v openssl >/dev/null || skip "apt-get install openssl"
each=300 # URIs of each host
dead=(refuses mute tls nameless)
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=tls.example \
    -addext subjectAltName=DNS:tls.example -keyout "$work/key.pem" -out "$work/ca.pem" 2>"$work/openssl.log" ||
    fail "openssl: $(cat "$work/openssl.log")"
cat >"$work/server.py" <<'P'
"""Hosts by address: 127.5.0.1 answers always; 2 refuses, 3 is mute, 4 (with TLS) closes, 5 has a name that does
not exist, until the file "back" is there. Robots.txt and pages are 404; http://good.example/ links to hosts.
The log has a line for each event: host, what."""
import asyncio, os, socket, ssl, sys

work, port = sys.argv[1], 0
log = open(work + "/log", "w", buffering=1)
names = {1: "good", 2: "refuses", 3: "mute", 4: "tls", 5: "nameless"}

def back():
    return os.path.exists(work + "/back")

def note(number, what):
    log.write(f"{names[number]} {what}\n")

async def serve(reader, writer):
    number = int(writer.get_extra_info("sockname")[0].split(".")[3])
    try:
        if number == 3 and not back():
            note(number, "dead")
            await reader.read()
            return
        while line := await reader.readline():
            path = line.split()[1].decode()
            while (await reader.readline()).strip():
                pass
            if number > 1 and not back(): # a connection that was kept
                note(number, "dead")
                return
            note(number, path)
            root = number == 1 and not path.endswith(".txt")
            more = "".join(f"<a href=http://{n}.example:{port}/late/{path[1:]}>x</a>" for n in ("refuses", "mute"))
            body = f"<!DOCTYPE html><title>x</title>{more}".encode() if root else b""
            status = "200 OK" if root else "404 Not Found"
            writer.write(f"HTTP/1.1 {status}\r\nContent-Type: text/html\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body)
            await writer.drain()
    except (ConnectionError, asyncio.IncompleteReadError, ssl.SSLError):
        pass
    finally:
        writer.close()

async def slam(reader, writer):
    note(4, "dead")
    writer.close()

class Names(asyncio.DatagramProtocol):
    def connection_made(self, transport):
        self.transport = transport
    def datagram_received(self, data, address):
        end = data.index(b"\0", 12) + 5
        is_a = data[end - 4:end - 2] == b"\0\1"
        there = back() and is_a
        if is_a and not back():
            note(5, "dead")
        head = data[:2] + (b"\x81\x80" if back() else b"\x81\x83") + b"\0\1" + (b"\0\1" if there else b"\0\0") + b"\0\0\0\0"
        answer = b"\xc0\x0c\0\1\0\1\0\0\0\x3c\0\4" + bytes([127, 5, 0, 5]) if there else b""
        self.transport.sendto(head + data[12:end] + answer, address)

async def main():
    global port
    while True: # a port that is free at all addresses
        sockets = {1: socket.create_server(("127.5.0.1", 0))}
        port = sockets[1].getsockname()[1]
        try:
            for n in (2, 3, 4, 5):
                sockets[n] = socket.socket()
                sockets[n].bind((f"127.5.0.{n}", port)) # where nobody listens a connection is refused
            break
        except OSError:
            for one in sockets.values():
                one.close()
    for n in (1, 3, 5):
        await asyncio.start_server(serve, sock=sockets[n], backlog=512)
    tls = await asyncio.start_server(slam, sock=sockets[4].dup())
    transport, _ = await asyncio.get_running_loop().create_datagram_endpoint(Names, local_addr=("127.5.0.1", 0))
    with open(work + "/ports.new", "w") as file:
        file.write(f"{port} {transport.get_extra_info('sockname')[1]}\n")
    os.rename(work + "/ports.new", work + "/ports")
    while not back():
        await asyncio.sleep(0.02)
    tls.close()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(work + "/ca.pem", work + "/key.pem")
    await asyncio.start_server(serve, sock=sockets[4], ssl=context)
    await asyncio.start_server(serve, sock=sockets[2])
    await asyncio.Event().wait()

asyncio.run(main())
P
python3 "$work/server.py" "$work" 2>"$work/web.out" &
web_pid=$!
for _ in $(seq "$patience"); do
    [[ -s $work/ports ]] && break
    sleep 0.05
done
read -r port dns <"$work/ports" || fail "the server does not start: $(cat "$work/web.out")"
origin_of() { [[ $1 == tls ]] && echo "https://$1.example:$port" || echo "http://$1.example:$port"; }
i=0
for host in good refuses mute tls; do echo "127.5.0.$((++i)) $host.example"; done >"$work/hosts"
{
    for host in "${dead[@]}"; do
        for i in $(seq "$each"); do echo "$(origin_of "$host")/$i"; done
    done
    for i in $(seq 20); do echo "http://good.example:$port/first/$i"; done
} >"$work/seeds"
dir=$work/data
settings=(--set "fetch.hosts_file=$work/hosts" --set "fetch.dns_servers=127.5.0.1:$dns" --set fetch.allow_address=127.0.0.0/8
    --set "fetch.ca_file=$work/ca.pem" --set fetch.delay=0 --set fetch.backoff=0.05 --set fetch.backoff_maximum=0.1
    --set fetch.patience=1.5 --set processes.web=0 --set scope.domains=example
    --set queue.host_failures=2)
show_hosts() { "$bin/quadrille" queue --dir "$dir" hosts "$@"; }
asked() { grep -c "^$1 dead" "$work/log" || true; }
crawl_to_its_end() {
    timeout 600 "$bin/quadrille" crawl --dir "$dir" --quiet "$@" "${settings[@]}" --set queue.host_probe=1h >"$work/crawl.out" 2>&1 ||
        fail "the crawl does not end: $(cat "$work/crawl.out")"
}
told() { # host, URIs, what the cause has
    grep -q "^  $(origin_of "$1"): $2 URIs, since 20.*Z: .*$3" "$work/crawl.out" ||
        fail "no word of $2 URIs of $1, $3: $(cat "$work/crawl.out")"
}

# ---- a finite crawl ends, and says why ----
crawl_to_its_end --seeds "$work/seeds"
grep -q "^hosts set aside: 4, with $((4 * each + 42)) URIs" "$work/crawl.out" || fail "no word: $(cat "$work/crawl.out")"
told refuses $((each + 21)) "cannot connect to 127.5.0.2: Connection refused"
told mute $((each + 21)) "no answer came within"
told tls $each "robots.txt: "
told nameless $each "name does not exist"
[[ $(grep -c '^good /first/' "$work/log") -eq 20 ]] || fail "pages of the good host are missing"
# Each request is a failure that counts: two, and one more if seeds of a host that was set aside already were put then.
failures_of() { show_hosts | sed -n "s|^$(origin_of "$1")	aside	.*failures=\([0-9]*\) .*|\1|p"; }
declare -A before
for host in mute tls nameless; do
    before[$host]=$(asked "$host")
    [[ ${before[$host]} -ge 2 && ${before[$host]} -le 8 && ${before[$host]} == "$(failures_of "$host")" ]] ||
        fail "$host was asked ${before[$host]} times, and failed $(failures_of "$host") times"
done
"$bin/quadrille" explain --dir "$dir" "$(origin_of tls)/77" >"$work/explained"
for words in 'set aside, with all its URIs' 'failures in a row' "URIs set aside    $each" 'next probe'; do
    grep -q "$words" "$work/explained" || fail "explain does not say \"$words\": $(cat "$work/explained")"
done

"$bin/quadrille" status --dir "$dir" >"$work/status"
grep -q ", set aside 4 with $((4 * each + 42)) URIs" "$work/status" || fail "status names no hosts: $(cat "$work/status")"
figures() { # JSON in which the same is told
    python3 - "$1" $((4 * each + 42)) <<'P' || fail "no hosts in $1: $(cat "$1")"
import json, sys
told = json.load(open(sys.argv[1]))
assert told["hosts_aside"] == 4 and told["stages"]["fetch"]["aside"] == int(sys.argv[2]), told
P
}
"$bin/quadrille" status --dir "$dir" --json >"$work/status.json"
figures "$work/status.json"

# ---- again: one request more for each ----
crawl_to_its_end --json
sed -n '/^{/p' "$work/crawl.out" >"$work/crawl.json"
figures "$work/crawl.json"
for host in mute tls nameless; do
    [[ $(asked "$host") -eq $((${before[$host]} + 1)) ]] ||
        fail "$host was asked $(($(asked "$host") - ${before[$host]})) times, not once more"
done

# ---- processes that go on: probes, kill -9, and what is found meanwhile ----
settings+=(--set queue.host_probe=0.4 --set queue.host_probe_maximum=0.8)
up() { "$bin/quadrille" up --dir "$dir" --background "${settings[@]}" >"$work/up.out" 2>&1 || fail "up: $(cat "$work/up.out")"; }
await_probes() { # of each host so many more
    local host want
    for host in mute tls nameless; do
        want=$(($(asked "$host") + $1))
        for _ in $(seq "$patience"); do
            (($(asked "$host") >= want)) && continue 2
            sleep 0.05
        done
        fail "no probe of $host came: $(show_hosts)"
    done
}
up
for host in "${dead[@]}"; do
    "$bin/quadrille" queue --dir "$dir" kick "$(origin_of "$host")/1" >"$work/kicked"
    grep -q '^1 hosts that were set aside' "$work/kicked" || fail "kick: $(cat "$work/kicked")"
done
await_probes 2
pkill -KILL -f -- "--dir $dir( |$)"
up
await_probes 1
"$bin/quadrille" add --dir "$dir" "http://good.example:$port/second/1"
for _ in $(seq "$patience"); do
    [[ $(show_hosts | grep -c "	aside	$((each + 22)) URIs") -eq 2 ]] && break
    sleep 0.5
done
show_hosts >"$work/listed"
[[ $(grep -c "	aside	$((each + 22)) URIs" "$work/listed") -eq 2 && $(grep -c "	aside	" "$work/listed") -eq 4 ]] ||
    fail "what was found did not join: $(cat "$work/listed")"

# ---- they are back ----
touch "$work/back"
answered() { grep -cE '^(refuses|mute|tls|nameless) /(late/.*|[0-9]+)$' "$work/log" || true; }
for _ in $(seq "$patience"); do
    (($(answered) >= 4 * each + 44)) && break
    sleep 0.05
done
for _ in $(seq "$patience"); do # the last of them ends
    left=$(show_hosts)
    [[ $left == none ]] && break
    sleep 0.5
done
"$bin/quadrille" down --dir "$dir" >/dev/null
[[ $left == none ]] || fail "still set aside: $left"
for host in "${dead[@]}"; do
    seq -f "$host /%.0f" "$each" >"$work/wanted"
    grep -E "^$host /[0-9]+$" "$work/log" >"$work/got" || true
    cmp -s "$work/wanted" "$work/got" ||
        fail "$host: not each URI once and in order: $(diff "$work/wanted" "$work/got" | head -n 5)"
done
for host in refuses mute; do
    [[ $(grep "^$host /late/" "$work/log" | sort | uniq -c | grep -c " 1 $host") -eq 22 && $(grep -c "^$host /late/" "$work/log") -eq 22 ]] || fail "what was found for $host meanwhile was not fetched once"
done
echo "dead hosts: $((4 * each)) URIs of four hosts were set aside, and fetched once each when the hosts were back"
