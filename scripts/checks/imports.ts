import path from 'node:path';
import { isProduction, readTree } from './source-tree.ts';

/** Rooms of shared/ that every other room may import. */
const everywhere = ['base/meta', 'base/async', 'base/errors', 'base/telemetry', 'base/config'];

/** The rooms of shared/, wing by wing, lowest first, and what each may import beside `everywhere`. */
const mayImport: Record<string, string[]> = {
  'base/meta': [],
  'base/async': [],
  'base/errors': [],
  'base/telemetry': [],
  'base/config': [],
  'base/yaml': [],
  'base/testing': [],
  'kubernetes/client': [],
  'kubernetes/storage': [],
  'kubernetes/apiserver': ['kubernetes/storage', 'base/yaml'],
  'domain/address': [],
  domain: ['domain/address'],
  'conduit/events': ['domain'],
  'conduit/runtime': ['conduit/events', 'kubernetes/client', 'domain'],
  'conduit/function-kit': ['conduit/runtime', 'conduit/events', 'kubernetes/client', 'domain'],
  transfer: ['domain/address', 'base/yaml'],
  local: ['kubernetes/apiserver', 'kubernetes/storage', 'kubernetes/client', 'conduit/events', 'domain'],
};

/**
 * The rule of the tree: scripts -> functions -> shared, examples -> shared, never sideways between functions, inside shared only along
 * `mayImport`, and into another room of shared only by its door (`#shared/<room>`).
 * @returns one line per violation: file, what it imports, what to do instead.
 */
export async function checkImports(root: string): Promise<string[]> {
  const problems: string[] = [];
  for (const { file, imports } of await readTree(root)) {
    if (!isProduction(file)) continue; // tests may compose what production code may not
    for (const target of imports) {
      const problem = violationOf(file, target);
      if (problem !== undefined) problems.push(`${file} imports ${target}: ${problem}`);
    }
  }
  return problems;
}

/** Why `file` must not import `target`; undefined when it may. Paths are relative to the root, with forward slashes. */
export function violationOf(file: string, target: string): string | undefined {
  const from = placeOf(file);
  const to = target.startsWith('#shared/')
    ? { area: 'shared', folder: target.slice('#shared/'.length) }
    : target.startsWith('.')
      ? placeOf(path.posix.join(path.posix.dirname(file), target))
      : undefined;
  if (!to || (from.area === to.area && from.folder === to.folder)) return undefined;
  if (to.area === 'shared' && !target.startsWith('#shared/'))
    return `use the door '#shared/${to.folder}', not a file behind it`;
  if (to.area === 'test') return 'production code does not import from test/';
  if (from.area === 'shared') return sharedViolation(from.folder, to);
  if (from.area === 'examples' && to.area !== 'shared') return 'examples use the doors of shared only';
  if (from.area === 'functions' && to.area === 'functions') return 'functions do not import each other';
  if (from.area === 'functions' && to.area === 'scripts') return 'functions do not import scripts';
  return undefined;
}

function sharedViolation(folder: string, to: { area: string; folder: string }): string | undefined {
  if (to.area !== 'shared') return 'shared is at the bottom: it imports neither functions nor scripts';
  const allowed = mayImport[folder];
  if (!allowed) return `shared/${folder} is not in the list of scripts/checks/imports.ts`;
  return everywhere.includes(to.folder) || allowed.includes(to.folder)
    ? undefined
    : `shared/${folder} may import only ${[...everywhere, ...allowed].join(', ')}`;
}

function placeOf(file: string): { area: string; folder: string } {
  const [area = '', folder = '', inner = ''] = file.split(/[\\/]/);
  if (area === 'scripts' || area === 'test') return { area, folder: '' };
  const room = `${folder}/${inner}`;
  return { area, folder: area === 'shared' && room in mayImport ? room : folder };
}
