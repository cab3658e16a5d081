import { printable } from '#shared/base/errors';
import { isRecord } from '#shared/base/meta';
import { fieldElement, type PathElement, showElement, showPath } from '../fieldpath/path-element.ts';
import { goSyntax, goType, goValue } from './go-text.ts';
import { fieldType, type ListType, type MapType, type MergeType } from './merge-type.ts';
import { isScalar, itemElement, shapeOf } from './value-shape.ts';

/** Limit of reported faults, each of which is a line of the response. */
const maxFaults = 100;

interface Walk {
  path: PathElement[];
  faults: string[];
}

/**
 * Returns the errors of an applied configuration (unknown fields, wrong types, duplicate items) in the words of structured-merge-diff, such
 * as `.spec.bogus: field not declared in schema`.
 */
export function typeFaults(type: MergeType, value: unknown): string[] {
  const walk: Walk = { path: [], faults: [] };
  check(walk, type, value);
  return walk.faults;
}

/** Joins faults to the message of a `multiline` ArcError. */
export function faultText(faults: readonly string[]): string {
  const shown = faults.map(printable);
  const [first = ''] = shown;
  return shown.length === 1 ? first : ['errors:', ...shown.map((fault) => `  ${fault}`)].join('\n');
}

function report(walk: Walk, fault: string): void {
  if (walk.faults.length >= maxFaults) return;
  const path = showPath(walk.path);
  walk.faults.push(path === '' ? fault : `${path}: ${fault}`);
}

function check(walk: Walk, type: MergeType, value: unknown): void {
  if (value === null || value === undefined) return;
  const shape = shapeOf(type, value);
  if (shape === 'map' && type.map) checkMap(walk, type.map, value);
  else if (shape === 'list' && type.list) checkList(walk, type.list, value);
  else checkScalar(walk, type, value);
}

function checkMap(walk: Walk, map: MapType, value: unknown): void {
  if (!isRecord(value)) {
    report(walk, `expected map, got &{${goValue(value)}}`);
    return;
  }
  for (const [name, field] of Object.entries(value)) {
    const type = fieldType(map, name);
    walk.path.push(fieldElement(name));
    if (type) check(walk, type, field);
    else report(walk, 'field not declared in schema');
    walk.path.pop();
  }
}

function checkList(walk: Walk, list: ListType, value: unknown): void {
  if (!Array.isArray(value)) {
    report(walk, `expected list, got &{${goValue(value)}}`);
    return;
  }
  const seen = new Set<string>();
  for (const [index, item] of value.entries()) {
    const element = list.kind === 'atomic' ? `i:${index}` : itemElement(list, item);
    if (typeof element !== 'string') {
      report(walk, `element ${index}: ${element.fault}`);
      return;
    }
    if (seen.has(element)) report(walk, `duplicate entries for key ${showElement(element)}`);
    seen.add(element);
    walk.path.push(element);
    check(walk, list.items, item);
    walk.path.pop();
  }
}

function checkScalar(walk: Walk, type: MergeType, value: unknown): void {
  switch (type.scalar) {
    case 'string':
      if (typeof value !== 'string') {
        report(walk, `expected string, got &value.valueUnstructured{Value:${goSyntax(value)}}`);
      }
      return;
    case 'numeric':
      if (typeof value !== 'number') report(walk, `expected numeric (int or float), got ${goType(value)}`);
      return;
    case 'boolean':
      if (typeof value !== 'boolean') report(walk, `expected boolean, got &{${goValue(value)}}`);
      return;
    default:
      if (!isScalar(value)) report(walk, `expected any scalar, got &{${goValue(value)}}`);
  }
}
