import { RefreshCw } from 'lucide-react';
import type { Finding, OrderRow } from '../../api.ts';
import { countText } from '../data/format.ts';
import { rowsOf, useTopic } from '../data/topic.ts';
import { useRead } from '../data/use-read.ts';
import { useQuery } from '../data/use-search.ts';
import { CopyButton } from '../parts/copy.tsx';
import { Phase } from '../parts/phase.tsx';
import { Pick } from '../parts/select.tsx';
import { Loading, Notice, PageHead } from '../parts/states.tsx';

const states = ['bad', 'warn', 'unknown', 'ok'] as const;
const names = { bad: 'Failed', warn: 'Warning', unknown: 'Unknown', ok: 'OK' };

/** Checks whether the cluster and a namespace are ready for Orders; each finding comes with a fix. */
export default function DoctorPage() {
  const [query, setQuery] = useQuery();
  const topic = useTopic('orders');
  const known = [...new Set(rowsOf<OrderRow>(topic, 'orders').map((row) => row.namespace))].sort();
  const namespace = query.get('namespace') || known[0] || 'default';
  const path = `/api/doctor?namespace=${encodeURIComponent(namespace)}`;
  const { value, problem, isLoading, reload } = useRead<{ findings: Finding[] }>(
    topic.isReady || topic.problem ? path : undefined,
  );
  const findings = (value?.findings ?? []).toSorted(
    (a, b) => states.indexOf(a.state) - states.indexOf(b.state),
  );
  const wrong = findings.filter(({ state }) => state === 'bad').length;
  const text =
    isLoading || !value
      ? 'Checking'
      : wrong === 0
        ? 'All checks passed'
        : `${countText(wrong, 'problem')} to fix`;
  return (
    <div className="page">
      <PageHead title="Doctor" text={text}>
        <Pick
          label="Namespace"
          value={namespace}
          choices={[...new Set([...known, namespace])].map((value) => ({
            value,
            label: `Namespace ${value}`,
          }))}
          onChange={(value) => setQuery({ namespace: value })}
        />
        <button type="button" className="button primary" onClick={reload} disabled={isLoading}>
          <RefreshCw size={14} aria-hidden />
          Check again
        </button>
      </PageHead>
      {problem && <Notice>{problem}</Notice>}
      {isLoading ? (
        <Loading />
      ) : (
        <ul className="findings card">
          {findings.map(({ check, state, message, fix }) => (
            <li key={`${check} ${message}`} className="finding">
              <Phase phase={state} label={names[state]} />
              <div>
                <strong>{check}</strong>
                <p>{message}</p>
                {fix && state !== 'ok' && (
                  <p className="fix">
                    <code>{fix}</code>
                    <CopyButton text={fix} what="command" />
                  </p>
                )}
              </div>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
