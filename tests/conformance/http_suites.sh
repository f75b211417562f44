#!/bin/bash
# tests/conformance/http_suites.sh SUITES OUTPUT: the suites of HTTP protocols (http-*, reconciliation, mcp),
# asked of `quadrille serve` over a directory of their own: http_suites.py.
set -eu
here=$(dirname "$0")
work=$(mktemp -d "${QUADRILLE_SCRATCH:-/dev/shm}/quadrille-http.XXXXXX")
server=
end() {
    [[ -z $server ]] || { kill "$server" 2>/dev/null && wait "$server" 2>/dev/null; }
    rm -rf "$work"
}
trap end EXIT
build/bin/quadrille init --dir "$work/d" >/dev/null
build/bin/quadrille serve --dir "$work/d" --set web.listen=127.0.0.1:0 --set web.update=loopback \
    --set web.hosts=www.example >"$work/out" 2>&1 &
server=$!
for _ in $(seq 600); do
    port=$(sed -nE 's,^http://127\.0\.0\.1:([0-9]+)/ serves.*,\1,p' "$work/out")
    [[ -n $port ]] && break
    sleep 0.1
done
[[ -n $port ]] || { cat "$work/out" >&2; exit 1; }
python3 "$here/http_suites.py" "$1" "$2" "$port"
