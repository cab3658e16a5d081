import { conduitNamespace } from '#shared/domain';

/** One certificate that the conduit needs inside its cluster. */
export interface Leaf {
  /** The Secret that holds it: `tls.crt`, `tls.key`, and `ca.crt` of its authority. */
  secretName: string;
  commonName: string;
  /** DNS names and IP addresses of a server; none for a client. */
  hosts: readonly string[];
}

/** Members of etcd that the certificates are valid for. */
const members = ['etcd-0', 'etcd-1', 'etcd-2'];
const loopback = ['localhost', '127.0.0.1'];
const etcdHosts = [
  `etcd.${conduitNamespace}.svc`,
  // One name per member: with a wildcard, etcd would look up the name of its peer's address in DNS.
  ...members.map((member) => `${member}.etcd.${conduitNamespace}.svc`),
  ...loopback,
];

/** The certificates between kube-apiserver, api-server and etcd. */
export const leaves: readonly Leaf[] = [
  {
    secretName: 'api-server-tls',
    commonName: 'api-server',
    hosts: [`api-server.${conduitNamespace}.svc`, `api-server.${conduitNamespace}.svc.cluster.local`],
  },
  { secretName: 'api-server-etcd-client-tls', commonName: 'api-server', hosts: [] },
  { secretName: 'etcd-server-tls', commonName: 'etcd', hosts: etcdHosts },
  { secretName: 'etcd-peer-tls', commonName: 'etcd', hosts: etcdHosts },
];
