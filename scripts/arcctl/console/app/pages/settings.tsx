import { useState } from 'react';
import type { SettingRow, Settings } from '../../api.ts';
import { useTopic } from '../data/topic.ts';
import { useRead } from '../data/use-read.ts';
import { FilterField } from '../parts/filters.tsx';
import { Chip } from '../parts/phase.tsx';
import { Loading, Notice, PageHead } from '../parts/states.tsx';

/** The operator's settings, read-only. */
export default function SettingsPage() {
  useTopic('pulse');
  const { value, problem } = useRead<Settings>('/api/settings', 15_000);
  const [text, setText] = useState('');
  const [isSetOnly, setSetOnly] = useState(false);
  const found = (value?.rows ?? []).filter(
    (row) =>
      (!isSetOnly || row.value !== '') && `${row.id} ${row.what}`.toLowerCase().includes(text.toLowerCase()),
  );
  const groups = [
    ...Map.groupBy(found, ({ id, what }) =>
      what === '' ? 'Unknown' : (headings[id.split('.')[0] ?? ''] ?? 'Others'),
    ),
  ];
  return (
    <div className="page">
      <PageHead
        title="Settings"
        text={
          <>
            The ConfigMap <code>arc-settings</code> in <code>arc-system</code>, read-only.{' '}
            <code>kubectl edit</code> changes it.
          </>
        }
      />
      {(problem || value?.problem) && <Notice>{problem || value?.problem}</Notice>}
      <div className="filters">
        <FilterField label="Filter settings" value={text} onChange={setText} />
        <button
          type="button"
          className="toggle"
          aria-pressed={isSetOnly}
          onClick={() => setSetOnly(!isSetOnly)}
        >
          Only what is set
        </button>
      </div>
      {!value && !problem && <Loading />}
      {groups.map(([head, rows]) => (
        <section key={head} className="card" aria-label={head}>
          <header className="card-head">
            <h2>{head}</h2>
          </header>
          <ul className="settings">
            {rows.map((row) => (
              <Setting key={row.id} row={row} />
            ))}
          </ul>
        </section>
      ))}
    </div>
  );
}

const headings: Readonly<Record<string, string>> = {
  defaults: 'Defaults',
  enforced: 'Enforced',
  limits: 'Limits',
  features: 'Features',
};

function Setting({ row: { id, value, unset, what, problem } }: { row: SettingRow }) {
  return (
    <li className="setting">
      <div>
        <code>{id}</code>
        <p className="quiet">{what.replaceAll('`', '')}</p>
        {problem !== '' && <p className="tone-bad">{problem}</p>}
      </div>
      <div className="setting-value">
        {value === '' ? (
          <span className="quiet">not set: {unset}</span>
        ) : (
          <>
            <code>{value}</code> <Chip tone="accent">set</Chip>
          </>
        )}
      </div>
    </li>
  );
}
