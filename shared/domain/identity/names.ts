import { shortHash } from '../values/canonical.ts';

/** Argo's limits (workflow/validate, util.go): a Workflow's name is used as a label value, a CronWorkflow's gets a suffix. */
const workflowLimit = 63;
const cronLimit = 52;
/** Room for `-<attempt>` with up to four digits. */
const attemptRoom = 5;
const hashRoom = 17;

/** The name as an RFC 1123 label: lower case, digits and dashes, no dash at either end; `order` if nothing is left. */
function asLabel(text: string, length: number): string {
  const label = text
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replace(/^-+/, '')
    .slice(0, length)
    .replace(/-+$/, '');
  return label === '' ? 'order' : label;
}

/** `<order, cut to fit>-<key>`; short enough that every attempt's Workflow (63) or CronWorkflow (52) fits too. */
export function artifactWorkflowName(order: string, key: string, cron: boolean): string {
  const limit = (cron ? cronLimit : workflowLimit) - attemptRoom - hashRoom;
  return `${asLabel(order, limit)}-${key}`;
}

/** The 16 hex digits a planned ArtifactWorkflow's name ends with; undefined for one made by hand. */
export function keyOfName(name: string): string | undefined {
  return /-([0-9a-f]{16})$/.exec(name)?.[1];
}

/** Name of the Workflow of attempt 1, 2, … of an ArtifactWorkflow: the first has its very name. At most 63 characters. */
export function workflowName(artifactWorkflow: string, attempt: number): string {
  return shorten(artifactWorkflow, attempt <= 1 ? '' : `-${attempt}`, workflowLimit);
}

/** Name of the CronWorkflow of an ArtifactWorkflow. At most 52 characters. */
export function cronWorkflowName(artifactWorkflow: string): string {
  return shorten(artifactWorkflow, '', cronLimit);
}

// An ArtifactWorkflow made by hand may have any DNS name: what does not fit is cut and told apart by a hash.
function shorten(name: string, suffix: string, limit: number): string {
  if (name.length + suffix.length <= limit) return name + suffix;
  return `${asLabel(name, limit - suffix.length - hashRoom)}-${shortHash(name)}${suffix}`;
}

/** True if `text` may be the value of a label (63 characters of letters, digits, `-`, `_`, `.`, bounded by the former two). */
export function isLabelValue(text: string): boolean {
  return text.length <= 63 && /^([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?$/.test(text);
}
