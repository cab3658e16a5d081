import { Toast } from '@base-ui/react/toast';
import { CircleCheck, CircleX, X } from 'lucide-react';
import { messageOf } from '../data/request.ts';

export const toasts = Toast.createToastManager();

/** Shows a success message. */
export function sayDone(title: string): void {
  toasts.add({ title, type: 'done' });
}

/** Shows an error message, which stays until it is closed. */
export function sayFailed(title: string, caught: unknown): void {
  toasts.add({ title, description: messageOf(caught), type: 'failed', timeout: 0, priority: 'high' });
}

/** The container of the toasts. */
export function Toasts() {
  return (
    <Toast.Portal>
      <Toast.Viewport className="toasts">
        <List />
      </Toast.Viewport>
    </Toast.Portal>
  );
}

function List() {
  const { toasts: shown } = Toast.useToastManager();
  return shown.map((toast) => (
    <Toast.Root key={toast.id} toast={toast} className="toast">
      <Toast.Content className="toast-content">
        {toast.type === 'failed' ? (
          <CircleX size={16} className="tone-bad icon" aria-hidden />
        ) : (
          <CircleCheck size={16} className="tone-good icon" aria-hidden />
        )}
        <div>
          <Toast.Title className="toast-title" />
          <Toast.Description className="toast-text" />
        </div>
        <Toast.Close className="icon-button small" aria-label="Close message">
          <X size={13} aria-hidden />
        </Toast.Close>
      </Toast.Content>
    </Toast.Root>
  ));
}
