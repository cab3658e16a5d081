import { parseProgress } from '#shared/domain';
import type { Cell } from '../core/print.ts';
import type { ArtifactNode, OrderTree, RunNode, VersionNode } from './tree.ts';

/** A line of a tree without its branches. */
interface Line {
  name: string;
  phase: string;
  reason: string;
  message: string;
  below: Line[];
}

/** Returns rows of NAME, PHASE, REASON and MESSAGE. With `isWide`, they include earlier versions and details of succeeded ones. */
export function treeRows(tree: OrderTree, isWide = false): Cell[][] {
  const order: Line = {
    name: `Order ${tree.namespace}/${tree.name}`,
    phase: tree.phase,
    reason: '',
    message: firstLine(tree.message),
    below: [
      ...tree.artifacts.map((artifact) => artifactLine(artifact, isWide)),
      ...tree.left.map((version) => ({ ...versionLine(version, true), reason: 'no longer in the Order' })),
    ],
  };
  return rowsOf(order, { lead: '', indent: '', said: '' });
}

function artifactLine(artifact: ArtifactNode, isWide: boolean): Line {
  const { name, type, source, destination, phase, reason, message, digest, progress } = artifact;
  const route = isWide ? `: ${source || '?'} -> ${destination || '?'}` : '';
  const isRunning = phase === 'Running';
  const detail = [
    ...(isRunning ? [percentOf(progress)] : []),
    ...(phase === 'Succeeded' ? [isWide ? digest : digest.slice(0, 19)] : []),
    firstLine(message),
  ].filter((text) => text !== '');
  const versions = artifact.versions.filter(({ inForce }) => inForce || isWide);
  const hidden = artifact.versions.length - versions.length;
  return {
    name: `${name} (${type}${route})`,
    phase,
    reason,
    message: detail.join(', '),
    below: [
      ...versions.map((version) => versionLine(version, isWide || version.phase !== 'Succeeded')),
      ...(hidden > 0
        ? [{ name: `${hidden} earlier`, phase: '', reason: '', message: '-o wide shows them', below: [] }]
        : []),
    ],
  };
}

function versionLine(version: VersionNode, isWide: boolean): Line {
  const { name, revision, inForce, phase, reason, message, runs } = version;
  const mark = inForce ? '' : ', earlier';
  return {
    name: `ArtifactWorkflow ${name}${revision > 1 || mark !== '' ? ` (revision ${revision}${mark})` : ''}`,
    phase,
    reason,
    message: firstLine(message),
    below: isWide ? runs.map(runLine) : [],
  };
}

function runLine({ kind, name, phase, message, pods }: RunNode): Line {
  return {
    name: `${kind} ${name}`,
    phase,
    reason: '',
    message: firstLine(message),
    below: pods.map((pod) => ({
      ...pod,
      name: `Pod ${pod.name}`,
      message: firstLine(pod.message),
      below: [],
    })),
  };
}

interface Branch {
  /** Prefix of the name. */
  lead: string;
  /** Prefix of the names below it. */
  indent: string;
  /** The message of the level above. */
  said: string;
}

function rowsOf({ name, phase, reason, message, below }: Line, branch: Branch): Cell[][] {
  const { lead, indent, said } = branch;
  // A message repeated from the level above is shown once.
  const news = said === '' ? message : message.replace(said, '…');
  const rows: Cell[][] = [[`${lead}${name}`, phaseCell(phase), reason, news === '…' ? '' : news]];
  for (const [index, line] of below.entries()) {
    const isLast = index === below.length - 1;
    rows.push(
      ...rowsOf(line, {
        lead: `${indent}${isLast ? '└─' : '├─'} `,
        indent: `${indent}${isLast ? '   ' : '│  '}`,
        said: said || (lead === '' ? '' : message),
      }),
    );
  }
  return rows;
}

const styles = {
  Succeeded: 'green',
  Failed: 'red',
  Error: 'red',
  Invalid: 'red',
  Running: 'cyan',
  Active: 'cyan',
} as const;

/** Returns a phase with its colour. */
function phaseCell(phase: string): Cell {
  const found = Object.entries(styles).find(([name]) => name === phase);
  return found ? { text: phase, style: found[1] } : phase;
}

/** Formats `n/m` as `45%`; empty if unknown. */
export function percentOf(progress: string): string {
  const known = parseProgress(progress);
  return known ? `${Math.floor((known.done / known.total) * 100)}%` : '';
}

/** Returns the first line: messages of failures contain the end of a log. */
export function firstLine(text: string): string {
  return text.split('\n', 1)[0] ?? '';
}
