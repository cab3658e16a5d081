import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import type { Logger } from 'pino';
import {
  accessReviewKinds,
  clusterKinds,
  loadManifests,
  parseTriggers,
  rbacAuthorizer,
  startBroker,
  startExecutor,
  startGarbageCollector,
} from '#shared/embedded';
import { createKubeClient, type KubeClient } from '#shared/kube';
import { serveFunction } from '#shared/runtime';
import { openEmbeddedStore } from '#shared/storage';
import { createArcApiServer } from '../../functions/api-server/index.ts';
import { startBridge } from '../../functions/watch-bridge/index.ts';
