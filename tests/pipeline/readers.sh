#!/usr/bin/env bash
# Who may read a data directory: what a crawl leaves is its owner's alone unless files.readers says
# more, no setting stands among the arguments of a process, folders of wider modes are narrowed; and a
# directory that may only be read is read without a change in it.
. "$(dirname "$0")/lib.sh"
export PATH=$bin:$PATH
umask 022
site=$work/hosts/one.example
mkdir -p "$site"
echo '<!DOCTYPE html><title>First</title><a href=1.html>one</a>' >"$site/index.html"
echo '<!DOCTYPE html><title>Second</title>' >"$site/1.html"
echo 'http://one.example/' >"$work/seeds"
start_web "$work/hosts"
wide() { # files and folders that others may read or enter
    find "$1" -mindepth 1 -perm /077 ! -type l ! -name scope.conf -printf '%P %m\n'
}

# ---- the owner alone ----

dir=$work/owner
crawl "$dir" >"$work/out" || fail "crawl: $(cat "$work/out")"
[[ -z $(wide "$dir") ]] || fail "others may read: $(wide "$dir")"
quadrille dump --dir "$dir" --output "$work/dump.nq"
[[ $(stat -c %a "$work/dump.nq") == 644 ]] || fail "the mask of who calls is not kept for what he asked for"
chmod 755 "$dir/run" "$dir/warc" "$dir/metastore" && chmod 644 "$dir/quadrille.conf"
quadrille query --dir "$dir" 'ASK {}' >/dev/null
[[ -z $(wide "$dir" | grep -v ' dump') ]] || fail "wide modes stay: $(wide "$dir")"

# ---- told otherwise ----

crawl "$work/group" --set files.readers=group >"$work/out" || fail "crawl: $(cat "$work/out")"
for at in warc metastore index-0; do
    [[ $(stat -c %a "$work/group/$at") == 750 ]] || fail "$at: $(stat -c %a "$work/group/$at")"
done
for at in run log queue; do
    [[ $(stat -c %a "$work/group/$at") == 700 ]] || fail "$at: $(stat -c %a "$work/group/$at")"
done
[[ -z $(find "$work/group/warc" "$work/group/index-0" -type f ! -name lock ! -perm 640) ]] || fail "files are not the group's"

# ---- secrets ----

printf 'web.update = token\nweb.update_token = s3cr3t-in-a-file\n' >"$work/secret.conf"
quadrille up --dir "$dir" --background --set fetch.connect_to="127.0.0.1:$web_port" --set "@$work/secret.conf" --set web.listen=127.0.0.1:0 --set index.memory=100M
until grep -qs listening "$dir/log/web.log"; do sleep 0.05; done
arguments=$(for pid in $(pgrep -f -- "--dir $dir"); do tr '\0' ' ' <"/proc/$pid/cmdline"; echo; done)
[[ $(wc -l <<<"$arguments") -ge 8 ]] || fail "not all run: $arguments"
! grep -q s3cr3t <<<"$arguments" || fail "a secret stands in arguments: $arguments"
[[ $(grep -v ' up ' <<<"$arguments" | grep -c 100M) -eq 0 ]] || fail "settings stand in the arguments of children: $arguments"
address=127.0.0.1:$(sed -nE 's/.*event=listening .*port=([0-9]+).*/\1/p' "$dir/log/web.log" | tail -n 1)
code=$(curl -s -o /dev/null -w '%{http_code}' -H 'Authorization: Bearer s3cr3t-in-a-file' \
    --data-urlencode 'update=INSERT DATA { GRAPH <urn:g> { <urn:s> <urn:p> 1 } }' "http://$address/sparql")
[[ $code == 20* ]] || fail "the children do not know the token: $code"
[[ -z $(wide "$dir") ]] || fail "others may read: $(wide "$dir")"
quadrille down --dir "$dir" >/dev/null
refused() { # exit code, what the message must say, command...
    local code=0
    "${@:3}" >"$work/out" 2>&1 </dev/null || code=$?
    [[ $code -eq $1 ]] && grep -qF -- "$2" "$work/out" || fail "${*:3}: exit $code, $(cat "$work/out")"
}
refused 100 no-such-file quadrille status --dir "$dir" --set "@$work/no-such-file"
printf 'fetch.delay = 1\nfetch.delay = slow\n' >"$work/bad.conf"
refused 100 bad.conf:2 quadrille status --dir "$dir" --set "@$work/bad.conf"

# ---- a directory that may only be read ----

dir=$work/read
quadrille init --dir "$dir" >/dev/null
echo 'files.readers = everyone' >>"$dir/quadrille.conf"
crawl "$dir" >"$work/out" || fail "crawl: $(cat "$work/out")"
quadrille dump --dir "$dir" --output "$work/dump.nq"
listing() { find "$dir" -printf '%P %m %s %T@\n' | LC_ALL=C sort; }
reads() { # how to run a command
    local i
    mkdir -p "$work/tmp" && chmod 1777 "$work/tmp"
    local pids=()
    for i in 1 2 3; do # several at once
        "$@" quadrille dump --dir "$dir" >"$work/dump.$i.nq" &
        pids+=($!)
    done
    wait "${pids[@]}"
    for i in 1 2 3; do cmp "$work/dump.nq" "$work/dump.$i.nq" || fail "$*: the dump is another"; done
    [[ $1 == setpriv || $(id -u) -ne 0 ]] || return 0 # of the other way these will do
    "$@" quadrille verify --dir "$dir" >"$work/out" 2>&1 || fail "$*: verify: $(cat "$work/out")"
    [[ $("$@" quadrille query --dir "$dir" --format csv 'SELECT (COUNT(*) AS ?n) { GRAPH ?g { ?s ?p ?o } }' | tail -n 1 | tr -d '\r') -eq $(wc -l <"$work/dump.nq") ]] ||
        fail "$*: query"
    "$@" quadrille search --dir "$dir" Second >"$work/out" 2>&1 && grep -q Second "$work/out" || fail "$*: search: $(cat "$work/out")"
    "$@" quadrille meta --dir "$dir" http://one.example/ >"$work/out" 2>&1 && grep -q one.example "$work/out" || fail "$*: meta: $(cat "$work/out")"
    "$@" quadrille explain --dir "$dir" '? ? "Second"' >"$work/out" 2>&1 && grep -q one.example/1.html "$work/out" ||
        fail "$*: explain: $(cat "$work/out")"
    "$@" quadrille explain --dir "$dir" http://one.example/ >"$work/out" 2>&1 || fail "$*: explain URI: $(cat "$work/out")"
    "$@" quadrille status --dir "$dir" >"$work/out" 2>&1 || fail "$*: status: $(cat "$work/out")"
    "$@" quadrille report --dir "$dir" one.example >"$work/out" 2>&1 || fail "$*: report: $(cat "$work/out")"
    local command
    for command in changes 'changes --start' "changes --last http://one.example/" datasets \
        'identity http://one.example/' 'inspect --archived http://one.example/' 'transform --uri http://one.example/' \
        'detect --uri http://one.example/' 'validate http://one.example/' 'transforms list'; do
        read -ra words <<<"$command"
        "$@" quadrille "${words[0]}" --dir "$dir" "${words[@]:1}" >"$work/out" 2>&1 || fail "$*: $command: $(cat "$work/out")"
    done
    refused 100 'may only be read' "$@" quadrille changes --dir "$dir" --follow
    if [[ $1 == setpriv ]]; then # the queue and the scope are their owner's alone
        refused 111 'cannot read' "$@" quadrille queue --dir "$dir" buried
        refused 111 'cannot read' "$@" quadrille scope --dir "$dir" show
    else
        "$@" quadrille queue --dir "$dir" buried >"$work/out" 2>&1 || fail "$*: queue: $(cat "$work/out")"
        "$@" quadrille scope --dir "$dir" show >"$work/out" 2>&1 || fail "$*: scope: $(cat "$work/out")"
    fi
    "$@" quadrille serve --dir "$dir" --set web.listen=127.0.0.1:0 >"$work/served" 2>&1 &
    local served=$!
    for i in $(seq "$patience"); do grep -q ' serves ' "$work/served" && break; sleep 0.05; done
    curl -sf "$(sed -nE 's/^(http[^ ]*) serves .*/\1/p' "$work/served")search?q=Second&format=txt" >"$work/out" && grep -q one.example "$work/out" ||
        fail "$*: serve: $(cat "$work/served")"
    kill -KILL "$served"
    wait "$served" 2>/dev/null || true
    for i in $(seq "$patience"); do [[ -z $(ls "$work/tmp") ]] && break; sleep 0.05; done
    [[ -z $(ls "$work/tmp") ]] || fail "$*: a command that was killed has left its copy"
    code=0
    "$@" quadrille update --dir "$dir" 'CLEAR ALL' >"$work/out" 2>&1 || code=$?
    [[ $code -eq 100 ]] && grep -q 'may only be read' "$work/out" || fail "$*: update: exit $code, $(cat "$work/out")"
    [[ -z $(ls "$work/tmp") ]] || fail "$*: copies are left behind"
}
kinds=()
if [[ $(id -u) -eq 0 ]] && command -v setpriv >/dev/null; then
    for folder in "$work" "$(dirname "$work")"; do # the other user has to get there
        [[ ! $(basename "$folder") == quadrille-* ]] || chmod go+x "$folder"
    done
    kinds+=("setpriv --reuid 65534 --regid 65534 --clear-groups env TMPDIR=$work/tmp")
elif [[ $(id -u) -ne 0 ]]; then
    chmod a-w "$dir"
    kinds+=("env TMPDIR=$work/tmp")
fi
if unshare -rm true 2>/dev/null; then
    # shellcheck disable=SC2016
    kinds+=("env TMPDIR=$work/tmp unshare -rm sh -c 'mount --bind \"$dir\" \"$dir\" && mount -o remount,ro,bind \"$dir\" && exec \"\$@\"' sh")
fi
before=$(listing)
for kind in "${kinds[@]}"; do
    eval "as=($kind)"
    reads "${as[@]}"
    [[ $(listing) == "$before" ]] || fail "$kind: reading has changed the directory"
done
chmod u+w "$dir"

# What is written meanwhile is not taken by halves: a large file takes longer to copy than its writers rest.
truncate -s 200M "$dir/index-0/large"
chmod 644 "$dir/index-0/large"
writers=()
for i in 1 2; do
    while [[ ! -e $work/written && -d $dir/index-0 ]]; do echo >"$dir/index-0/beside"; done &
    writers+=($!)
done
until [[ -e $dir/index-0/beside ]]; do sleep 0.01; done
for kind in "${kinds[@]}"; do
    eval "as=($kind)"
    [[ $kind == setpriv* ]] || chmod a-w "$dir"
    refused 111 'is being written by another process' "${as[@]}" quadrille dump --dir "$dir"
    [[ -z $(ls "$work/tmp") ]] || fail "$kind: copies are left behind"
    chmod u+w "$dir"
done
touch "$work/written"
wait "${writers[@]}"
rm "$dir/index-0/large" "$dir/index-0/beside"

# Killed in the middle: what a start would recover is recovered in the copy.
quadrille up --dir "$dir" --background --set fetch.connect_to="127.0.0.1:$web_port" --set web.listen=
quadrille update --dir "$dir" 'INSERT DATA { GRAPH <urn:g> { <urn:s> <urn:p> "late" } }' >/dev/null
for pid in $(pgrep -f -- "--dir $dir"); do kill -KILL "$pid" 2>/dev/null || true; done
while pgrep -f -- "--dir $dir" >/dev/null; do sleep 0.05; done
for kind in "${kinds[@]}"; do
    eval "as=($kind)"
    [[ $kind == setpriv* ]] || chmod a-w "$dir"
    prints '"late"' "${as[@]}" quadrille dump --dir "$dir" || fail "$kind: what was committed before a kill is not there"
    chmod u+w "$dir"
done
echo "readers: ${#kinds[@]} ways of reading only"
