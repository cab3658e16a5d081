#!/usr/bin/env bash
# Makes the machine a node: containerd with a CNI bridge, kube-scheduler, CoreDNS, kube-proxy and kubelet.
. "$(dirname "$0")/../lib.sh"
. "$HERE/images.sh"

# Renders a file of config/. Writes it only if it differs: kube-proxy exits when its file is written, even with the same content.
render() { # FILE DESTINATION
  envsubst '$DATA $RUN $PKI $KUBECONFIG $CONTAINERD_SOCKET $NODE_IP $NODE_NAME $DNS_IP $CLUSTER_CIDR $POD_CIDR' \
    < "$HERE/config/$1" > "$2.new"
  if cmp -s "$2.new" "$2"; then rm "$2.new"; else mv "$2.new" "$2"; fi
}

mkdir -p "$RUN/containerd" "$DATA/cni/conf" "$DATA/kubelet"
sysctl -qw net.ipv4.ip_forward=1
sysctl -qw net.bridge.bridge-nf-call-iptables=1 || true
iptables -P FORWARD ACCEPT
# Service addresses that kube-proxy has no rule for yet must not leave the machine by the default route.
ip route replace "$SERVICE_CIDR" dev rig0

render containerd.toml "$DATA/containerd.toml"
render cni.conflist "$DATA/cni/conf/10-rig.conflist"
# `ctr version` succeeds before the CRI service is ready, seconds before if there are pods to recover. A kubelet that starts in
# between exits with "server is not initialized yet".
was_running=$(! alive containerd || echo yes)
log_size=$(wc -c 2> /dev/null < "$LOG/containerd.log" || echo 0)
cri_is_ready() {
  [ "$was_running" = yes ] || tail -c "+$((log_size + 1))" "$LOG/containerd.log" | grep 'Start streaming server'
}
start containerd containerd --config "$DATA/containerd.toml"
wait_ready containerd 30 containers version
wait_ready containerd 60 cri_is_ready
program_image dev.local/pause:1 rigd pause

require_free kube-scheduler 10259
start kube-scheduler kube-scheduler --kubeconfig="$PKI/scheduler.kubeconfig" \
  --authentication-kubeconfig="$PKI/scheduler.kubeconfig" --authorization-kubeconfig="$PKI/scheduler.kubeconfig" \
  --bind-address=127.0.0.1 --leader-elect=false

# Cluster DNS runs on the host; the Service kube-dns leads there.
render Corefile "$DATA/Corefile"
envsubst '$NODE_IP $DNS_IP' < "$HERE/manifests/dns.yaml" | kubectl apply -f - > /dev/null
start coredns coredns -conf "$DATA/Corefile"

render kube-proxy.yaml "$DATA/proxy.yaml"
require_free kube-proxy 10256 10249
start kube-proxy kube-proxy --config "$DATA/proxy.yaml"

echo "nameserver $NODE_IP" > "$DATA/resolv.conf"
render kubelet.yaml "$DATA/kubelet.yaml"
require_free kubelet 10250 10248
start kubelet kubelet --config "$DATA/kubelet.yaml" --kubeconfig "$PKI/kubelet.kubeconfig" --root-dir "$DATA/kubelet" \
  --cert-dir "$DATA/kubelet/pki" --hostname-override "$NODE_NAME" --node-ip "$NODE_IP"
wait_ready kubelet 90 kubectl wait --for=condition=Ready "node/$NODE_NAME" --timeout=5s
say "node $NODE_NAME is Ready"
