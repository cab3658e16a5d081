import { Dialog } from '@base-ui/react/dialog';
import { Plus, Search } from 'lucide-react';
import { type KeyboardEvent, useMemo, useState } from 'react';
import { useLocation } from 'wouter';
import type { OrderRow } from '../../api.ts';
import { rowsOf, useTopic } from '../data/topic.ts';
import { PhaseIcon } from '../parts/phase.tsx';
import type { Place } from './places.ts';

interface PaletteProps {
  isOpen: boolean;
  onClose(): void;
  places: readonly Place[];
}

const mostFound = 12;

/** Finds pages and Orders by name. */
export function Palette({ isOpen, onClose, places }: PaletteProps) {
  return (
    <Dialog.Root open={isOpen} onOpenChange={(open) => !open && onClose()}>
      <Dialog.Portal>
        <Dialog.Backdrop className="backdrop" />
        <Dialog.Popup className="palette" aria-label="Search">
          <Finder onClose={onClose} places={places} />
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

function Finder({ onClose, places }: Omit<PaletteProps, 'isOpen'>) {
  const [text, setText] = useState('');
  const [at, setAt] = useState(0);
  const [, navigate] = useLocation();
  const orders = rowsOf<OrderRow>(useTopic('orders'), 'orders');
  const found = useMemo(() => {
    const words = text.toLowerCase().split(/\s+/).filter(Boolean);
    const fits = (name: string) => words.every((word) => name.toLowerCase().includes(word));
    const pages = [...places, { href: '/new', name: 'New Order', icon: Plus }]
      .filter(({ name }) => fits(name))
      .map(({ href, name, icon: Icon }) => ({
        href,
        name,
        note: 'Page',
        mark: <Icon size={15} aria-hidden />,
      }));
    const some = orders
      .filter(({ namespace, name }) => fits(`${namespace}/${name}`))
      .toSorted((a, b) => (a.created < b.created ? 1 : -1))
      .map(({ namespace, name, phase }) => ({
        href: `/orders/${namespace}/${name}`,
        name: `${namespace}/${name}`,
        note: phase,
        mark: <PhaseIcon phase={phase} />,
      }));
    return (text === '' ? [...pages, ...some] : [...some, ...pages]).slice(0, mostFound);
  }, [text, orders, places]);
  const go = (href: string | undefined) => {
    if (href === undefined) return;
    onClose();
    navigate(href);
  };
  const onKey = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (event.key === 'Enter') go(found[at]?.href);
    if (step === undefined) return;
    event.preventDefault();
    setAt((before) => (before + step + found.length) % Math.max(1, found.length));
  };
  return (
    <>
      <div className="palette-field">
        <Search size={16} aria-hidden />
        <input
          type="text"
          role="combobox"
          aria-expanded="true"
          aria-controls="palette-list"
          aria-activedescendant={found[at] ? `palette-${at}` : undefined}
          aria-label="Search Orders and pages"
          placeholder="Search Orders and pages"
          value={text}
          onChange={(event) => {
            setText(event.target.value);
            setAt(0);
          }}
          onKeyDown={onKey}
        />
      </div>
      <div className="palette-list" id="palette-list" role="listbox" aria-label="Found">
        {found.map(({ href, name, note, mark }, index) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: keys are heard by the field
          // biome-ignore lint/a11y/useFocusableInteractive: see above
          <div
            key={href}
            id={`palette-${index}`}
            role="option"
            aria-selected={index === at}
            className="palette-entry"
            onClick={() => go(href)}
            onPointerMove={() => setAt(index)}
          >
            {mark}
            <span>{name}</span>
            <small>{note}</small>
          </div>
        ))}
        {found.length === 0 && <p className="palette-none">Nothing found.</p>}
      </div>
    </>
  );
}
