#!/usr/bin/env bash
# Connections are used again: a host's pages over TLS come by HTTP/2, over few connections, those
# without TLS by HTTP/1.1 on kept ones; without fetch.http2 TLS hosts are asked by HTTP/1.1, too. A
# certificate that is not for the host's name is refused.
. "$(dirname "$0")/lib.sh"
for tool in nginx:nginx-light openssl:openssl; do
    PATH=$PATH:/usr/sbin command -v "${tool%:*}" >/dev/null || skip "apt-get install ${tool#*:}"
done
PATH=$PATH:/usr/sbin
mkdir -p "$work/site" "$work/web"
{
    echo '<!DOCTYPE html><title>All</title>'
    for i in $(seq 40); do echo "<a href=$i.html>$i</a>"; done
} >"$work/site/index.html"
for i in $(seq 40); do echo "<!DOCTYPE html><title>Page $i</title>" >"$work/site/$i.html"; done
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=site.example \
    -addext subjectAltName=DNS:site.example -keyout "$work/web/key.pem" -out "$work/web/ca.pem" 2>"$work/openssl.log" ||
    fail "openssl: $(cat "$work/openssl.log")"
cat >"$work/web/nginx.conf" <<C
worker_processes 1;
$([[ $(id -u) -eq 0 ]] && echo "user $(id -un);")
pid $work/web/pid;
error_log $work/web/errors;
events { worker_connections 64; }
http {
    log_format kept '\$server_protocol \$connection \$host \$uri';
    access_log $work/web/log kept;
    types { text/html html; }
    keepalive_requests 100000;
    client_body_temp_path $work/web/t1; proxy_temp_path $work/web/t2; fastcgi_temp_path $work/web/t3;
    uwsgi_temp_path $work/web/t4; scgi_temp_path $work/web/t5;
    server {
        listen 127.0.0.1:PLAIN;
        listen 127.0.0.1:SECURE ssl http2;
        ssl_certificate $work/web/ca.pem;
        ssl_certificate_key $work/web/key.pem;
        root $work/site;
        location = /robots.txt { return 404; }
    }
}
C
started=no
for _ in $(seq 20); do # two ports that are free; another may take them meanwhile
    read -r plain secure < <(for _ in 1 2; do echo $((20000 + RANDOM % 20000)); done | xargs)
    sed "s/PLAIN/$plain/; s/SECURE/$secure/" "$work/web/nginx.conf" >"$work/web/now.conf"
    nginx -c "$work/web/now.conf" 2>"$work/nginx.log" && started=yes && break
done
[[ $started == yes ]] || fail "nginx: $(cat "$work/nginx.log")"
web_stop=(nginx -c "$work/web/now.conf" -s stop)
settings=(--set "fetch.connect_to=http=127.0.0.1:$plain,https=127.0.0.1:$secure"
    --set "fetch.ca_file=$work/web/ca.pem" --set fetch.allow_address=127.0.0.0/8 --set fetch.delay=0
    --set fetch.attempts=1 --set processes.web=0)
run() { # name, URI, further settings
    : >"$work/web/log"
    "$bin/quadrille" crawl --dir "$work/$1" --quiet "${settings[@]}" "${@:3}" "$2" >"$work/$1.out" 2>&1 ||
        fail "$1: $(cat "$work/$1.out")"
}
check() { # what, protocol
    local requests connections
    for _ in $(seq "$patience"); do # nginx notes an answer after it
        (($(wc -l <"$work/web/log") >= 43)) && break
        sleep 0.05
    done
    requests=$(grep -c "^$2 " "$work/web/log")
    connections=$(cut -d' ' -f2 "$work/web/log" | sort -u | wc -l)
    [[ $requests -eq 43 && $(wc -l <"$work/web/log") -eq 43 ]] || fail "$1: $(cat "$work/web/log")"
    [[ $connections -le 2 ]] || fail "$1: $connections connections for $requests requests"
    echo "$1: $requests requests by $2 over $connections connections"
}
run secure https://site.example/
check TLS HTTP/2.0
run plain http://site.example/
check 'no TLS' HTTP/1.1
run older https://site.example/ --set fetch.http2=no
check 'TLS without HTTP/2' HTTP/1.1
: >"$work/web/log"
code=0
"$bin/quadrille" crawl --dir "$work/stranger" --quiet "${settings[@]}" --set queue.host_failures=1 \
    https://other.example/ >"$work/stranger.out" 2>&1 || code=$?
[[ $code -eq 111 ]] || fail "$code: $(cat "$work/stranger.out")"
[[ ! -s $work/web/log ]] || fail "asked under a certificate of another host: $(cat "$work/web/log")"
grep -qi certificate "$work/stranger.out" || fail "the refusal is not told: $(cat "$work/stranger.out")"
