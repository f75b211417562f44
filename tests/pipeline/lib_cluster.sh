# Shared by the pipeline tests of clusters: machines that are processes of this one. Source it after lib.sh.
ROOT=$work/root
declare -A machine # processes of `cluster run`, by name
crawl= serve=      # other processes that are ended with them
end_machines() {
    local code=$?
    set +e # else the line with the code ends it all
    # A stopped process takes no SIGTERM; their guards end all that they run.
    kill -KILL "${machine[@]}" $crawl $serve 2>/dev/null
    (exit $code)
    end_all
}
trap end_machines EXIT
cluster() { "$bin/quadrille" cluster "$@" --root "$ROOT"; }
run_machine() { # name, further arguments of `cluster run`
    "$bin/quadrille" cluster run --root "$ROOT" --machine "$@" 2>>"$work/$1.out" &
    machine[$1]=$!
    disown
}
run_disk_machine() { # name, number of loopback address: its shares lie on a disk of its own
    mkdir -p "$work/disk-$1"
    run_machine "$1" --address "$loopback.$2:20000" --disk "$work/disk-$1"
}
slow_fetch() { # seconds between requests, and of a request at most: settings of ROOT
    cat >>"$ROOT/quadrille.conf" <<C
fetch.connect_to = 127.0.0.1:$web_port
fetch.allow_address = 127.0.0.0/8
fetch.delay = $1
fetch.delay_factor = 0
fetch.delay_maximum = $1
fetch.crawl_delay_maximum = $1
fetch.timeout = $2
fetch.attempts = 6
C
}
await() { # what, condition
    local what=$1 began=$SECONDS pause=0.1 look
    shift
    for look in $(seq "$patience"); do
        if "$@"; then
            echo "$(basename "$0" .sh): after $SECONDS s: $what ($((SECONDS - began)) s)"
            return
        fi
        ((look < 3)) || pause=0.5 # a look may cost more than what is waited for
        sleep "$pause"
    done
    cluster status >&2
    tail -n 5 "$work"/*.out "$ROOT"/helpers/*/*/log/*.log >&2 2>/dev/null
    fail "in vain waited for: $what"
}
tree() { # process: it and all under it, the lowest first
    local child
    for child in $(pgrep -P "$1"); do tree "$child"; done
    echo "$1"
}
requests() { wc -l <"$web_log"; }
requests_come() { (($(requests) > $1)); }
logged() { grep -q -- "$2" "$work/$1.out"; }
owners() { # "machine state" of each share
    cluster status --json | python3 -c 'import json, sys
for s in json.load(sys.stdin)["shares"]: print(s["machine"] or "-", s["state"])'
}
all_run_by() { # machines that have shares, exactly; all of them run
    owners >"$work/owners" || return 1
    ! grep -qv ' runs$' "$work/owners" && [[ $(cut -d' ' -f1 "$work/owners" | sort -u | xargs) == "$*" ]]
}
