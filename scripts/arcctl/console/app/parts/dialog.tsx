import { AlertDialog } from '@base-ui/react/alert-dialog';
import { Dialog } from '@base-ui/react/dialog';
import { X } from 'lucide-react';
import type { ReactNode } from 'react';

interface ConfirmProps {
  title: string;
  text: ReactNode;
  /** Label of the confirm button. */
  verb: string;
  isDangerous: boolean;
  isOpen: boolean;
  onClose(): void;
  onConfirm(): void;
}

/** Asks for confirmation. For a dangerous action, Escape and the initial focus cancel. */
export function Confirm({ title, text, verb, isDangerous, isOpen, onClose, onConfirm }: ConfirmProps) {
  return (
    <AlertDialog.Root open={isOpen} onOpenChange={(open) => !open && onClose()}>
      <AlertDialog.Portal>
        <AlertDialog.Backdrop className="backdrop" />
        <AlertDialog.Popup className="dialog">
          <AlertDialog.Title className="dialog-title">{title}</AlertDialog.Title>
          <AlertDialog.Description className="dialog-text" render={<div />}>
            {text}
          </AlertDialog.Description>
          <div className="dialog-buttons">
            <AlertDialog.Close className="button">Go back</AlertDialog.Close>
            <button
              type="button"
              className={`button ${isDangerous ? 'danger' : 'primary'}`}
              onClick={() => {
                onClose();
                onConfirm();
              }}
            >
              {verb}
            </button>
          </div>
        </AlertDialog.Popup>
      </AlertDialog.Portal>
    </AlertDialog.Root>
  );
}

interface SheetProps {
  title: ReactNode;
  isOpen: boolean;
  onClose(): void;
  children: ReactNode;
  /** `side`: at the right edge, for details of a selection. */
  shape?: 'side' | 'middle';
}

/** A dialog with details. */
export function Sheet({ title, isOpen, onClose, children, shape = 'side' }: SheetProps) {
  return (
    <Dialog.Root open={isOpen} onOpenChange={(open) => !open && onClose()}>
      <Dialog.Portal>
        <Dialog.Backdrop className="backdrop" />
        <Dialog.Popup className={shape === 'side' ? 'sheet' : 'dialog wide'}>
          <header className="sheet-head">
            <Dialog.Title className="dialog-title">{title}</Dialog.Title>
            <Dialog.Close className="icon-button" aria-label="Close">
              <X size={16} aria-hidden />
            </Dialog.Close>
          </header>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by keyboard */}
          <section className="sheet-body" tabIndex={0} aria-label="Details">
            {children}
          </section>
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}
