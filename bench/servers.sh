# Servers that several benches ask: ours, Virtuoso, and the mini web. Source it; bin is the folder of our programs,
# shared that of test data.

# Ends the bench when there is no mini web.
need_miniweb() {
    [[ -x $shared/miniweb/serve ]] && return
    echo "$0: no $shared/miniweb; set QUADRILLE_SHARED to the folder of test data" >&2
    exit 0
}

# Serves the mini web; sets port, that of HTTP, which is below those of outgoing connections, and settings, those of a
# crawl.
start_miniweb() { # folder, more words for `serve start`
    port=$((20000 + RANDOM % 10000))
    "$shared/miniweb/serve" start --port $port --tls-port $((port + 1)) --run "$1" "${@:2}" >/dev/null
    settings=(--set "fetch.connect_to=http=127.0.0.1:$port,https=127.0.0.1:$((port + 1))" --set fetch.delay=0
        --set "fetch.ca_file=$1/ca.pem" --set fetch.allow_address=127.0.0.0/8)
}

# Loads the file into a new directory and serves it; sets port, that of HTTP.
serve_quadrille() { # folder, file, log, --set NAME=VALUE...
    "$bin/quadrille" init --dir "$1" >/dev/null
    "$bin/quadrille" up --dir "$1" --background "${@:4}" --set web.listen=127.0.0.1:0 --set processes.fetch=0 >/dev/null
    for _ in $(seq 600); do
        port=$(sed -nE 's/.*event=listening .* port=([0-9]+).*/\1/p' "$1/log/web.log" 2>/dev/null | tail -n 1 || true)
        [[ -n $port ]] && break
        sleep 0.1
    done
    "$bin/quadrille" import --dir "$1" "$2" >"$3" 2>&1
}

virtuoso_settings() { # folder, file that is to be loaded, port
    cat <<INI
[Database]
DatabaseFile = $1/virtuoso.db
ErrorLogFile = $1/virtuoso.log
LockFile = $1/virtuoso.lck
TransactionFile = $1/virtuoso.trx
xa_persistent_file = $1/virtuoso.pxa
ErrorLogLevel = 3
FileExtend = 200
MaxCheckpointRemap = 42500
[TempDatabase]
DatabaseFile = $1/virtuoso-temp.db
TransactionFile = $1/virtuoso-temp.trx
[Parameters]
ServerPort = $3
DirsAllowed = $(dirname "$2")
NumberOfBuffers = 340000
MaxDirtyBuffers = 250000
CheckpointInterval = 0
ThreadsPerQuery = 2
AsyncQueueMaxThreads = 2
INI
}

# Returns when it answers; the file pid has its process.
start_virtuoso() { # folder with virtuoso.ini, port
    virtuoso-t -f +configfile "$1/virtuoso.ini" >"$1/out" 2>&1 &
    echo $! >"$1/pid"
    for _ in $(seq 600); do
        isql-vt "127.0.0.1:$2" dba dba exec='select 1;' >/dev/null 2>&1 && break
        kill -0 "$(cat "$1/pid")" 2>/dev/null || { cat "$1/out" >&2; return 1; }
        sleep 0.1
    done
}

# Ends the servers of a bench's folder, quadrille/ and virtuoso/ in it, and removes it.
end_servers() { # folder
    "$bin/quadrille" down --dir "$1/quadrille" >/dev/null 2>&1 || true
    [[ -s $1/virtuoso/pid ]] && kill "$(cat "$1/virtuoso/pid")" 2>/dev/null && sleep 1
    rm -rf "$1"
}
