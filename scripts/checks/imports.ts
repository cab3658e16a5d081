import path from 'node:path';
import { isProduction, readTree } from './source-tree.ts';

/** Rooms of shared/ that every other room may import. */
export const everywhere = ['base/meta', 'base/async', 'base/errors', 'base/telemetry', 'base/config'];

/**
 * The rooms of shared/, wing by wing, and what each imports beside `everywhere`: only rooms that stand above it in this list. docs/architecture.md
 * shows it as a picture (`pictureOfRooms`); the test of this file holds both to what is imported.
 */
export const rooms: Readonly<Record<string, readonly string[]>> = {
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
  'conduit/runtime': ['conduit/events', 'kubernetes/client'],
  'conduit/function-kit': ['conduit/runtime', 'kubernetes/client', 'domain'],
  transfer: ['domain/address', 'base/yaml'],
  local: ['kubernetes/apiserver', 'kubernetes/client', 'domain'],
};

/** The rooms as a picture, the highest wing first: each room, and by an arrow what it imports beside `everywhere`. */
export function pictureOfRooms(): string {
  const lines = Object.entries(rooms).map(([room, imports]) => {
    const [wing = '', name = wing] = room.split('/');
    const arrow = imports.length === 0 ? '' : ` --> ${imports.join(', ')}`;
    return `${wing.padEnd(12)}${(everywhere.includes(room) ? `${name} *` : name).padEnd(14)}${arrow}`.trimEnd();
  });
  return [...lines.toReversed(), '', '* every room may import it', ''].join('\n');
}

/**
 * The rule of the tree: scripts -> functions -> shared, examples -> shared, never sideways between functions, inside shared only along
 * `rooms`, and into another room of shared only by its door (`#shared/<room>`).
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
  const allowed = rooms[folder];
  if (!allowed) return `shared/${folder} is not in the list of scripts/checks/imports.ts`;
  return everywhere.includes(to.folder) || allowed.includes(to.folder)
    ? undefined
    : `shared/${folder} may import only ${[...everywhere, ...allowed].join(', ')}`;
}

function placeOf(file: string): { area: string; folder: string } {
  const [area = '', folder = ''] = file.split(/[\\/]/);
  if (area === 'scripts' || area === 'test') return { area, folder: '' };
  return { area, folder: roomOf(file) ?? folder };
}

/** The room of shared/ that a file is in; undefined for a file elsewhere. */
export function roomOf(file: string): string | undefined {
  const [area, wing = '', name] = file.split(/[\\/]/);
  if (area !== 'shared') return undefined;
  return [`${wing}/${name}`, wing].find((room) => room in rooms);
}
