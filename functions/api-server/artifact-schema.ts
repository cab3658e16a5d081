import { RE2JS } from 're2js';
import type { Cause } from '#shared/base/errors';
import { sameJson } from '#shared/base/meta';
import {
  type Artifact,
  type ArtifactType,
  group,
  invalidObject,
  isNew,
  type Order,
  type PatternMatcher,
  type Schema,
  schemaCauses,
  specCauses,
  valueCauses,
} from '#shared/domain';
import type { AdmissionPlugin, KubeObject, StoredObjects } from '#shared/kubernetes/apiserver';

/** Most problems of one Order that are named. */
const mostCauses = 20;

/** RE2's expressions take linear time, whatever the pattern and the text: both come from users. */
const matches: PatternMatcher = (pattern, text) => compiled(pattern).matcher(text).find();

const patterns = new Map<string, ReturnType<typeof RE2JS.compile>>();
const mostPatterns = 500;
function compiled(pattern: string) {
  const known = patterns.get(pattern);
  if (known) return known;
  if (patterns.size >= mostPatterns) patterns.clear();
  const made = RE2JS.compile(pattern);
  patterns.set(pattern, made);
  return made;
}

/**
 * Holds the artifacts of an Order to the schema of their type and to fields that become one parameter each, and the schema of a type to what ARC understands. Artifacts that an update
 * leaves alone are not judged anew, and a type that is not there yet is waited for. Rejects with Invalid naming the fields.
 */
export function artifactSchemas(stored: StoredObjects): AdmissionPlugin {
  return {
    name: 'ArtifactSchema',
    handles: ({ kind, subResource }) => kind.group === group && subResource === '',
    async validate({ kind, namespace, name, object, oldObject }) {
      if (object === undefined || object.metadata.deletionTimestamp !== undefined) return;
      const causes =
        kind.kind === 'Order'
          ? await orderCauses(stored, namespace, asOrder(object), oldObject && asOrder(oldObject))
          : typeCauses(kind.kind, object, oldObject);
      if (causes.length > 0) throw invalidObject(kind.kind, name, causes.slice(0, mostCauses));
    },
  };
}

// Validated before, by the schema of the kind.
const asOrder = (object: KubeObject) => object as Order;
const asType = (object: KubeObject) => object as ArtifactType;

function typeCauses(kind: string, object: KubeObject, old: KubeObject | undefined): Cause[] {
  if (kind !== 'ArtifactType' && kind !== 'ClusterArtifactType') return [];
  const { schema } = asType(object).spec;
  if (old && sameJson(schema, asType(old).spec.schema)) return [];
  return schemaCauses('spec.schema', schema, matches);
}

async function orderCauses(
  stored: StoredObjects,
  namespace: string,
  { spec }: Order,
  old: Order | undefined,
): Promise<Cause[]> {
  const fresh = [...(spec.artifacts ?? []).entries()].filter(isNew(old?.spec.artifacts ?? []));
  const types = new Map<string, ArtifactType | undefined>();
  const causes: Cause[] = [];
  for (const [index, artifact] of fresh) {
    if (!types.has(artifact.type)) types.set(artifact.type, await typeOf(stored, namespace, artifact));
    const type = types.get(artifact.type);
    if (type) causes.push(...specCausesOf(`spec.artifacts[${index}].spec`, artifact, type));
    if (causes.length >= mostCauses) break;
  }
  return causes;
}

function specCausesOf(field: string, { spec = {} }: Artifact, type: ArtifactType): Cause[] {
  const schema = type.spec.schema as Schema | undefined;
  const causes = schema === undefined ? [] : valueCauses(field, schema, spec, matches);
  return causes.length > 0 ? causes : specCauses(field, spec, schema);
}

/** The artifact's type: that of its namespace hides the one of the cluster. */
async function typeOf(
  stored: StoredObjects,
  namespace: string,
  { type }: Artifact,
): Promise<ArtifactType | undefined> {
  // From memory: an Order may name many types, and the plan compares again.
  const any = { atLeast: 0 };
  const found =
    (await stored.get(group, 'artifacttypes', namespace, type, any)) ??
    (await stored.get(group, 'clusterartifacttypes', '', type, any));
  return found && asType(found);
}
