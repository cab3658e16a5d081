/**
 * Size limits of objects. The first is etcd's default, which knative/base/etcd sets and a test compares. The others
 * are derived from it.
 */

/** Maximum size of a request to etcd in bytes: its `--max-request-bytes`. */
export const etcdRequestBytes = 1_572_864;

/** The rest of a write request: the key of up to 1 KiB with its prefix, three times, and the frame. */
const transactionBytes = 8 * 1024;

/** Maximum size of a stored object in bytes, including its status and managedFields, whatever the store. */
export const largestObjectBytes = etcdRequestBytes - transactionBytes;

/** Maximum size of a request body in bytes: twice the stored size, because YAML and indented JSON are longer. kube-apiserver's limit, too. */
export const largestBodyBytes = 2 * etcdRequestBytes;
