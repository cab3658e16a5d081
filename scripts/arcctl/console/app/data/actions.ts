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
    text: 'What failed, was stopped or cancelled runs again. What has arrived stays.',
    done: 'Retry requested',
    isDangerous: false,
  },
  {
    name: 'resume',
    label: 'Resume',
    icon: CirclePlay,
    text: 'Suspend and cancel are taken back: what has not finished goes on.',
    done: 'Resumed',
    isDangerous: false,
  },
  {
    name: 'suspend',
    label: 'Suspend',
    icon: CirclePause,
    text: 'Nothing new starts; what runs goes on. Resume takes it back.',
    done: 'Suspended',
    isDangerous: false,
  },
  {
    name: 'force',
    label: 'Run everything again',
    icon: RotateCcw,
    text: 'Every artifact runs again, whatever became of it. What is there already is not sent twice.',
    done: 'Everything runs again',
    isDangerous: true,
  },
  {
    name: 'cancel',
    label: 'Cancel',
    icon: Ban,
    text: 'What runs is stopped and nothing starts until Resume.',
    done: 'Cancel requested',
    isDangerous: true,
  },
  {
    name: 'delete',
    label: 'Delete',
    icon: Trash2,
    text: 'Its Workflows are stopped and its history is removed. What has arrived stays at the destination. This cannot be taken back.',
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
