import type { Bundle } from './bundle.ts';

/** KiB. A function that grows past its budget starts slower from zero: find what it drags in before raising it. */
const budgets: Record<string, number> = {
  // two thirds of it read charts, versions, bundles and certificates (YAML, semver, tar, zod, Sigstore): bundled, but run for those alone
  'transfer-worker': 715,
  // RE2 is a tenth of it: patterns of users, in linear time; the embedded store checks its file before it maps it; backups go to S3;
  // names are a quarter of the servers, which do not give them back
  'api-server': 2250,
  // speaks to registries, signs for S3, and reads the keys of bundles
  'probe-endpoint': 359,
  // these two run the plan of an Order, and resolve where its artifacts land
  'decompose-order': 325,
  'roll-up-order': 330,
  // decides who starts next
  'submit-workflow': 287,
  // quotes logs of failed steps
  'sync-status': 285,
  // makes certificates: the ASN.1 of X.509 is half of it
  'certificate-issuer': 640,
  // takes the decisions of all functions, the plan of an Order among them, and makes domain events
  'watch-bridge': 552,
  // loaded by programs, and by functions outside a cluster: YAML and SOCKS proxies are two thirds of it
  kubeconfig: 167,
  // every kind of transfer, and in arcctl kubeconfigs, YAML and events: compiled when they are used; a quarter is the console, compressed
  arcctl: 1580,
  'arcctl-start': 1,
  // its login probes a registry
  'arc-transfer': 810,
};
const functionBudget = 280;

/** One line per bundle over its budget. */
export function overBudget(bundles: readonly Bundle[]): string[] {
  return bundles.flatMap(({ name, bytes }) => {
    const budget = budgets[name] ?? functionBudget;
    const size = Math.ceil(bytes / 1024);
    return size > budget ? [`bundle ${name} is ${size} KiB, its budget is ${budget} KiB`] : [];
  });
}
