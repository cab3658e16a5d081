# Settings and process control, sourced by every script of the rig. All files stay under $RIG. Outside of it, the rig creates the
# bridges rig0 and cni0, a route for Service addresses, the iptables rules of kube-proxy and kubelet, and installs Debian packages.
set -euo pipefail
HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$HERE/versions.env"
export RIG=${RIG:-$HOME/rig}
export BIN=$RIG/bin PKI=$RIG/pki RUN=$RIG/run LOG=$RIG/log DATA=$RIG/data SRC=$RIG/src
export KUBECONFIG=$RIG/kubeconfig PATH=$BIN:$PATH:/usr/sbin:/sbin
export NODE_IP=${NODE_IP:-10.250.0.1} NODE_NAME=rig # the host's address, on bridge rig0
export SERVICE_CIDR=10.96.0.0/16 CLUSTER_CIDR=10.244.0.0/16 POD_CIDR=10.244.0.0/24 DNS_IP=10.96.0.10
export ETCD_PORT=${ETCD_PORT:-24379} API_PORT=${API_PORT:-26443} INGRESS_PORT=8081
export CONTAINERD_SOCKET=$RUN/containerd/containerd.sock
mkdir -p "$BIN" "$PKI" "$RUN" "$LOG" "$DATA" "$SRC"

say() { echo "$(date +%H:%M:%S) $*" | tee -a "$RIG/up.log" >&2; }

# Start time of a process (field 22 of /proc/PID/stat), which tells a process from a later one with the same pid.
start_time() { sed 's/.*) //' "/proc/$1/stat" 2> /dev/null | awk '{print $20}'; }

alive() { # NAME
  local pid started
  [ -f "$RUN/$1.pid" ] || return 1
  read -r pid started < "$RUN/$1.pid"
  [ -n "$started" ] && [ "$(start_time "$pid")" = "$started" ]
}

start() { # NAME COMMAND... : starts COMMAND in the background, unless NAME is running
  local name=$1
  shift
  ! alive "$name" || return 0
  setsid nohup "$@" >> "$LOG/$name.log" 2>&1 < /dev/null &
  echo "$! $(start_time $!)" > "$RUN/$name.pid"
  echo "$name" >> "$RUN/order"
}

stop() { # NAME : sends TERM, and KILL after 10 s
  local pid
  if alive "$1"; then
    read -r pid _ < "$RUN/$1.pid"
    kill -TERM "$pid" || true
    for _ in $(seq 50); do
      alive "$1" || break
      sleep 0.2
    done
    ! alive "$1" || kill -KILL "$pid" || true
  fi
  rm -f "$RUN/$1.pid"
}

# The health check of a program passes as well if another program answers on its port. Therefore the port must be free before the
# start (require_free), and the process must be alive after the check (wait_ready).
require_free() { # NAME PORT... : fails if a port is taken, unless NAME is running
  local name=$1 port
  shift
  ! alive "$name" || return 0
  for port in "$@"; do
    [ -z "$(ss -Hltn "sport = :$port")" ] || {
      say "$name cannot start: another program listens on port $port"
      return 1
    }
  done
}

wait_ready() { # NAME SECONDS COMMAND... : waits until COMMAND succeeds; fails as soon as NAME has ended
  local name=$1 end=$((SECONDS + $2))
  shift 2
  until "$@" > /dev/null 2>&1; do
    alive "$name" || {
      say "$name has ended: $LOG/$name.log"
      tail -n 3 "$LOG/$name.log" | cut -c1-600 >&2
      return 1
    }
    [ $SECONDS -lt $end ] || {
      say "$name is not ready in time: $* fails; see $LOG/$name.log"
      return 1
    }
    sleep 0.5
  done
  sleep 0.2
  alive "$name" || {
    say "$name has ended: $LOG/$name.log"
    return 1
  }
}

retry() { # SECONDS COMMAND... : repeats COMMAND every half second until it succeeds
  local end=$((SECONDS + $1))
  shift
  until "$@" > /dev/null 2>&1; do
    [ $SECONDS -lt $end ] || {
      say "gave up: $*"
      return 1
    }
    sleep 0.5
  done
}

module_dir() { # MODULE VERSION : prints the folder of a Go module, downloaded if necessary
  (cd "$SRC" && go mod download -json "$1@$2") | sed -n 's/^\t"Dir": "\(.*\)",$/\1/p'
}
