#!/usr/bin/env bash
# Hosts that accept connections and say nothing, many more than fetch.window has places: all others are
# fetched before any of them is given up. And of a host that falls silent no second request is under way,
# and no job keeps a place for it.
. "$(dirname "$0")/lib.sh"
silent=40 good=40 pages=30
cat >"$work/server.py" <<'P'
"""Addresses 127.1.0.N are silent; 127.2.0.N answer; 127.3.0.1 does so for robots.txt and its root, which links to
many pages, and is silent then. Silent connections are closed when all good pages and a silent one of these were asked for, or after
ten minutes.
The log has a line for each event: what, address, path."""
import asyncio, socket, sys

silent, good, pages = map(int, sys.argv[1:4])
log = open(sys.argv[4], "w", buffering=1)
over, waiting = asyncio.Event(), {0, *range(1, good + 1)}

def heard(what):
    waiting.discard(what)
    if not waiting:
        over.set()

async def serve(reader, writer):
    ip = writer.get_extra_info("sockname")[0]
    _, kind, _, number = map(int, ip.split("."))
    try:
        while line := await reader.readline():
            path = line.split()[1].decode()
            while (await reader.readline()).strip():
                pass
            if kind == 1 or (kind == 3 and path not in ("/robots.txt", "/")):
                log.write(f"silent {ip} {path}\n")
                if kind == 3:
                    heard(0)
                await over.wait()
                log.write(f"closed {ip} {path}\n")
                break
            log.write(f"asked {ip} {path}\n")
            links = "".join(f"<a href=/{i}>{i}</a>" for i in range(pages)) if kind == 3 else ""
            body = f"<!DOCTYPE html><title>{ip}</title>{links}".encode()
            status = "200 OK" if path == "/" else "404 Not Found"
            writer.write(f"HTTP/1.1 {status}\r\nContent-Type: text/html\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body)
            await writer.drain()
            if kind == 2 and path == "/":
                heard(number)
    except (ConnectionError, asyncio.IncompleteReadError):
        pass
    writer.close()

def listen(ip, port):
    one = socket.socket()
    one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    one.bind((ip, port))
    one.listen(64)
    return one

def listen_all():
    while True:
        sockets = [listen("127.3.0.1", 0)]
        try:
            port = sockets[0].getsockname()[1]
            for kind, count in ((1, silent), (2, good)):
                sockets += [listen(f"127.{kind}.0.{i}", port) for i in range(1, count + 1)]
            return sockets, port
        except OSError:
            for one in sockets:
                one.close()

async def main():
    sockets, port = listen_all()
    for one in sockets:
        await asyncio.start_server(serve, sock=one)
    with open(sys.argv[5] + ".new", "w") as file:
        file.write(str(port))
    import os
    os.rename(sys.argv[5] + ".new", sys.argv[5])
    try:
        await asyncio.wait_for(over.wait(), 600)
    except asyncio.TimeoutError:
        over.set()
    await asyncio.Event().wait()

asyncio.run(main())
P
python3 "$work/server.py" "$silent" "$good" "$pages" "$work/log" "$work/port" 2>"$work/web.out" &
web_pid=$!
for _ in $(seq "$patience"); do
    [[ -s $work/port ]] && break
    sleep 0.05
done
port=$(cat "$work/port") || fail "the server does not start: $(cat "$work/web.out")"
{
    echo "127.3.0.1 many.example"
    for i in $(seq "$silent"); do echo "127.1.0.$i silent$i.example"; done
    for i in $(seq "$good"); do echo "127.2.0.$i good$i.example"; done
} >"$work/hosts"
while read -r _ host; do echo "http://$host:$port/"; done <"$work/hosts" >"$work/seeds"
"$bin/quadrille" crawl --dir "$work/crawl" --seeds "$work/seeds" --quiet --set "fetch.hosts_file=$work/hosts" \
    --set fetch.allow_address=127.0.0.0/8 --set fetch.delay=0 --set fetch.window=8 --set fetch.attempts=1 \
    --set fetch.patience=900 --set fetch.backoff=0 --set processes.web=0 \
    --set queue.host_failures=1 --set queue.host_patience=0 >"$work/out" 2>&1 ||
    fail "crawl: $(cat "$work/out")"
asked=$(awk '$1 == "closed" { exit } $1 == "asked" && $2 ~ /^127\.2\./ && $3 == "/"' "$work/log" | sort -u | wc -l)
[[ $asked -eq $good ]] || fail "$asked of $good pages were asked for before the silent hosts had ended: $(cut -d' ' -f1 "$work/log" | uniq -c | xargs)"
many=$(awk '$1 == "closed" { exit } $1 == "silent" && $2 ~ /^127\.3\./' "$work/log" | wc -l)
[[ $many -eq 1 ]] || fail "$many requests at a time to a silent host"
held=$(awk '$1 == "closed" { exit } $1 == "silent"' "$work/log" | wc -l)
[[ $held -gt 8 ]] || fail "only $held hosts were silent at a time: nothing was tested"
echo "silent: $asked hosts were fetched from while $held were silent, with a window of 8"
