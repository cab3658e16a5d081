#!/usr/bin/env bash
# down.sh: stops everything that up.sh started, in reverse order. PURGE=1 removes the cluster's data, logs and certificates as well;
# programs stay. Also cleans up after a run that was killed, and therefore ignores failures.
. "$(dirname "$0")/lib.sh"
. "$HERE/images.sh"
set +e

# Containers are killed through containerd, not through the kubelet: network namespaces and addresses of pods are removed here.
if alive containerd; then
  stop kubelet
  namespaces=$(for container in $(containers containers ls -q); do
    containers containers info "$container" |
      jq -r '.Spec.linux.namespaces[]? | select(.type == "network") | .path // empty'
  done | grep -o 'cni-.*' | sort -u)
  for task in $(containers tasks ls -q); do containers tasks kill -s KILL "$task"; done > /dev/null 2>&1
  sleep 1
  for task in $(containers tasks ls -q); do containers tasks rm -f "$task"; done > /dev/null 2>&1
  for container in $(containers containers ls -q); do containers containers rm "$container"; done > /dev/null 2>&1
  for namespace in $namespaces; do ip netns del "$namespace"; done 2> /dev/null
  rm -rf "$DATA/cni/ipam"
fi

for name in $(tac "$RUN/order" 2> /dev/null | awk '!seen[$0]++'); do stop "$name"; done
rm -f "$RUN/order"
# Its rules for pods that are gone would meet the next pods of the same addresses.
[ ! -x "$BIN/kube-router" ] || kube-router --cleanup-config > /dev/null 2>&1
# Volumes of pods and network namespaces of sandboxes.
awk -v data="$DATA/" -v run="$RUN/" 'index($2, data) == 1 || index($2, run) == 1 { print $2 }' /proc/mounts |
  sort -r | while read -r mount; do umount -l "$mount"; done

if [ -n "${PURGE:-}" ]; then
  [ ! -x "$BIN/kube-proxy" ] || kube-proxy --cleanup > /dev/null 2>&1
  rm -rf "$DATA" "$RUN" "$LOG" "$PKI" "$KUBECONFIG"
  ip link del rig0 2> /dev/null
  ip link del cni0 2> /dev/null
fi
exit 0
