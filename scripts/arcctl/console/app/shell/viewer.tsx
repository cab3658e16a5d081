import { CircleUser, Layers, LogOut } from 'lucide-react';
import { type SubmitEvent, useState } from 'react';
import type { Session } from '../../api.ts';
import { messageOf, send, signOut } from '../data/request.ts';
import { Sheet } from '../parts/dialog.tsx';
import { ActionMenu } from '../parts/menu.tsx';
import { Empty, Notice } from '../parts/states.tsx';

/** Who has signed in, which namespace they look at, and the way out. */
export function ViewerMenu({ session: { viewer, namespace } }: { session: Session }) {
  const [isOpen, setOpen] = useState(false);
  const [problem, setProblem] = useState('');
  if (!viewer) return null;
  return (
    <>
      <ActionMenu
        trigger={
          <button
            type="button"
            className="icon-button"
            aria-label={`Signed in as ${viewer.name}`}
            title={viewer.name}
          >
            <CircleUser size={16} aria-hidden />
          </button>
        }
        groups={[
          [
            {
              label: 'Choose a namespace…',
              hint: namespace ?? 'All are shown',
              icon: <Layers size={14} aria-hidden />,
              onSelect: () => setOpen(true),
            },
          ],
          [
            {
              label: 'Sign out',
              hint: viewer.name,
              icon: <LogOut size={14} aria-hidden />,
              onSelect: () => void signOut().catch((caught: unknown) => setProblem(messageOf(caught))),
            },
          ],
        ]}
      />
      <Sheet title="Choose a namespace" shape="middle" isOpen={isOpen} onClose={() => setOpen(false)}>
        <NamespaceForm chosen={namespace ?? ''} />
      </Sheet>
      <Sheet title="Still signed in" shape="middle" isOpen={problem !== ''} onClose={() => setProblem('')}>
        <Notice>{problem}</Notice>
      </Sheet>
    </>
  );
}

/** In place of the pages, until somebody who may not list all namespaces has chosen one. */
export function ChooseNamespace() {
  return (
    <Empty isPage icon={<Layers size={28} aria-hidden />} title="Choose a namespace">
      <p>You may not list the Orders of all namespaces. Name one in which you may.</p>
      <NamespaceForm chosen="" />
    </Empty>
  );
}

function NamespaceForm({ chosen }: { chosen: string }) {
  const [name, setName] = useState(chosen);
  const [problem, setProblem] = useState('');
  const choose = (event: SubmitEvent) => {
    event.preventDefault();
    // Everything that is shown is of another namespace then.
    send('/api/namespace', { namespace: name.trim() }).then(
      () => location.assign('/'),
      (caught: unknown) => setProblem(messageOf(caught)),
    );
  };
  return (
    <form className="namespace-form" onSubmit={choose}>
      {problem && <Notice>{problem}</Notice>}
      <label className="field">
        <input
          aria-label="Namespace"
          placeholder="Namespace; empty: all"
          value={name}
          maxLength={63}
          autoCapitalize="none"
          spellCheck={false}
          onChange={(event) => setName(event.target.value)}
        />
      </label>
      <button type="submit" className="button primary">
        Show
      </button>
    </form>
  );
}
