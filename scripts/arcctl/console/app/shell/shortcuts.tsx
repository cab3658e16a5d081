import { Fragment, useEffect } from 'react';
import { Sheet } from '../parts/dialog.tsx';
import type { Place } from './places.ts';

interface ShortcutOptions {
  places: readonly Place[];
  navigate(href: string): void;
  openHelp(): void;
  openPalette(): void;
}

/** Timeout for the second key of a shortcut. */
const pairMs = 1_500;

/** Registers global keyboard shortcuts, which are inactive in text fields. */
export function useShortcuts({ places, navigate, openHelp, openPalette }: ShortcutOptions): void {
  useEffect(() => {
    let goneMs = 0;
    const runOf = ({ key, timeStamp }: KeyboardEvent): (() => void) | undefined => {
      const isSecond = timeStamp - goneMs < pairMs;
      goneMs = key === 'g' ? timeStamp : 0;
      const place = isSecond ? places.find((each) => each.key === key) : undefined;
      if (place) return () => navigate(place.href);
      return { '?': openHelp, c: () => navigate('/new'), '/': focusFilter }[key];
    };
    const onKey = (event: KeyboardEvent) => {
      const isFree = !isModified(event) && !isTyping(event.target) && !isDialogOpen();
      const run = isPaletteKey(event) ? openPalette : isFree ? runOf(event) : undefined;
      if (!run) return;
      event.preventDefault();
      run();
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  });
}

function isModified({ ctrlKey, metaKey, altKey }: KeyboardEvent): boolean {
  return ctrlKey || metaKey || altKey;
}

function isPaletteKey({ ctrlKey, metaKey, altKey, key }: KeyboardEvent): boolean {
  return (ctrlKey || metaKey) && !altKey && key.toLowerCase() === 'k';
}

function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable || ['INPUT', 'TEXTAREA', 'SELECT'].includes(target.tagName))
  );
}

function isDialogOpen(): boolean {
  return document.querySelector('[role=dialog], [role=alertdialog], [role=menu], [role=listbox]') !== null;
}

function focusFilter(): void {
  document.querySelector<HTMLInputElement>('main input[type=search]')?.focus();
}

const others: readonly (readonly [keys: string, what: string])[] = [
  ['Ctrl K', 'Search Orders and pages'],
  ['/', 'Focus the filter of a list'],
  ['c', 'New Order'],
  ['j k', 'Next and previous row'],
  ['Enter', 'Open a row'],
  ['x', 'Select a row'],
  ['[ ]', 'Previous and next tab of an Order'],
  ['Esc', 'Close the dialog'],
  ['?', 'This list'],
];

export function ShortcutSheet({
  isOpen,
  onClose,
  places,
}: {
  isOpen: boolean;
  onClose(): void;
  places: readonly Place[];
}) {
  return (
    <Sheet title="Keyboard shortcuts" isOpen={isOpen} onClose={onClose} shape="middle">
      <dl className="shortcuts">
        {[...others, ...places.map(({ key, name }) => [`g ${key}`, `Go to ${name}`] as const)].map(
          ([keys, what]) => (
            <Fragment key={what}>
              <dt>
                {keys.split(' ').map((key) => (
                  <kbd key={key}>{key}</kbd>
                ))}
              </dt>
              <dd>{what}</dd>
            </Fragment>
          ),
        )}
      </dl>
    </Sheet>
  );
}
