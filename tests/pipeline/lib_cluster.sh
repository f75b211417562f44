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
await() { # what, condition
    local what=$1 began=$SECONDS
    shift
    for _ in $(seq "$patience"); do
        if "$@"; then
            echo "$(basename "$0" .sh): after $SECONDS s: $what ($((SECONDS - began)) s)"
            return
        fi
        sleep 0.1
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
all_run_by() { # machines that have shares, exactly; all of them run. owners: "machine state" of each share
    owners >"$work/owners" || return 1
    ! grep -qv ' runs$' "$work/owners" && [[ $(cut -d' ' -f1 "$work/owners" | sort -u | xargs) == "$*" ]]
}
