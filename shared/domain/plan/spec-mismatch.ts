import type { Json } from '#shared/base/meta';
import type { ArtifactType } from '../kinds/artifact-type.ts';
import type { Hold } from '../lifecycle/holds.ts';
import type { Schema } from '../schema/schema.ts';
import { valueCauses } from '../schema/value-causes.ts';
import { clashOf, clashText } from './parameters.ts';

type Spec = Readonly<Record<string, Json>>;

/**
 * Why an artifact's spec cannot be moved as its type has it. Orders with such a spec are refused when they are written; those that were
 * written before the type or the rule come here, and what the defaults of a schema make of others. Patterns have been compared then.
 */
export function specMismatch(type: ArtifactType, spec: Spec): Hold | undefined {
  const schema = type.spec.schema as Schema | undefined;
  const [problem] = schema === undefined ? [] : valueCauses('spec', schema, spec);
  if (problem !== undefined) {
    const message = `it does not fit the schema of artifact type "${type.metadata.name}": ${problem.field}: ${problem.message}`;
    return { reason: 'SpecMismatch', message };
  }
  const clash = clashOf(spec, schema);
  return clash && { reason: 'SpecMismatch', message: clashText('spec', clash) };
}
