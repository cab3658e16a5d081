#!/usr/bin/env bash
# up.sh [control|node|policies|argo|eventing|serving|kueue]... : starts these stages in this order, by default all but kueue. Installs missing
# Debian packages, builds missing programs, starts what is not running. Safe to repeat. The cluster's kubeconfig is $RIG/kubeconfig.
. "$(dirname "$0")/lib.sh"
[ $# -gt 0 ] || set -- control node policies argo eventing serving

missing=""
need() { # PROGRAM PACKAGE
  command -v "$1" > /dev/null || missing="$missing $2"
}
need curl curl
need openssl openssl
need envsubst gettext-base
need ip iproute2
if [[ " $* " == *" node "* ]]; then
  [ "$(id -u)" = 0 ] || {
    echo "stage node needs root" >&2
    exit 1
  }
  need jq jq
  need containerd containerd
  need runc runc
  need iptables iptables
  need conntrack conntrack
  need busybox busybox-static
  need /usr/lib/cni/bridge containernetworking-plugins
fi
[[ " $* " != *" policies "* ]] || need ipset ipset
if [ -n "$missing" ]; then
  say "apt-get install$missing"
  {
    apt-get update
    DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends $missing
  } >> "$LOG/apt.log" 2>&1
fi

for stage in "$@"; do
  case $stage in
    control) "$HERE/build.sh" etcd kube ;;
    node) "$HERE/build.sh" rigd coredns ;;
    argo | eventing | policies | kueue) "$HERE/build.sh" "$stage" ;;
    serving) "$HERE/build.sh" rigd serving ;;
    *)
      echo "up.sh knows no stage $stage" >&2
      exit 2
      ;;
  esac
  "$HERE/stages/$stage.sh"
done
