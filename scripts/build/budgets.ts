import type { Bundle } from './bundle.ts';

/** KiB. A function that grows past its budget starts slower from zero: find what it drags in before raising it. */
const budgets: Record<string, number> = {
  // half of it reads charts and their versions (YAML, semver, tar): bundled, but run for charts and tags alone
  'transfer-worker': 400,
  // RE2 is a tenth of it: patterns of users, in linear time
  'api-server': 1465,
  // speaks to registries, and signs for S3
  'probe-endpoint': 320,
  // these two run the plan of an Order
  'decompose-order': 295,
  'roll-up-order': 295,
  // makes certificates: the ASN.1 of X.509 is half of it
  'certificate-issuer': 640,
  'watch-bridge': 318,
  // loaded by programs, and by functions outside a cluster: sign-in by OIDC and SOCKS proxies are a third of it
  kubeconfig: 290,
  // every kind of transfer, and in arcctl kubeconfigs, YAML and events: compiled when they are used
  arcctl: 950,
  'arc-transfer': 540,
};
const functionBudget = 275;

/** One line per bundle over its budget. */
export function overBudget(bundles: readonly Bundle[]): string[] {
  return bundles.flatMap(({ name, bytes }) => {
    const budget = budgets[name] ?? functionBudget;
    const size = Math.ceil(bytes / 1024);
    return size > budget ? [`bundle ${name} is ${size} KiB, its budget is ${budget} KiB`] : [];
  });
}
