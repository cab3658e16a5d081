import { GitCompareArrows, History } from 'lucide-react';
import { useState } from 'react';
import type { ArtifactRow, DiffLine, OrderHead, VersionRow } from '../../api.ts';
import { messageOf, send } from '../data/request.ts';
import { useRead } from '../data/use-read.ts';
import { Digest } from '../parts/copy.tsx';
import { Confirm } from '../parts/dialog.tsx';
import { Chip, Phase } from '../parts/phase.tsx';
import { Loading, Notice } from '../parts/states.tsx';
import { Ago } from '../parts/time.tsx';
import { sayDone, sayFailed } from '../parts/toasts.tsx';

interface VersionsProps {
  order: OrderHead;
  artifact: ArtifactRow;
}

/** The kept versions of an artifact, each comparable with the current one, with rollback. */
export function Versions({ order, artifact }: VersionsProps) {
  const [compared, setCompared] = useState('');
  const [asked, setAsked] = useState<VersionRow>();
  const current = artifact.versions.find(({ inForce }) => inForce);
  if (artifact.versions.length === 0) return null;
  const rollBack = async ({ name, revision }: VersionRow) => {
    try {
      await send(`/api/orders/${order.namespace}/${order.name}/rollback`, {
        index: artifact.index,
        version: name,
      });
      sayDone(`${artifact.name}: rolled back to revision ${revision}`);
    } catch (caught) {
      sayFailed('The Order was not changed', caught);
    }
  };
  return (
    <section aria-labelledby="versions-head" className="versions">
      <h3 id="versions-head">Versions</h3>
      <ol>
        {artifact.versions.map((version) => (
          <li key={version.name} className="version">
            <div className="version-head">
              <strong>Revision {version.revision}</strong>
              {version.inForce && <Chip tone="accent">current</Chip>}
              <Phase phase={version.phase} />
              <span className="grows" />
              <Ago at={version.completed || version.created} />
            </div>
            <div className="version-head">
              <Digest digest={version.digest} />
              <span className="grows" />
              {!version.inForce && current && (
                <>
                  <button
                    type="button"
                    className="button small"
                    aria-expanded={compared === version.name}
                    onClick={() => setCompared(compared === version.name ? '' : version.name)}
                  >
                    <GitCompareArrows size={13} aria-hidden />
                    Compare
                  </button>
                  <button type="button" className="button small" onClick={() => setAsked(version)}>
                    <History size={13} aria-hidden />
                    Roll back…
                  </button>
                </>
              )}
            </div>
            {compared === version.name && current && (
              <Diff namespace={order.namespace} name={order.name} from={version.name} to={current.name} />
            )}
          </li>
        ))}
      </ol>
      <Confirm
        isOpen={asked !== undefined}
        title={`Roll ${artifact.name} back to revision ${asked?.revision}?`}
        text="The Order gets the inputs of this version, which run as a new revision. If a GitOps tool manages the Order, change it in Git as well."
        verb="Roll back"
        isDangerous={false}
        onClose={() => setAsked(undefined)}
        onConfirm={() => asked && void rollBack(asked)}
      />
    </section>
  );
}

const marks = { same: ' ', added: '+', removed: '-' } as const;

function Diff({ namespace, name, from, to }: { namespace: string; name: string; from: string; to: string }) {
  const { value, problem } = useRead<{ lines: DiffLine[] }>(
    `/api/orders/${namespace}/${name}/diff?from=${from}&to=${to}`,
  );
  if (problem) return <Notice>{messageOf(problem)}</Notice>;
  if (!value) return <Loading lines={3} />;
  if (value.lines.every(({ kind }) => kind === 'same'))
    return (
      <p className="quiet">
        The inputs are identical: the artifact was forced, or returned to the same inputs.
      </p>
    );
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by keyboard
    <section className="diff" tabIndex={0} aria-label="From this version to the current one">
      <pre>
        {value.lines.map(({ kind, text }, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: lines of a text that does not change
          <span key={index} className={`diff-${kind}`}>
            {marks[kind]} {text}
            {'\n'}
          </span>
        ))}
      </pre>
    </section>
  );
}
