#!/usr/bin/env bash
# Who may read a data directory: what a crawl leaves is its owner's alone unless files.readers says
# more, no setting stands among the arguments of a process, and folders of wider modes are narrowed.
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
quadrille up --dir "$dir" --background --set "@$work/secret.conf" --set web.listen=127.0.0.1:0 --set index.cache=31M
until grep -qs listening "$dir/log/web.log"; do sleep 0.05; done
arguments=$(for pid in $(pgrep -f -- "--dir $dir"); do tr '\0' ' ' <"/proc/$pid/cmdline"; echo; done)
[[ $(wc -l <<<"$arguments") -ge 8 ]] || fail "not all run: $arguments"
! grep -q s3cr3t <<<"$arguments" || fail "a secret stands in arguments: $arguments"
[[ $(grep -v ' up ' <<<"$arguments" | grep -c 31M) -eq 0 ]] || fail "settings stand in the arguments of children: $arguments"
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
