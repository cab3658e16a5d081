#!/usr/bin/env bash
# pki.sh: creates the certificate authorities of the cluster and of the front proxy, a certificate for each component, the signing key
# of service account tokens, and the kubeconfig files. Existing files stay.
. "$(dirname "$0")/lib.sh"
cd "$PKI"

authority() { # NAME SUBJECT
  [ ! -f "$1.crt" ] || return 0
  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 3650 -subj "$2" -keyout "$1.key" -out "$1.crt" 2> /dev/null
}

certificate() { # NAME AUTHORITY SUBJECT [SUBJECT-ALTERNATIVE-NAMES]
  [ ! -f "$1.crt" ] || return 0
  openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj "$3" -keyout "$1.key" -out "$1.csr" 2> /dev/null
  {
    echo "extendedKeyUsage=serverAuth,clientAuth"
    [ -z "${4:-}" ] || echo "subjectAltName=$4"
  } > "$1.ext"
  openssl x509 -req -in "$1.csr" -CA "$2.crt" -CAkey "$2.key" -CAcreateserial -days 3650 -extfile "$1.ext" -out "$1.crt" 2> /dev/null
  rm "$1.csr" "$1.ext"
}

kubeconfig() { # FILE CERTIFICATE
  cat > "$1" << YAML
apiVersion: v1
kind: Config
current-context: rig
clusters: [{ name: rig, cluster: { server: "https://$NODE_IP:$API_PORT", certificate-authority: $PKI/ca.crt } }]
users: [{ name: $2, user: { client-certificate: $PKI/$2.crt, client-key: $PKI/$2.key } }]
contexts: [{ name: rig, context: { cluster: rig, user: $2 } }]
YAML
}

authority ca /CN=rig-ca
authority front-proxy-ca /CN=rig-front-proxy-ca
service=kubernetes.default.svc
certificate apiserver ca /CN=kube-apiserver \
  "DNS:kubernetes,DNS:kubernetes.default,DNS:$service,DNS:$service.cluster.local,DNS:localhost,IP:127.0.0.1,IP:10.96.0.1,IP:$NODE_IP"
certificate kubelet-client ca /O=system:masters/CN=kube-apiserver-kubelet-client
certificate front-proxy-client front-proxy-ca /CN=front-proxy-client
certificate admin ca /O=system:masters/CN=admin
certificate kcm ca /CN=system:kube-controller-manager
certificate scheduler ca /CN=system:kube-scheduler
certificate proxy ca /CN=system:kube-proxy
certificate kubelet ca "/O=system:nodes/CN=system:node:$NODE_NAME" "DNS:$NODE_NAME,IP:$NODE_IP,IP:127.0.0.1"
[ -f sa.key ] || openssl genrsa -out sa.key 2048 2> /dev/null
[ -f sa.pub ] || openssl rsa -in sa.key -pubout -out sa.pub 2> /dev/null
kubeconfig "$KUBECONFIG" admin
for name in kcm scheduler proxy kubelet; do kubeconfig "$PKI/$name.kubeconfig" "$name"; done
