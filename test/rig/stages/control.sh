#!/usr/bin/env bash
# Starts etcd, kube-apiserver and kube-controller-manager.
. "$(dirname "$0")/../lib.sh"

# The host's address in the cluster. The API refuses loopback addresses as endpoints, and pods cannot reach them. With NODE_IP set to
# an address of the host, this stage needs no root.
if ! ip -4 addr | grep -F "inet $NODE_IP/" > /dev/null; then
  ip link show rig0 > /dev/null 2>&1 || ip link add rig0 type bridge
  ip addr add "$NODE_IP/32" dev rig0
  ip link set rig0 up
fi
"$HERE/pki.sh"

peer_port=$((ETCD_PORT + 1))
require_free etcd "$ETCD_PORT" "$peer_port"
start etcd etcd --name rig --data-dir "$DATA/etcd" \
  --listen-client-urls "http://127.0.0.1:$ETCD_PORT" --advertise-client-urls "http://127.0.0.1:$ETCD_PORT" \
  --listen-peer-urls "http://127.0.0.1:$peer_port" --initial-advertise-peer-urls "http://127.0.0.1:$peer_port" \
  --initial-cluster "rig=http://127.0.0.1:$peer_port" --unsafe-no-fsync --log-level warn
wait_ready etcd 30 curl -fs "http://127.0.0.1:$ETCD_PORT/health"

# With aggregator routing, kube-apiserver dials the endpoints of an aggregated API server, not its ClusterIP: it works without
# kube-proxy.
require_free kube-apiserver "$API_PORT"
start kube-apiserver kube-apiserver \
  --etcd-servers="http://127.0.0.1:$ETCD_PORT" --etcd-prefix=/rig \
  --advertise-address="$NODE_IP" --bind-address=0.0.0.0 --secure-port="$API_PORT" \
  --tls-cert-file="$PKI/apiserver.crt" --tls-private-key-file="$PKI/apiserver.key" \
  --client-ca-file="$PKI/ca.crt" --anonymous-auth=true \
  --authorization-mode=Node,RBAC --enable-admission-plugins=NodeRestriction \
  --allow-privileged=true --service-cluster-ip-range="$SERVICE_CIDR" \
  --service-account-issuer=https://kubernetes.default.svc.cluster.local \
  --service-account-key-file="$PKI/sa.pub" --service-account-signing-key-file="$PKI/sa.key" \
  --kubelet-client-certificate="$PKI/kubelet-client.crt" --kubelet-client-key="$PKI/kubelet-client.key" \
  --kubelet-certificate-authority="$PKI/ca.crt" --kubelet-preferred-address-types=InternalIP \
  --requestheader-client-ca-file="$PKI/front-proxy-ca.crt" --requestheader-allowed-names=front-proxy-client \
  --requestheader-username-headers=X-Remote-User --requestheader-group-headers=X-Remote-Group \
  --requestheader-extra-headers-prefix=X-Remote-Extra- \
  --proxy-client-cert-file="$PKI/front-proxy-client.crt" --proxy-client-key-file="$PKI/front-proxy-client.key" \
  --enable-aggregator-routing=true
wait_ready kube-apiserver 90 kubectl get --raw /readyz

require_free kube-controller-manager 10257
start kube-controller-manager kube-controller-manager \
  --kubeconfig="$PKI/kcm.kubeconfig" --authentication-kubeconfig="$PKI/kcm.kubeconfig" \
  --authorization-kubeconfig="$PKI/kcm.kubeconfig" --bind-address=127.0.0.1 \
  --root-ca-file="$PKI/ca.crt" --service-account-private-key-file="$PKI/sa.key" \
  --cluster-signing-cert-file="$PKI/ca.crt" --cluster-signing-key-file="$PKI/ca.key" \
  --use-service-account-credentials=true --leader-elect=false \
  --allocate-node-cidrs=true --cluster-cidr="$CLUSTER_CIDR" --service-cluster-ip-range="$SERVICE_CIDR" \
  --requestheader-client-ca-file="$PKI/front-proxy-ca.crt" --node-monitor-period=5s
wait_ready kube-controller-manager 60 kubectl -n default get serviceaccount default
say "control plane is up: KUBECONFIG=$KUBECONFIG"
