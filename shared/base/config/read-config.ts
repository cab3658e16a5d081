import { ArcError } from '#shared/base/errors';

/** Parses the set variables: a zod object schema, or anything with the same `safeParse`. */
export interface ConfigSchema<T> {
  safeParse(
    env: Readonly<Record<string, string | undefined>>,
  ):
    | { success: true; data: T }
    | { success: false; error: { issues: readonly { path: readonly PropertyKey[]; message: string }[] } };
}

/**
 * Parses environment variables with a schema whose keys are their names. An empty variable counts as unset: that is
 * what an empty `value:` in a manifest means. Throws Invalid, which names every invalid variable, the expected value and the shape of
 * the given value; never the value itself, which may be a credential.
 */
export function readConfig<T>(schema: ConfigSchema<T>, env: Readonly<Record<string, string | undefined>>): T {
  const set = Object.fromEntries(
    Object.entries(env).filter(([, value]) => value !== undefined && value !== ''),
  );
  const parsed = schema.safeParse(set);
  if (parsed.success) return parsed.data;
  const causes = parsed.error.issues.map((issue) => {
    const name = String(issue.path[0] ?? 'environment');
    return {
      reason: 'FieldValueInvalid',
      field: name,
      message: `${issue.message} (it is ${shape(set[name])})`,
    };
  });
  const text = causes.map((cause) => `${cause.field}: ${cause.message}`).join('; ');
  throw new ArcError('Invalid', `the environment is wrong: ${text}`, {
    details: { causes },
  });
}

function shape(value: string | undefined): string {
  if (value === undefined) return 'not set';
  if (/^-?\d+$/.test(value)) return 'a whole number';
  return `text of ${value.length} character${value.length === 1 ? '' : 's'}`;
}
