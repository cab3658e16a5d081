import { Maximize, ZoomIn, ZoomOut } from 'lucide-react';
import { useEffect, useMemo, useRef, useState } from 'react';
import type { ArtifactRow, OrderHead, Runs } from '../../api.ts';
import { useRead } from '../data/use-read.ts';
import { PhaseIcon, toneOf } from '../parts/phase.tsx';
import { Notice } from '../parts/states.tsx';
import { ArtifactSheet } from './artifact-sheet.tsx';
import { boxSize, graphNodes, type Placed, placed } from './graph-nodes.ts';
import { useDragging } from './use-dragging.ts';

const runsEveryMs = 4_000;
const [leastZoom, mostZoom, zoomStep] = [0.35, 1.5, 1.2];
/** Minimum readable zoom: smaller graphs are scrolled instead. */
const leastFitted = 0.6;
const margin = 24;

/** The graph of an Order down to its pods; a box opens its object. */
export function Graph({ order, artifacts }: { order: OrderHead; artifacts: readonly ArtifactRow[] }) {
  const { value: runs, problem } = useRead<Runs>(
    `/api/orders/${order.namespace}/${order.name}/runs`,
    runsEveryMs,
  );
  const [group, setGroup] = useState(() => firstGroup(artifacts));
  const [chosen, setChosen] = useState<number>();
  const boxes = useMemo(
    () => placed(graphNodes(order, artifacts, runs, group)),
    [order, artifacts, runs, group],
  );
  const open = (box: Placed) => {
    if (box.group !== undefined) setGroup(group === box.group ? '' : box.group);
    else setChosen(box.artifact);
  };
  const unread = runs?.unread ?? [];
  return (
    <>
      {problem && <Notice>{problem}</Notice>}
      {unread.length > 0 && <Notice tone="warn">{unread.join('; ')}: not shown in the graph.</Notice>}
      <Picture boxes={boxes} open={open} />
      <ArtifactSheet
        order={order}
        artifact={artifacts.find(({ index }) => index === chosen)}
        onClose={() => setChosen(undefined)}
      />
    </>
  );
}

/** Returns the most urgent group. */
function firstGroup(artifacts: readonly ArtifactRow[]): string {
  const phases = new Set(artifacts.map(({ phase }) => phase));
  return ['Failed', 'Invalid', 'Running'].find((phase) => phases.has(phase)) ?? '';
}

function Picture({ boxes, open }: { boxes: readonly Placed[]; open(box: Placed): void }) {
  const view = useRef<HTMLDivElement>(null);
  const [zoom, setZoom] = useState(1);
  const isDragged = useDragging(view);
  const width = Math.max(...boxes.map(({ x }) => x), 0) + boxSize.width + 2 * margin;
  const height = Math.max(...boxes.map(({ y }) => y), 0) + boxSize.height + 2 * margin;
  const zoomBy = (factor: number) =>
    setZoom((before) => Math.min(mostZoom, Math.max(leastZoom, before * factor)));
  const fit = () => {
    const { current } = view;
    if (current) setZoom(Math.min(1, Math.max(leastFitted, (current.clientWidth - 2) / width)));
  };
  useEffect(() => {
    const { current } = view;
    if (!current) return;
    const onWheel = (event: WheelEvent) => {
      if (!event.ctrlKey) return;
      event.preventDefault();
      zoomBy(event.deltaY < 0 ? 1.1 : 1 / 1.1);
    };
    // React's listeners are passive and cannot prevent the browser's zoom.
    current.addEventListener('wheel', onWheel, { passive: false });
    return () => current.removeEventListener('wheel', onWheel);
  });
  // Fitted when boxes appear or disappear; otherwise the viewer's zoom is kept.
  const shape = boxes.length;
  // biome-ignore lint/correctness/useExhaustiveDependencies: see above
  useEffect(fit, [shape]);
  return (
    <div className="graph">
      <section
        className={`graph-view${isDragged ? ' is-dragged' : ''}`}
        ref={view}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by keyboard
        tabIndex={0}
        aria-label="Graph"
      >
        <div style={{ width: width * zoom, height: height * zoom }}>
          <div className="graph-canvas" style={{ width, height, transform: `scale(${zoom})` }}>
            <Edges boxes={boxes} />
            <ul aria-label="From the Order to its pods">
              {boxes.map((box) => (
                <li key={box.id} style={{ left: box.x + margin, top: box.y + margin }}>
                  <GraphBox box={box} open={open} />
                </li>
              ))}
            </ul>
          </div>
        </div>
      </section>
      <div className="graph-tools">
        <button
          type="button"
          className="icon-button"
          aria-label="Smaller"
          title="Smaller"
          onClick={() => zoomBy(1 / zoomStep)}
        >
          <ZoomOut size={15} aria-hidden />
        </button>
        <button
          type="button"
          className="icon-button"
          aria-label="Larger"
          title="Larger"
          onClick={() => zoomBy(zoomStep)}
        >
          <ZoomIn size={15} aria-hidden />
        </button>
        <button
          type="button"
          className="icon-button"
          aria-label="Fit into the window"
          title="Fit"
          onClick={fit}
        >
          <Maximize size={15} aria-hidden />
        </button>
      </div>
    </div>
  );
}

function Edges({ boxes }: { boxes: readonly Placed[] }) {
  const byId = new Map(boxes.map((box) => [box.id, box]));
  return (
    <svg aria-hidden="true" width="100%" height="100%">
      {boxes.map((box) => {
        const parent = byId.get(box.parent ?? '');
        if (!parent) return null;
        const [fromX, fromY] = [parent.x + boxSize.width + margin, parent.y + boxSize.height / 2 + margin];
        const [toX, toY] = [box.x + margin, box.y + boxSize.height / 2 + margin];
        const middle = (fromX + toX) / 2;
        return (
          <path
            key={box.id}
            className={`edge tone-${toneOf(box.phase)}`}
            d={`M${fromX} ${fromY}C${middle} ${fromY} ${middle} ${toY} ${toX} ${toY}`}
          />
        );
      })}
    </svg>
  );
}

function GraphBox({ box, open }: { box: Placed; open(box: Placed): void }) {
  const { kind, name, phase, note } = box;
  const inside = (
    <>
      <PhaseIcon phase={phase} size={18} />
      <span className="box-text">
        <small>{kind}</small>
        <strong title={name}>{name}</strong>
        <span title={note}>{note || phase}</span>
        {note !== '' && <span className="unseen">{phase}</span>}
      </span>
    </>
  );
  if (box.artifact === undefined && box.group === undefined)
    return <div className={`box tone-${toneOf(phase)}`}>{inside}</div>;
  return (
    <button type="button" className={`box tone-${toneOf(phase)}`} onClick={() => open(box)}>
      {inside}
    </button>
  );
}
