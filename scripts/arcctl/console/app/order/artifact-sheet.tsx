import { ArrowRight, ScrollText } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { Link } from 'wouter';
import type { ArtifactRow, OrderHead } from '../../api.ts';
import { act, actionLooks } from '../data/actions.ts';
import { bytesText, percentText } from '../data/format.ts';
import { Digest } from '../parts/copy.tsx';
import { Confirm, Sheet } from '../parts/dialog.tsx';
import { Phase } from '../parts/phase.tsx';
import { Progress } from '../parts/progress.tsx';
import { Ago, Duration } from '../parts/time.tsx';
import { sayDone, sayFailed } from '../parts/toasts.tsx';
import { Versions } from './versions.tsx';

/** The details of one artifact. */
export function ArtifactSheet({
  order,
  artifact,
  onClose,
}: {
  order: OrderHead;
  artifact: ArtifactRow | undefined;
  onClose(): void;
}) {
  return (
    <Sheet title={artifact?.name ?? ''} isOpen={artifact !== undefined} onClose={onClose}>
      {artifact && <Details order={order} artifact={artifact} />}
    </Sheet>
  );
}

function Details({ order, artifact }: { order: OrderHead; artifact: ArtifactRow }) {
  const {
    phase,
    type,
    subject,
    source,
    destination,
    reason,
    message,
    since,
    started,
    completed,
    attempts,
    digest,
    progress,
    needsPerson,
  } = artifact;
  return (
    <>
      <div className="sheet-top">
        <Phase phase={phase} />
        <span className="grows" />
        <Link
          href={`/orders/${order.namespace}/${order.name}/logs?artifact=${artifact.index}`}
          className="button"
        >
          <ScrollText size={14} aria-hidden />
          Log
        </Link>
        <ArtifactActions order={order} artifact={artifact} />
      </div>
      {phase === 'Running' && progress && (
        <div className="running">
          <Progress share={progress.done / progress.total} label={`Progress of ${artifact.name}`} />
          <span className="figures">
            {percentText(progress.done / progress.total)}
            {progress.isBytes && ` of ${bytesText(progress.total)}`}
          </span>
        </div>
      )}
      {(reason !== '' || message !== '') && (
        <div className={`said${phase === 'Failed' || needsPerson ? ' is-bad' : ''}`}>
          {reason !== '' && <strong>{reason}</strong>}
          <pre>{message}</pre>
          {needsPerson && <p className="quiet">This needs attention.</p>}
        </div>
      )}
      <dl className="details">
        <Detail name="Type">
          <Link href={`/types?q=${type}`}>{type}</Link>
        </Detail>
        <Detail name="What">{subject || '–'}</Detail>
        <Detail name="Way">
          <span className="way">
            <Link href={`/endpoints?q=${source}`}>{source || '?'}</Link>
            <ArrowRight size={12} aria-label="to" />
            <Link href={`/endpoints?q=${destination}`}>{destination || '?'}</Link>
          </span>
        </Detail>
        <Detail name="Size">
          {artifact.bytes > 0
            ? `${bytesText(artifact.bytes)}, ${bytesText(artifact.copied)} of it uploaded`
            : '–'}
        </Detail>
        <Detail name="Digest">
          <Digest digest={digest} />
        </Detail>
        <Detail name="Started">
          <Ago at={started} />
        </Detail>
        <Detail name="Ended">
          <Ago at={completed} />
        </Detail>
        <Detail name="Duration">
          <Duration from={started} to={completed} />
        </Detail>
        <Detail name="In this state since">
          <Ago at={since} />
        </Detail>
        <Detail name="Attempts">
          {attempts}
          {artifact.nextAttempt !== '' && (
            <>
              , the next <Ago at={artifact.nextAttempt} />
            </>
          )}
        </Detail>
      </dl>
      <Versions order={order} artifact={artifact} />
    </>
  );
}

function Detail({ name, children }: { name: string; children: ReactNode }) {
  return (
    <>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </>
  );
}

function ArtifactActions({ order, artifact }: { order: OrderHead; artifact: ArtifactRow }) {
  const [isAsked, setAsked] = useState(false);
  const [name] = artifact.actions;
  const look = actionLooks.find((each) => each.name === name);
  if (!look) return null;
  const run = async () => {
    try {
      await act(order, look.name, artifact.versions.find(({ inForce }) => inForce)?.name);
      sayDone(`${artifact.name}: ${look.done}`);
    } catch (caught) {
      sayFailed(`${look.label} failed`, caught);
    }
  };
  return (
    <>
      <button
        type="button"
        className={`button ${look.isDangerous ? 'danger-quiet' : 'primary'}`}
        onClick={() => (look.isDangerous ? setAsked(true) : void run())}
      >
        <look.icon size={14} aria-hidden />
        {look.isDangerous ? `${look.label}…` : look.label}
      </button>
      <Confirm
        isOpen={isAsked}
        title={`${look.label} ${artifact.name}?`}
        text="Its running transfer is stopped. Retry runs it again."
        verb={look.label}
        isDangerous
        onClose={() => setAsked(false)}
        onConfirm={() => void run()}
      />
    </>
  );
}
