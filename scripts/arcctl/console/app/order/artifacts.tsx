import { ArrowRight, Package } from 'lucide-react';
import { useMemo } from 'react';
import type { ArtifactRow, OrderHead } from '../../api.ts';
import { bytesText, durationText, percentText } from '../data/format.ts';
import { sortingOf, sortingText, useQuery } from '../data/use-search.ts';
import { Digest } from '../parts/copy.tsx';
import { countsOf, FilterField, PhaseFilter } from '../parts/filters.tsx';
import { type Column, Grid } from '../parts/grid.tsx';
import { Phase } from '../parts/phase.tsx';
import { Progress } from '../parts/progress.tsx';
import { Empty } from '../parts/states.tsx';
import { Ago, Duration } from '../parts/time.tsx';
import { ArtifactSheet } from './artifact-sheet.tsx';

/** The artifacts of an Order; the selected one is shown in a side sheet and is part of the URL. */
export function Artifacts({ order, artifacts }: { order: OrderHead; artifacts: readonly ArtifactRow[] }) {
  const [query, setQuery] = useQuery();
  const [text, phase, open] = ['q', 'phase', 'artifact'].map((name) => query.get(name) ?? '') as [
    string,
    string,
    string,
  ];
  const others = useMemo(() => artifacts.filter((row) => fits(row, text)), [artifacts, text]);
  const phases = phase.split(',').filter(Boolean);
  const found = phases.length === 0 ? others : others.filter((row) => phases.includes(row.phase));
  const chosen = artifacts.find(({ id }) => id === open);
  return (
    <>
      <div className="filters">
        <FilterField label="Filter artifacts" value={text} onChange={(q) => setQuery({ q })} />
        <PhaseFilter
          label="Phase"
          counts={countsOf(others.map((row) => row.phase))}
          chosen={phase}
          onChange={(value) => setQuery({ phase: value })}
        />
      </div>
      <Grid
        label="Artifacts"
        columns={columns}
        rows={found}
        keyOf={({ id }) => id}
        onOpen={({ id }) => setQuery({ artifact: id })}
        sorting={sortingOf(query.get('sort'), 'index')}
        onSort={(sorting) => setQuery({ sort: sortingText(sorting) })}
        empty={<Empty icon={<Package size={26} aria-hidden />} title="No artifacts found" />}
      />
      <ArtifactSheet order={order} artifact={chosen} onClose={() => setQuery({ artifact: '' })} />
    </>
  );
}

function fits({ name, subject, source, destination, type }: ArtifactRow, text: string): boolean {
  const wanted = text.toLowerCase();
  return (
    wanted === '' ||
    [name, subject, source, destination, type].some((each) => each.toLowerCase().includes(wanted))
  );
}

const columns: readonly Column<ArtifactRow>[] = [
  {
    id: 'name',
    head: 'Artifact',
    width: 'minmax(120px, 1.6fr)',
    cell: ({ name, subject, type }) => (
      <span className="two-lines">
        <strong>{name}</strong>
        <small>{subject === '' ? type : `${type} · ${subject}`}</small>
      </span>
    ),
    order: ({ name }) => name,
  },
  {
    id: 'phase',
    head: 'Phase',
    width: '124px',
    cell: ({ phase }) => <Phase phase={phase} />,
    order: ({ phase }) => phase,
  },
  {
    id: 'way',
    head: 'Way',
    width: 'minmax(130px, 1fr)',
    from: 1500,
    cell: ({ source, destination }) => (
      <span className="way">
        <span>{source || '?'}</span>
        <ArrowRight size={12} aria-label="to" />
        <span>{destination || '?'}</span>
      </span>
    ),
  },
  {
    id: 'state',
    head: 'Progress and reason',
    width: 'minmax(170px, 2.4fr)',
    from: 760,
    cell: (row) => <State row={row} />,
  },
  {
    id: 'size',
    head: 'Size',
    width: '76px',
    from: 900,
    isFigure: true,
    cell: ({ bytes, progress }) =>
      bytes > 0 ? (
        bytesText(bytes)
      ) : progress?.isBytes ? (
        bytesText(progress.total)
      ) : (
        <span className="quiet">–</span>
      ),
    order: ({ bytes, progress }) => bytes || (progress?.isBytes ? progress.total : 0),
  },
  {
    id: 'duration',
    head: 'Duration',
    width: '76px',
    from: 1000,
    isFigure: true,
    cell: ({ started, completed }) => <Duration from={started} to={completed} />,
  },
  {
    id: 'attempts',
    head: 'Attempts',
    width: '64px',
    from: 1100,
    isFigure: true,
    cell: ({ attempts }) => attempts,
    order: ({ attempts }) => attempts,
  },
  {
    id: 'ended',
    head: 'Ended',
    width: '78px',
    from: 520,
    isFigure: true,
    cell: ({ completed }) => <Ago at={completed} />,
    order: ({ completed }) => completed,
  },
];

function State({ row }: { row: ArtifactRow }) {
  const { phase, progress, pace, reason, message, digest, name, completed } = row;
  if (phase === 'Running' && progress) {
    const share = progress.done / progress.total;
    const rate = pace && progress.isBytes ? `${bytesText(pace.bytesPerSecond)}/s` : '';
    const left = pace ? `${durationText(pace.secondsLeft * 1000)} left` : '';
    return (
      <span className="running">
        <Progress share={share} label={`Progress of ${name}`} />
        <span className="figures">{[percentText(share), rate, left].filter(Boolean).join(' · ')}</span>
      </span>
    );
  }
  if (phase === 'Succeeded' && digest !== '') return <Digest digest={digest} />;
  const why = [reason, message.split('\n', 1)[0]].filter(Boolean).join(': ');
  return (
    <span className={`cut${phase === 'Failed' || phase === 'Invalid' ? ' tone-bad' : ''}`} title={message}>
      {why || (completed === '' && phase === 'Running' ? 'Starting' : '')}
    </span>
  );
}
