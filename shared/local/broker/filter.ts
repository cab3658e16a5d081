/** The attributes and extensions of an event, as text. */
export type Attributes = Readonly<Record<string, string>>;

/** One expression of `Trigger.spec.filters`; exactly one dialect is set. */
export type Filter =
  | { exact: Attributes }
  | { prefix: Attributes }
  | { suffix: Attributes }
  | { all: readonly Filter[] }
  | { any: readonly Filter[] }
  | { not: Filter };

/**
 * Evaluates Knative's subscription dialects: case-sensitive, over attributes and extensions only. An absent attribute matches
 * nothing, so `not` of it matches. An empty `all` matches; an empty `any` does not.
 */
export function matches(filter: Filter, event: Attributes): boolean {
  if ('exact' in filter) return every(filter.exact, event, (value, wanted) => value === wanted);
  if ('prefix' in filter) return every(filter.prefix, event, (value, wanted) => value.startsWith(wanted));
  if ('suffix' in filter) return every(filter.suffix, event, (value, wanted) => value.endsWith(wanted));
  if ('all' in filter) return filter.all.every((one) => matches(one, event));
  if ('any' in filter) return filter.any.some((one) => matches(one, event));
  return !matches(filter.not, event);
}

function every(
  wanted: Attributes,
  event: Attributes,
  test: (value: string, wanted: string) => boolean,
): boolean {
  return Object.entries(wanted).every(([name, expected]) => {
    const value = Object.hasOwn(event, name) ? event[name] : undefined;
    return value !== undefined && test(value, expected);
  });
}
