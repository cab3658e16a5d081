import { FormInput, Pencil, Plus, Trash2 } from 'lucide-react';
import { useEffect, useId, useState } from 'react';
import { useLocation } from 'wouter';
import type { EndpointRow, TypeRow } from '../../api.ts';
import { readSession, send } from '../data/request.ts';
import { rowsOf, useTopic } from '../data/topic.ts';
import { useQuery } from '../data/use-search.ts';
import { CopyButton } from '../parts/copy.tsx';
import { Pick } from '../parts/select.tsx';
import { Notice, PageHead, Pending } from '../parts/states.tsx';
import { sayDone, sayFailed } from '../parts/toasts.tsx';
import { Yaml } from '../parts/yaml.tsx';
import { canBe, type Draft, type DraftArtifact, fieldsOf, manifestOf, nameFor } from './draft.ts';
import { ArtifactField } from './fields.tsx';
import { Outcome } from './outcome.tsx';
import { useDryRun } from './use-dry-run.ts';

/** The form for a new Order, generated from the schema of the type, with its YAML and a preview. */
export default function NewOrderPage() {
  const topic = useTopic('new');
  const [query] = useQuery();
  const [, navigate] = useLocation();
  const [draft, setDraft] = useState<Draft>({
    ...{ namespace: '', name: '', source: '', destination: '' },
    type: query.get('type') ?? '',
    artifacts: [{ id: 0, name: '', values: {} }],
  });
  const [edited, setEdited] = useState<string>();
  const [isSending, setSending] = useState(false);
  const types = rowsOf<TypeRow>(topic, 'types');
  const endpoints = rowsOf<EndpointRow>(topic, 'endpoints');
  const filled = withDefaults(draft, types, endpoints);
  const fields = fieldsOf(typeOf(filled, types));
  const hasContent = filled.artifacts.some(({ values }) =>
    Object.values(values).some((value) => value !== '' && value !== undefined),
  );
  const manifest =
    edited ?? (topic.isReady ? manifestOf({ ...filled, name: filled.name || 'my-order' }, fields) : '');
  const { result, problem, isAsking } = useDryRun(manifest);
  useEffect(() => {
    readSession().then(
      ({ namespace }) => namespace && setDraft((before) => ({ ...before, namespace })),
      () => {},
    );
  }, []);
  const create = async () => {
    setSending(true);
    try {
      const { namespace, name } = await send<{ namespace: string; name: string }>('/api/orders', {
        manifest,
      });
      sayDone(`Order ${name} created`);
      navigate(`/orders/${namespace}/${name}`);
    } catch (caught) {
      sayFailed('The Order was not created', caught);
      setSending(false);
    }
  };
  const isTouched = edited !== undefined || hasContent;
  const canCreate =
    isTouched &&
    manifest !== '' &&
    !isAsking &&
    !problem &&
    result !== undefined &&
    !result.refused &&
    !isSending;
  return (
    <div className="page">
      <PageHead title="New Order" text="Artifacts with source and destination">
        <button
          type="button"
          className="button"
          aria-pressed={edited !== undefined}
          onClick={() => setEdited(edited === undefined ? (result?.manifest ?? firstText) : undefined)}
        >
          {edited === undefined ? <Pencil size={14} aria-hidden /> : <FormInput size={14} aria-hidden />}
          {edited === undefined ? 'Edit YAML' : 'Back to the form'}
        </button>
        <button type="button" className="button primary" disabled={!canCreate} onClick={() => void create()}>
          <Plus size={15} aria-hidden />
          Create
        </button>
      </PageHead>
      {topic.problem && <Notice>{topic.problem.message}</Notice>}
      {!topic.isReady ? (
        <Pending topic={topic} />
      ) : (
        <div className="new-order">
          {edited === undefined ? (
            <OrderForm draft={filled} types={types} endpoints={endpoints} onChange={setDraft} />
          ) : (
            <div className="card form">
              <label htmlFor="manifest">Manifest</label>
              <textarea
                id="manifest"
                className="input manifest"
                spellCheck={false}
                value={edited}
                onChange={(event) => setEdited(event.target.value)}
              />
            </div>
          )}
          <div className="beside">
            <div className="card">
              <Outcome
                result={isTouched ? result : undefined}
                problem={problem}
                isAsking={isTouched && isAsking}
              />
            </div>
            {edited === undefined && result && (
              <div className="code-box">
                <div className="code-head">
                  <span>{filled.name || 'order'}.yaml</span>
                  <CopyButton text={result.manifest} what="manifest" />
                </div>
                <Yaml text={result.manifest} label="The Order as YAML" />
              </div>
            )}
          </div>
        </div>
      )}
    </div>
  );
}

const firstText = `apiVersion: arc.opendefense.cloud/v1alpha1
kind: Order
metadata:
  name: my-order
  namespace: default
spec:
  artifacts: []
`;

function typeOf({ type, namespace }: Draft, types: readonly TypeRow[]): TypeRow | undefined {
  const named = types.filter(({ name }) => name === type);
  return named.find((each) => each.namespace === namespace) ?? named.find((each) => each.namespace === '');
}

/** Returns the initial values: the only namespace, the type oci, the first suitable Endpoints. */
function withDefaults(draft: Draft, types: readonly TypeRow[], endpoints: readonly EndpointRow[]): Draft {
  const namespace = draft.namespace || (endpoints[0]?.namespace ?? 'default');
  const type = draft.type || (types.find(({ name }) => name === 'oci') ?? types[0])?.name || '';
  const chosen = { ...draft, namespace, type };
  const found = typeOf(chosen, types);
  const here = endpoints.filter((each) => each.namespace === namespace);
  const pick = (side: 'source' | 'destination', not = '') =>
    draft[side] ||
    here
      .filter((each) => canBe(side, each, found) && each.name !== not)
      .toSorted((a, b) => Number(b.name === side) - Number(a.name === side))[0]?.name ||
    '';
  const source = pick('source');
  return {
    ...chosen,
    source,
    destination: pick('destination', source),
    name: draft.name || nameFor(draft.artifacts[0]?.values ?? {}),
  };
}

interface FormProps {
  draft: Draft;
  types: readonly TypeRow[];
  endpoints: readonly EndpointRow[];
  onChange(draft: Draft): void;
}

function OrderForm({ draft, types, endpoints, onChange }: FormProps) {
  const { namespace, name, type, artifacts } = draft;
  const found = typeOf(draft, types);
  const [nameId, typeId] = [useId(), useId()];
  const namespaces = [...new Set([...endpoints.map((each) => each.namespace), namespace])].sort();
  const here = endpoints.filter((each) => each.namespace === namespace);
  const names = [
    ...new Set(
      types.filter((each) => each.namespace === '' || each.namespace === namespace).map((each) => each.name),
    ),
  ].sort();
  const set = (changes: Partial<Draft>) => onChange({ ...draft, ...changes });
  const side = (which: 'source' | 'destination', label: string) => (
    <div className="form-field">
      <label htmlFor={`new-${which}`}>{label}</label>
      <Pick
        id={`new-${which}`}
        label={label}
        value={draft[which]}
        choices={[
          ...(draft[which] === '' ? [{ value: '', label: 'no suitable Endpoint' }] : []),
          ...here
            .filter((each) => canBe(which, each, found) || each.name === draft[which])
            .map((each) => ({
              value: each.name,
              label: `${each.name} (${each.url.replace(/^https?:\/\//, '')})`,
            })),
        ]}
        onChange={(value) => set({ [which]: value })}
      />
    </div>
  );
  return (
    <form className="card form" onSubmit={(event) => event.preventDefault()}>
      <div className="form-row">
        <div className="form-field">
          <label htmlFor="new-namespace">Namespace</label>
          <Pick
            id="new-namespace"
            label="Namespace"
            value={namespace}
            choices={namespaces.map((value) => ({ value, label: value }))}
            onChange={(value) => set({ namespace: value, source: '', destination: '' })}
          />
        </div>
        <div className="form-field">
          <label htmlFor={typeId}>Type</label>
          <Pick
            id={typeId}
            label="Type"
            value={type}
            choices={names.map((value) => ({ value, label: value }))}
            onChange={(value) => set({ type: value, source: '', destination: '' })}
          />
        </div>
      </div>
      <div className="form-row">
        {side('source', 'From')}
        {side('destination', 'To')}
      </div>
      {artifacts.map((artifact, index) => (
        <ArtifactForm
          key={artifact.id}
          head={artifacts.length === 1 ? 'Artifact' : `Artifact ${index + 1}`}
          artifact={artifact}
          type={found}
          onChange={(next) =>
            set({ artifacts: artifacts.map((each) => (each.id === artifact.id ? next : each)) })
          }
          {...(artifacts.length > 1 && {
            onRemove: () => set({ artifacts: artifacts.filter(({ id }) => id !== artifact.id) }),
          })}
        />
      ))}
      <button
        type="button"
        className="button"
        onClick={() =>
          set({
            artifacts: [
              ...artifacts,
              { id: Math.max(...artifacts.map(({ id }) => id)) + 1, name: '', values: {} },
            ],
          })
        }
      >
        <Plus size={14} aria-hidden />
        Another artifact
      </button>
      <div className="form-field">
        <label htmlFor={nameId}>Name of the Order</label>
        <input
          id={nameId}
          className="input"
          value={name}
          maxLength={253}
          autoComplete="off"
          spellCheck={false}
          onChange={(event) => set({ name: event.target.value })}
        />
      </div>
    </form>
  );
}

interface ArtifactFormProps {
  head: string;
  artifact: DraftArtifact;
  type: TypeRow | undefined;
  onChange(artifact: DraftArtifact): void;
  onRemove?(): void;
}

function ArtifactForm({ head, artifact, type, onChange, onRemove }: ArtifactFormProps) {
  const fields = fieldsOf(type);
  const first = fields.filter(({ isRequired }, index) => isRequired || index < 2);
  const rest = fields.filter((field) => !first.includes(field));
  const field = (each: (typeof fields)[number]) => (
    <ArtifactField
      key={each.name}
      field={each}
      value={artifact.values[each.name]}
      onChange={(value) => onChange({ ...artifact, values: { ...artifact.values, [each.name]: value } })}
    />
  );
  return (
    <fieldset className="artifact-form">
      <legend>{head}</legend>
      {onRemove && (
        <button
          type="button"
          className="icon-button small remove"
          aria-label={`Remove ${head}`}
          onClick={onRemove}
        >
          <Trash2 size={14} aria-hidden />
        </button>
      )}
      {fields.length === 0 && <p className="quiet">This type has no schema: edit the artifact as YAML.</p>}
      {first.map(field)}
      {rest.length > 0 && (
        <details>
          <summary>{rest.length} more fields</summary>
          <div className="more-fields">{rest.map(field)}</div>
        </details>
      )}
    </fieldset>
  );
}
