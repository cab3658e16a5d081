import { ArcError } from '#shared/base/errors';
import type { KubeObject } from '#shared/base/meta';
import { type ApiRequest, selectableFields } from './resources.ts';

type Matches = (object: KubeObject) => boolean;

/** Returns a predicate for namespace, labelSelector and fieldSelector. Throws BadRequest for an invalid selector. */
export function selection(request: ApiRequest, query: URLSearchParams): Matches {
  const terms = [
    ...labelTerms(query.get('labelSelector') ?? ''),
    ...fieldTerms(request, query.get('fieldSelector') ?? ''),
  ];
  if (request.namespace !== undefined)
    terms.push((object) => object.metadata.namespace === request.namespace);
  return (object) => terms.every((matches) => matches(object));
}

const term =
  /^\s*(?:(?<absent>!)?\s*(?<name>[\w./-]+)|(?<key>[\w./-]+)\s*(?:(?<operator>==?|!=)\s*(?<value>[\w.-]*)|\s(?<set>in|notin)\s*\((?<values>[^()]*)\)))\s*$/;

function labelTerms(selector: string): Matches[] {
  if (selector.trim() === '') return [];
  // A comma in parentheses separates values, not terms.
  return selector.split(/,(?![^()]*\))/).map((text) => {
    const found = term.exec(text)?.groups;
    if (found === undefined)
      throw new ArcError('BadRequest', `unable to parse requirement: ${JSON.stringify(text)}`);
    const { absent, name, key = '', operator, value = '', set, values = '' } = found;
    if (name !== undefined) return (object) => Object.hasOwn(labelsOf(object), name) === !absent;
    const wanted = set === undefined ? [value] : values.split(',').map((text) => text.trim());
    const negated = operator === '!=' || set === 'notin';
    return (object) => {
      const label = labelsOf(object)[key];
      return (label !== undefined && wanted.includes(label)) !== negated;
    };
  });
}

function fieldTerms(request: ApiRequest, selector: string): Matches[] {
  const terms = selector.split(',').filter((text) => text !== '');
  return terms.map((text) => {
    const [, field, operator, value] = /^(.*?)(==|!=|=)(.*)$/.exec(text) ?? [];
    if (field === undefined)
      throw new ArcError('BadRequest', `invalid selector: '${selector}'; can't understand '${text}'`);
    if (!selectableFields(request).includes(field))
      throw new ArcError('BadRequest', `field label not supported: ${field}`);
    return (object) => (fieldOf(object, field) === value) === (operator !== '!=');
  });
}

function labelsOf(object: KubeObject): Record<string, string> {
  return object.metadata.labels ?? {};
}

function fieldOf(object: unknown, path: string): string {
  const value = path
    .split('.')
    .reduce<unknown>(
      (at, field) => (typeof at === 'object' && at ? Reflect.get(at, field) : undefined),
      object,
    );
  return value === undefined ? '' : String(value);
}
