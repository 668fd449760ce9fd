#!/usr/bin/env bash
# Measures `lisle serve` beside nginx: requests a second for one cached file of 10 KB over keep-alive
# connections, by turns in one sitting, with as many domains as nginx has workers.
#
#   crates/lisle-cli/benches/serve.sh [SECONDS [ROUNDS [CONNECTIONS]]]
#
# Needs `wrk` and `nginx` (Debian: apt-get install wrk nginx-light). All traffic stays on 127.0.0.1. The load
# generator shares the processors with the servers, for all of them alike.
set -euo pipefail

seconds=${1:-30} rounds=${2:-3} connections=${3:-64} workers=2
cd "$(dirname "$0")/../../.."
for tool in wrk nginx; do
    command -v "$tool" >/dev/null || { echo "serve.sh: $tool is missing (apt-get install wrk nginx-light)" >&2; exit 2; }
done

work=$(mktemp -d)
server=
finish() {
    if [[ -n $server ]]; then kill -TERM "$server" 2>/dev/null || true; wait "$server" 2>/dev/null || true; fi
    rm -rf "$work"
}
trap finish EXIT

cargo build --release --quiet -p lisle-cli
mkdir "$work/site"
head -c 10240 /dev/zero | tr '\0' 'x' >"$work/site/10k.html"
chmod -R a+rX "$work"
cat >"$work/nginx.conf" <<EOF
worker_processes $workers;
daemon off;
pid $work/nginx.pid;
error_log $work/nginx.log;
events { worker_connections 4096; }
http {
    access_log off;
    sendfile on;
    tcp_nopush on;
    keepalive_requests 1000000000;
    open_file_cache max=100;
    types { text/html html; }
    server { listen 127.0.0.1:8097; root $work/site; }
}
EOF

# start NAME PORT COMMAND...: starts a server and waits until it answers.
start() {
    local name=$1 port=$2
    shift 2
    "$@" >"$work/$name.out" 2>"$work/$name.err" &
    server=$!
    for _ in $(seq 200); do
        if curl -fs -o /dev/null "http://127.0.0.1:$port/10k.html"; then return; fi
        sleep 0.05
    done
    echo "serve.sh: $name does not answer:" >&2
    cat "$work/$name.err" >&2
    exit 1
}

measure() {
    local name=$1 port=$2
    wrk -t2 -c"$connections" -d"${seconds}s" --latency "http://127.0.0.1:$port/10k.html" >"$work/wrk"
    awk -v name="$name" '/Requests\/sec/ {rate=$2} /^ *50%/ {median=$2} /^ *99%/ {tail=$2} /Socket errors|Non-2xx/ {bad=$0}
        END {printf "%-6s %9.0f requests/s   p50 %-8s p99 %-8s %s\n", name, rate, median, tail, bad ? bad : "no errors"}' "$work/wrk"
    kill -TERM "$server"
    wait "$server" || true
    server=
}

for round in $(seq "$rounds"); do
    echo "round $round of $rounds, $seconds s each"
    start lisle 8099 target/release/lisle serve "$work/site" --addr 127.0.0.1:8099 --domains "$workers" --log off
    measure lisle 8099
    start nginx 8097 nginx -c "$work/nginx.conf"
    measure nginx 8097
done
