/**
 * How large an object may be. The first number is given: etcd's default, which knative/base/etcd states and a test compares. All others
 * follow from it.
 */

/** Bytes that etcd takes in one request: its `--max-request-bytes`. */
export const etcdRequestBytes = 1_572_864;

/** Stands beside the object in the request that writes it: its key of up to 1 KiB behind a prefix, three times, and the frame. */
const transactionBytes = 8 * 1024;

/** Bytes of an object as it is stored, its status and managedFields included, whatever the store. */
export const largestObjectBytes = etcdRequestBytes - transactionBytes;

/** Bytes of a request body: twice what can be stored, since YAML and indented JSON are longer. This is kube-apiserver's limit as well. */
export const largestBodyBytes = 2 * etcdRequestBytes;
