import { ArcError } from '#shared/errors';

/** What reads the variables that are set: a zod object schema, or anything that answers in the same way. */
export interface ConfigSchema<T> {
  safeParse(
    env: Readonly<Record<string, string | undefined>>,
  ):
    | { success: true; data: T }
    | { success: false; error: { issues: readonly { path: readonly PropertyKey[]; message: string }[] } };
}

/**
 * Parses environment variables with a schema whose keys are the variables' names. A variable set to the
 * empty text counts as unset, as manifests with an empty `value:` mean it. Rejects with Invalid naming every wrong
 * variable, what was expected and the shape of what was found, never the value: it may be a credential.
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
  throw new ArcError('Invalid', `configuration from the environment is wrong: ${text}`, {
    details: { causes },
  });
}

function shape(value: string | undefined): string {
  if (value === undefined) return 'not set';
  if (/^-?\d+$/.test(value)) return 'a whole number';
  return `text of ${value.length} character${value.length === 1 ? '' : 's'}`;
}
