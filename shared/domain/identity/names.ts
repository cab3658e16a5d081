import { shortHash } from '../values/hash.ts';
import {
  attemptSuffix,
  hashDigits,
  longestCronWorkflowName,
  longestLabelValue,
  longestObjectName,
  longestWorkflowName,
} from '../values/limits.ts';

/** Characters of `-<hash>`. */
const hashSuffix = hashDigits + 1;
const keySuffix = new RegExp(`-([0-9a-f]{${hashDigits}})$`);

/** Returns the name as an RFC 1123 label: lower case, digits and dashes, no dash at either end; `order` if nothing remains. */
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
  const limit = (cron ? longestCronWorkflowName : longestWorkflowName) - attemptSuffix - hashSuffix;
  return `${asLabel(order, limit)}-${key}`;
}

/** Returns the 16 hex digits at the end of a planned ArtifactWorkflow's name; undefined for a name given by hand. */
export function keyOfName(name: string): string | undefined {
  return keySuffix.exec(name)?.[1];
}

/** Returns the name of the Workflow of attempt 1, 2, …: the first attempt has the name of its ArtifactWorkflow. At most 63 characters. */
export function workflowName(artifactWorkflow: string, attempt: number): string {
  return shorten(artifactWorkflow, attempt <= 1 ? '' : `-${attempt}`, longestWorkflowName);
}

/** Returns the name of the CronWorkflow of an ArtifactWorkflow. At most 52 characters. */
export function cronWorkflowName(artifactWorkflow: string): string {
  return shorten(artifactWorkflow, '', longestCronWorkflowName);
}

// An ArtifactWorkflow made by hand may have any DNS name: a name that is too long is cut, and a hash keeps it unique.
function shorten(name: string, suffix: string, limit: number): string {
  if (name.length + suffix.length <= limit) return name + suffix;
  return `${asLabel(name, limit - suffix.length - hashSuffix)}-${shortHash(name)}${suffix}`;
}

/** True for a valid label value: letters, digits, `-`, `_` and `.`; the first and the last character a letter or digit. */
export function isLabelValue(text: string): boolean {
  return text.length <= longestLabelValue && /^([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?$/.test(text);
}

/** True for a valid object name: an RFC 1123 subdomain. */
export function isObjectName(text: string): boolean {
  return (
    text.length <= longestObjectName &&
    /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/.test(text)
  );
}
