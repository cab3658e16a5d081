import { Ban, CirclePause, CirclePlay, type LucideIcon, RotateCcw, RotateCw, Trash2 } from 'lucide-react';
import { send } from './request.ts';

/** The presentation of an action on an Order or an artifact. */
export interface ActionLook {
  name: string;
  label: string;
  icon: LucideIcon;
  /** Its effect. */
  text: string;
  done: string;
  isDangerous: boolean;
}

export const actionLooks: readonly ActionLook[] = [
  {
    name: 'retry',
    label: 'Retry',
    icon: RotateCw,
    text: 'Failed, stopped and cancelled artifacts run again. Succeeded ones stay.',
    done: 'Retry requested',
    isDangerous: false,
  },
  {
    name: 'resume',
    label: 'Resume',
    icon: CirclePlay,
    text: 'Undoes suspend and cancel: unfinished artifacts continue.',
    done: 'Resumed',
    isDangerous: false,
  },
  {
    name: 'suspend',
    label: 'Suspend',
    icon: CirclePause,
    text: 'No new transfers start; running ones continue. Resume undoes it.',
    done: 'Suspended',
    isDangerous: false,
  },
  {
    name: 'force',
    label: 'Rerun everything',
    icon: RotateCcw,
    text: 'Every artifact runs again, whatever its state. Existing content is not uploaded again.',
    done: 'Rerun requested',
    isDangerous: true,
  },
  {
    name: 'cancel',
    label: 'Cancel',
    icon: Ban,
    text: 'Running transfers are stopped and none start until Resume.',
    done: 'Cancel requested',
    isDangerous: true,
  },
  {
    name: 'delete',
    label: 'Delete',
    icon: Trash2,
    text: 'Its Workflows are stopped and its history is deleted. Copied content stays at the destination. This cannot be undone.',
    done: 'Deletion requested',
    isDangerous: true,
  },
];

interface Target {
  namespace: string;
  name: string;
}

/** Requests an action. Rejects with RequestError. `artifact`: the name of its ArtifactWorkflow; absent: the whole Order. */
export function act({ namespace, name }: Target, action: string, artifact?: string): Promise<object> {
  return send(`/api/orders/${namespace}/${name}/actions`, { action, ...(artifact && { artifact }) });
}
