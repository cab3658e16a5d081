/** Facts about a valid document that JSON.parse does not report. */
export interface JsonScan {
  /** Paths of keys that occur twice in one object, as `spec.type` or `spec.artifacts[0].type`. */
  duplicates: string[];
  /** True when a key is `__proto__`, with or without escapes. */
  prototypeKey: boolean;
  /** The first whole number within int64 that a float64 cannot hold, and where it stands. */
  inexact: { number: string; path: string } | undefined;
}

/** What parsing costs time for, beside bytes. */
export interface JsonLimits {
  /** Levels of objects and arrays. */
  depth: number;
  /** Fields and items, in all. */
  values: number;
  /** Fields of one object, or items of one list within the text. */
  fields: number;
}

/** The limit that a text exceeds. Works on any text, valid or not, so that it can be called first. */
export function exceeded(text: string, limits: JsonLimits): keyof JsonLimits | undefined {
  let values = 0;
  /** Commas of each open object and list. */
  const commas: number[] = [];
  for (let at = 0; at < text.length; at++) {
    switch (text.charCodeAt(at)) {
      case 0x22:
        at = stringEnd(text, at);
        break;
      case 0x7b:
      case 0x5b:
        values++;
        // A body that is a list is a JSON patch, whose operations have a limit and a message of their own.
        commas.push(commas.length === 0 && text[at] === '[' ? Number.NEGATIVE_INFINITY : 0);
        if (commas.length > limits.depth) return 'depth';
        break;
      case 0x7d:
      case 0x5d:
        commas.pop();
        break;
      case 0x2c:
        values++;
        commas[commas.length - 1] = (commas.at(-1) ?? 0) + 1;
        if ((commas.at(-1) ?? 0) >= limits.fields) return 'fields';
        break;
    }
    if (values > limits.values) return 'values';
  }
  return undefined;
}

interface Level {
  path: string;
  /** Undefined in an array. */
  keys: Set<string> | undefined;
  index: number;
  key: string;
}

/** Walks a *valid* JSON text once, without recursion; cost is linear in its length. */
export function scanJson(text: string): JsonScan {
  const scan: JsonScan = { duplicates: [], prototypeKey: false, inexact: undefined };
  const levels: Level[] = [];
  let expectKey = false;
  for (let at = 0; at < text.length; at++) {
    const letter = text.charCodeAt(at);
    const level = levels.at(-1);
    if (letter === 0x22) {
      const end = stringEnd(text, at);
      if (expectKey && level?.keys) noteKey(scan, level, level.keys, text.slice(at, end + 1));
      expectKey = false;
      at = end;
    } else if (letter === 0x7b || letter === 0x5b) {
      expectKey = letter === 0x7b;
      levels.push(open(level, expectKey));
    } else if (letter === 0x7d || letter === 0x5d) {
      levels.pop();
      expectKey = false;
    } else if (letter === 0x2c && level) {
      level.index++;
      expectKey = level.keys !== undefined;
    } else if (isDigit(letter)) at = passNumber(scan, level, text, at);
  }
  return scan;
}

const numberText = /[\d.eE+-]+/y;
const isDigit = (letter: number) => letter >= 0x30 && letter <= 0x39;

/** Index of the last letter of the number that begins at `from`. */
function passNumber(scan: JsonScan, level: Level | undefined, text: string, from: number): number {
  numberText.lastIndex = from;
  const [number = '0'] = numberText.exec(text) ?? [];
  if (!isExact(number)) scan.inexact ??= { number, path: level ? childPath(level) : '' };
  return from + number.length - 1;
}

const mostInt64 = 2n ** 63n;

/** False for a whole number that kube-apiserver keeps as an int64, and that would be another one here. */
function isExact(number: string): boolean {
  if (number.length < 16 || number.length > 19 || !/^\d+$/.test(number)) return true;
  const value = Number(number);
  // One that is written again as it was is the same to whoever reads it.
  return String(value) === number || BigInt(value) === BigInt(number) || BigInt(number) > mostInt64;
}

function open(parent: Level | undefined, isObject: boolean): Level {
  const path = parent ? childPath(parent) : '';
  return { path, keys: isObject ? new Set() : undefined, index: 0, key: '' };
}

/** Index of the quote that closes the string opened at `from`. */
function stringEnd(text: string, from: number): number {
  let end = text.indexOf('"', from + 1);
  while (end !== -1 && isEscaped(text, end)) end = text.indexOf('"', end + 1);
  return end === -1 ? text.length : end;
}

function isEscaped(text: string, at: number): boolean {
  let slashes = 0;
  while (text.charCodeAt(at - 1 - slashes) === 0x5c) slashes++;
  return slashes % 2 === 1;
}

function noteKey(scan: JsonScan, level: Level, keys: Set<string>, quoted: string): void {
  const key = quoted.includes('\\') ? String(JSON.parse(quoted)) : quoted.slice(1, -1);
  level.key = key;
  if (key === '__proto__') scan.prototypeKey = true;
  // A handful of names is enough for a person, and keeps a hostile body from making a long answer.
  if (keys.has(key) && scan.duplicates.length < 100) scan.duplicates.push(childPath(level));
  keys.add(key);
}

function childPath(level: Level): string {
  if (!level.keys) return `${level.path}[${level.index}]`;
  return level.path === '' ? level.key : `${level.path}.${level.key}`;
}
