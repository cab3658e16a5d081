import path from 'node:path';
import { isProduction, readTree } from './source-tree.ts';

/** Rooms of shared/ that every room may import. */
export const everywhere = ['base/meta', 'base/async', 'base/errors', 'base/telemetry', 'base/config'];

/**
 * The rooms of shared/ by wing, and the allowed imports of each in addition to `everywhere`: only rooms listed above it. docs/architecture.md
 * shows them as a picture (`pictureOfRooms`); the test of this file compares both with the actual imports.
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

/** Returns the picture of the rooms, the highest wing first: each room with its allowed imports in addition to `everywhere`. */
export function pictureOfRooms(): string {
  const lines = Object.entries(rooms).map(([room, imports]) => {
    const [wing = '', name = wing] = room.split('/');
    const arrow = imports.length === 0 ? '' : ` --> ${imports.join(', ')}`;
    return `${wing.padEnd(12)}${(everywhere.includes(room) ? `${name} *` : name).padEnd(14)}${arrow}`.trimEnd();
  });
  return [...lines.toReversed(), '', '* every room may import it', ''].join('\n');
}

/**
 * Checks imports: scripts -> functions -> shared, examples -> shared, never between functions, inside shared only as in `rooms`, and into
 * another room of shared only through its entry point (`#shared/<room>`).
 * @returns one line per violation: file, import, what to do instead.
 */
export async function checkImports(root: string): Promise<string[]> {
  const problems: string[] = [];
  for (const { file, imports } of await readTree(root)) {
    if (!isProduction(file)) continue; // tests may import more
    for (const target of imports) {
      const problem = violationOf(file, target);
      if (problem !== undefined) problems.push(`${file} imports ${target}: ${problem}`);
    }
  }
  return problems;
}

/** Returns why `file` must not import `target`; undefined if it may. Paths are relative to the root, with forward slashes. */
export function violationOf(file: string, target: string): string | undefined {
  const from = placeOf(file);
  const to = target.startsWith('#shared/')
    ? { area: 'shared', folder: target.slice('#shared/'.length) }
    : target.startsWith('.')
      ? placeOf(path.posix.join(path.posix.dirname(file), target))
      : undefined;
  if (!to || (from.area === to.area && from.folder === to.folder)) return undefined;
  if (to.area === 'shared' && !target.startsWith('#shared/'))
    return `use the entry point '#shared/${to.folder}', not a file behind it`;
  if (to.area === 'test') return 'production code does not import from test/';
  if (from.area === 'shared') return sharedViolation(from.folder, to);
  if (from.area === 'examples' && to.area !== 'shared') return 'examples use only the entry points of shared';
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

/** Returns the room of shared/ that contains a file; undefined for a file elsewhere. */
export function roomOf(file: string): string | undefined {
  const [area, wing = '', name] = file.split(/[\\/]/);
  if (area !== 'shared') return undefined;
  return [`${wing}/${name}`, wing].find((room) => room in rooms);
}
