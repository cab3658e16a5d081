import { Shapes } from 'lucide-react';
import { useMemo } from 'react';
import { Link } from 'wouter';
import type { TypeRow } from '../../api.ts';
import { countText } from '../data/format.ts';
import { rowsOf, useTopic } from '../data/topic.ts';
import { useQuery } from '../data/use-search.ts';
import { FilterField } from '../parts/filters.tsx';
import { Chip } from '../parts/phase.tsx';
import { Empty, Notice, PageHead, Pending } from '../parts/states.tsx';

/** The artifact types with their fields. */
export default function TypesPage() {
  const topic = useTopic('types');
  const [query, setQuery] = useQuery();
  const all = rowsOf<TypeRow>(topic, 'types');
  const text = query.get('q') ?? '';
  const found = useMemo(
    () =>
      all
        .filter(({ name, namespace }) => `${namespace}/${name}`.includes(text))
        .toSorted((a, b) => (`${a.name}${a.namespace}` < `${b.name}${b.namespace}` ? -1 : 1)),
    [all, text],
  );
  return (
    <div className="page">
      <PageHead title="Types" text={topic.isReady && countText(all.length, 'type')} />
      {topic.problem && <Notice>{topic.problem.message}</Notice>}
      <div className="filters">
        <FilterField label="Filter by name" value={text} onChange={(q) => setQuery({ q })} />
      </div>
      {!topic.isReady ? (
        <Pending topic={topic} />
      ) : found.length === 0 ? (
        <Empty icon={<Shapes size={26} aria-hidden />} title="No types found">
          The standard ones are in <code>knative/base/artifact-types</code>.
        </Empty>
      ) : (
        <ul className="cards">
          {found.map((type) => (
            <Type key={type.id} type={type} />
          ))}
        </ul>
      )}
    </div>
  );
}

function Type({ type }: { type: TypeRow }) {
  const { name, namespace, template, sources, destinations, parameters, schema, users, hasPolicy } = type;
  const fields = fieldsOf(schema);
  return (
    <li className="card">
      <header className="card-head">
        <h2>{name}</h2>
        <span className="way">
          {hasPolicy && <Chip tone="accent">policy</Chip>}
          <Chip>{namespace === '' ? 'all namespaces' : namespace}</Chip>
        </span>
      </header>
      <dl className="details">
        <dt>Template</dt>
        <dd>
          <code>{template}</code>
        </dd>
        <dt>From</dt>
        <dd>{sources.join(', ') || 'any Endpoint'}</dd>
        <dt>To</dt>
        <dd>{destinations.join(', ') || 'any Endpoint'}</dd>
        <dt>Used by</dt>
        <dd>{countText(users, 'artifact')}</dd>
      </dl>
      {fields.length > 0 && (
        <details>
          <summary>{countText(fields.length, 'field')}</summary>
          <dl className="fields">
            {fields.map(({ field, text, isRequired }) => (
              <div key={field}>
                <dt>
                  <code>{field}</code> {isRequired && <Chip tone="accent">required</Chip>}
                </dt>
                <dd>{text}</dd>
              </div>
            ))}
          </dl>
        </details>
      )}
      {parameters.length > 0 && (
        <details>
          <summary>{countText(parameters.length, 'parameter')}</summary>
          <dl className="fields">
            {parameters.map((parameter) => (
              <div key={parameter.name}>
                <dt>
                  <code>{parameter.name}</code>
                </dt>
                <dd>
                  <code className="value">{parameter.value}</code>
                </dd>
              </div>
            ))}
          </dl>
        </details>
      )}
      <Link href={`/new?type=${name}`} className="quiet-link">
        New Order of this type
      </Link>
    </li>
  );
}

function fieldsOf(
  schema: Record<string, unknown> | undefined,
): { field: string; text: string; isRequired: boolean }[] {
  const { properties = {}, required = [] } = (schema ?? {}) as {
    properties?: Record<string, { description?: string; type?: string }>;
    required?: string[];
  };
  return Object.entries(properties).map(([field, { description, type }]) => {
    return { field, text: description ?? type ?? '', isRequired: required.includes(field) };
  });
}
