import type { Json } from '#shared/base/meta';
import type { ArtifactType } from '../kinds/artifact-type.ts';
import type { Hold } from '../lifecycle/holds.ts';
import type { Schema } from '../schema/schema.ts';
import { valueCauses } from '../schema/value-causes.ts';
import { clashOf, clashText } from './parameters.ts';

type Spec = Readonly<Record<string, Json>>;

/**
 * Returns why an artifact's spec does not fit its type. Admission refuses such Orders; this catches Orders that are older than the type or the
 * rule, and values that come from the defaults of a schema. Patterns are not matched again.
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
