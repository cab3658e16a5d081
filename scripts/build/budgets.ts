import type { Bundle } from './bundle.ts';

/** In KiB. A larger bundle starts slower: find the cause before you raise its budget. */
const budgets: Record<string, number> = {
  // two thirds of it read charts, versions, bundles and certificates (YAML, semver, tar, zod, Sigstore), evaluated only when needed
  'transfer-worker': 715,
  // RE2 is a tenth of it, for user patterns in linear time; the embedded store verifies its file before mapping it; backups go to S3;
  // a quarter of the servers are function names, because their names are not minified
  'api-server': 2250,
  // contacts registries, signs for S3, and reads the keys of bundles
  'probe-endpoint': 363,
  // these two compute the plan of an Order, and resolve the targets of its artifacts
  'decompose-order': 331,
  'roll-up-order': 336,
  // decides the order of transfers
  'submit-workflow': 292,
  // quotes logs of failed steps
  'sync-status': 292,
  // creates certificates: the ASN.1 of X.509 is half of it
  'certificate-issuer': 640,
  // contains the decisions of all functions, including the plan of an Order, and creates domain events
  'watch-bridge': 552,
  // a third is the compressed front end
  console: 1160,
  // loaded lazily by programs, and by functions outside a cluster: YAML and SOCKS proxies are two thirds of it
  kubeconfig: 167,
  // every kind of transfer, and in arcctl kubeconfigs, YAML and events, compiled lazily; a quarter is the compressed console
  arcctl: 1580,
  'arcctl-start': 1,
  // its login probes a registry
  'arc-transfer': 810,
};
const functionBudget = 281;

/** Returns one line per bundle over its budget. */
export function overBudget(bundles: readonly Bundle[]): string[] {
  return bundles.flatMap(({ name, bytes }) => {
    const budget = budgets[name] ?? functionBudget;
    const size = Math.ceil(bytes / 1024);
    return size > budget ? [`bundle ${name} is ${size} KiB, its budget is ${budget} KiB`] : [];
  });
}
