import { useMemo } from 'react';
import type { ArtifactRow, LogPart, OrderHead } from '../../api.ts';
import { useRead } from '../data/use-read.ts';
import { useQuery } from '../data/use-search.ts';
import { Pick } from '../parts/select.tsx';
import { Notice } from '../parts/states.tsx';
import { readLine } from './log-lines.ts';
import { LogView } from './log-view.tsx';
import { useFollow } from './use-follow.ts';

/** The logs of an Order's workers: live for all artifacts, or of one artifact with earlier lines. */
export function Logs({ order, artifacts }: { order: OrderHead; artifacts: readonly ArtifactRow[] }) {
  const [query, setQuery] = useQuery();
  const chosen = query.get('artifact') ?? '';
  const choices = [
    { value: '', label: 'All artifacts, live' },
    ...artifacts.map(({ id, name }) => ({ value: id, label: name })),
  ];
  const picker = (
    <Pick label="Artifact" value={chosen} choices={choices} onChange={(artifact) => setQuery({ artifact })} />
  );
  const artifact = artifacts.find(({ id }) => id === chosen);
  return artifact ? (
    <OneLog key={chosen} order={order} artifact={artifact} picker={picker} />
  ) : (
    <AllLogs order={order} picker={picker} />
  );
}

function AllLogs({ order, picker }: { order: OrderHead; picker: React.ReactNode }) {
  const { lines, state, problem } = useFollow(`/api/follow/${order.namespace}/${order.name}`);
  return (
    <>
      {problem && <Notice>{problem}</Notice>}
      <LogView name={order.name} lines={lines} picker={picker} state={state} none="No log lines yet." />
    </>
  );
}

const againMs = 3_000;

function OneLog({
  order,
  artifact,
  picker,
}: {
  order: OrderHead;
  artifact: ArtifactRow;
  picker: React.ReactNode;
}) {
  const isRunning = ['Running', 'Pending', 'Queued'].includes(artifact.phase);
  const path = `/api/orders/${order.namespace}/${order.name}/logs/${artifact.index}`;
  const { value, problem, isLoading } = useRead<{ parts: LogPart[] }>(path, isRunning ? againMs : 0);
  const lines = useMemo(() => {
    const texts = (value?.parts ?? []).flatMap(({ head, text }) => [head, ...text.trimEnd().split('\n')]);
    return texts.map((text, index) => readLine(index, '', text));
  }, [value]);
  return (
    <>
      {problem && <Notice>{problem}</Notice>}
      <LogView
        name={`${order.name}-${artifact.name}`}
        lines={lines}
        picker={picker}
        state={isLoading ? 'Reading' : isRunning ? 'Live' : 'Ended'}
        none="The log is empty."
      />
    </>
  );
}
