/** Properties of a JSON document that JSON.parse does not report. */
export interface JsonScan {
  /** Paths of duplicate keys, such as `spec.type` or `spec.artifacts[0].type`. */
  duplicates: string[];
  /** True if a key is `__proto__`, with or without escapes. */
  prototypeKey: boolean;
  /** True if a number exceeds the range of a float64. */
  overflow: boolean;
  /** The first int64 that a float64 cannot represent, and its path. */
  inexact: { number: string; path: string } | undefined;
}

/** Limits of the structure of a document, which costs time in addition to its size. */
export interface JsonLimits {
  /** Nesting depth of objects and arrays. */
  depth: number;
  /** Total number of fields and items. */
  values: number;
  /** Fields of an object, or items of a nested list. */
  fields: number;
}

/** Returns the limit that a text exceeds, if any. Accepts invalid JSON, so that it can run before the parser. */
export function exceededLimit(text: string, limits: JsonLimits): keyof JsonLimits | undefined {
  let values = 0;
  /** Number of commas in each open object and list. */
  const commas: number[] = [];
  for (let at = 0; at < text.length; at++) {
    switch (text.charCodeAt(at)) {
      case 0x22:
        at = stringEnd(text, at);
        break;
      case 0x7b:
      case 0x5b:
        values++;
        // A top-level list is a JSON patch, whose operations have their own limit.
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

/** An open object or list. */
interface Level {
  parent: Level | undefined;
  /** Undefined for a list. */
  keys: Set<string> | undefined;
  index: number;
  key: string;
}

/** Scans *valid* JSON in one pass, without recursion. */
export function scanJson(text: string): JsonScan {
  const scan: JsonScan = { duplicates: [], prototypeKey: false, overflow: false, inexact: undefined };
  let level: Level | undefined;
  let expectKey = false;
  for (let at = 0; at < text.length; at++) {
    const letter = text.charCodeAt(at);
    if (letter === 0x22) {
      const end = stringEnd(text, at);
      if (expectKey && level?.keys) noteKey(scan, level, level.keys, text.slice(at, end + 1));
      expectKey = false;
      at = end;
    } else if (letter === 0x7b || letter === 0x5b) {
      expectKey = letter === 0x7b;
      level = open(level, expectKey);
    } else if (letter === 0x7d || letter === 0x5d) {
      level = level?.parent;
      expectKey = false;
    } else if (letter === 0x2c && level) {
      level.index++;
      expectKey = level.keys !== undefined;
    } else if (isDigit(letter)) at = scanNumber(scan, level, text, at);
  }
  return scan;
}

const isDigit = (letter: number) => letter >= 0x30 && letter <= 0x39;
const isExponent = (letter: number) => letter === 0x65 || letter === 0x45;
const isPointOrSign = (letter: number) => letter === 0x2e || letter === 0x2b || letter === 0x2d;

/** Checks the number at `from`; returns the index of its last character. */
function scanNumber(scan: JsonScan, level: Level | undefined, text: string, from: number): number {
  let end = from + 1;
  let isScaled = false;
  for (let letter = text.charCodeAt(end); ; letter = text.charCodeAt(++end)) {
    if (isExponent(letter)) isScaled = true;
    else if (!isDigit(letter) && !isPointOrSign(letter)) break;
  }
  // Every shorter number is exact.
  if (!isScaled && end - from < 16) return end - 1;
  const number = text.slice(from, end);
  if (!Number.isFinite(Number(number))) scan.overflow = true;
  else if (!isExact(number)) scan.inexact ??= { number, path: level ? childPath(level) : '' };
  return end - 1;
}

const maxInt64 = 2n ** 63n;

/** False for an int64 of kube-apiserver that a float64 would change. */
function isExact(number: string): boolean {
  if (number.length > 19 || !/^\d+$/.test(number)) return true;
  const value = Number(number);
  // A number that serializes to the same text is unchanged for clients.
  return String(value) === number || BigInt(value) === BigInt(number) || BigInt(number) > maxInt64;
}

function open(parent: Level | undefined, isObject: boolean): Level {
  return { parent, keys: isObject ? new Set() : undefined, index: 0, key: '' };
}

/** Returns the index of the closing quote of the string at `from`. */
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
  // Bounds the response to a hostile body.
  if (keys.has(key) && scan.duplicates.length < 100) scan.duplicates.push(childPath(level));
  keys.add(key);
}

function childPath({ parent, keys, index, key }: Level): string {
  const path = parent ? childPath(parent) : '';
  if (!keys) return `${path}[${index}]`;
  return path === '' ? key : `${path}.${key}`;
}
