import { Boxes, PackageMinus, PackagePlus } from 'lucide-react';
import { Link } from 'wouter';
import type { BundleRow, EndpointRow } from '../../api.ts';
import { bytesText, countText } from '../data/format.ts';
import { rowsOf, useTopic } from '../data/topic.ts';
import { sortingOf, sortingText, useQuery } from '../data/use-search.ts';
import { type Column, Grid } from '../parts/grid.tsx';
import { Chip, Phase } from '../parts/phase.tsx';
import { Empty, Notice, PageHead, Pending } from '../parts/states.tsx';
import { Ago } from '../parts/time.tsx';

/** The bundles that Orders export and import. */
export default function BundlesPage() {
  const topic = useTopic('bundles');
  const [query, setQuery] = useQuery();
  const rows = rowsOf<BundleRow>(topic, 'bundles');
  const disks = rowsOf<EndpointRow>(topic, 'endpoints');
  return (
    <div className="page fills">
      <PageHead
        title="Bundles"
        text={
          topic.isReady && `${countText(rows.length, 'bundle')} on ${countText(disks.length, 'Endpoint')}`
        }
      />
      {topic.problem && <Notice>{topic.problem.message}</Notice>}
      {topic.isReady ? (
        <Grid
          label="Bundles"
          columns={columns}
          rows={rows}
          keyOf={({ id }) => id}
          linkOf={({ namespace, order }) => `/orders/${namespace}/${order}`}
          sorting={sortingOf(query.get('sort'), '-completed')}
          onSort={(sorting) => setQuery({ sort: sortingText(sorting) })}
          empty={
            <Empty icon={<Boxes size={26} aria-hidden />} title="No bundles yet">
              <p>
                A bundle carries artifacts on a disk to where no network reaches. One Order writes it, another
                one on the other side imports it.
              </p>
              <Link href="/new?type=bundle-export" className="button">
                New Order that writes one
              </Link>
            </Empty>
          }
        />
      ) : (
        <Pending topic={topic} />
      )}
    </div>
  );
}

const columns: readonly Column<BundleRow>[] = [
  {
    id: 'bundle',
    head: 'Bundle',
    width: 'minmax(140px, 1.5fr)',
    cell: ({ bundle, artifact, namespace, order }) => (
      <span className="two-lines">
        <strong>{bundle || artifact}</strong>
        <small>
          {namespace}/{order}
        </small>
      </span>
    ),
    order: ({ bundle }) => bundle,
  },
  {
    id: 'phase',
    head: 'Phase',
    width: '124px',
    cell: ({ phase }) => <Phase phase={phase} />,
    order: ({ phase }) => phase,
  },
  {
    id: 'direction',
    head: 'Direction',
    width: '110px',
    from: 760,
    cell: ({ direction }) => (
      <Chip>
        {direction === 'export' ? (
          <PackagePlus size={12} aria-hidden />
        ) : (
          <PackageMinus size={12} aria-hidden />
        )}
        {direction === 'export' ? 'written' : 'imported'}
      </Chip>
    ),
    order: ({ direction }) => direction,
  },
  {
    id: 'endpoint',
    head: 'Endpoint',
    width: 'minmax(90px, 1fr)',
    from: 760,
    cell: ({ endpoint }) => endpoint,
    order: ({ endpoint }) => endpoint,
  },
  {
    id: 'items',
    head: 'Artifacts',
    width: 'minmax(110px, 1fr)',
    from: 760,
    cell: ({ items }) =>
      items
        ? `${items.copied + items.unchanged} of ${items.total}${items.failed > 0 ? `, ${items.failed} failed` : ''}`
        : '–',
  },
  {
    id: 'message',
    head: 'Status',
    width: 'minmax(100px, 2fr)',
    from: 1300,
    cell: ({ message }) => (
      <span className="cut" title={message}>
        {message.split('\n', 1)[0]}
      </span>
    ),
  },
  {
    id: 'size',
    head: 'Size',
    width: '84px',
    isFigure: true,
    from: 760,
    cell: ({ bytes }) => (bytes > 0 ? bytesText(bytes) : '–'),
    order: ({ bytes }) => bytes,
  },
  {
    id: 'completed',
    head: 'Ended',
    width: '84px',
    from: 520,
    isFigure: true,
    cell: ({ completed }) => <Ago at={completed} />,
    order: ({ completed }) => completed,
  },
];
