import type { z } from 'zod';
import type { Cause } from '#shared/base/errors';
import type { KubeObject } from '#shared/base/meta';
import type { User } from '../authentication/user/user.ts';

export type { KubeObject, ObjectMeta, OwnerReference } from '#shared/base/meta';

/** Everything the server needs to serve a kind: plain data, so that a kind can be declared without importing this room. */
export interface KindDefinition {
  /** '' for core/v1. */
  group: string;
  version: string;
  kind: string;
  plural: string;
  singular: string;
  shortNames?: readonly string[];
  categories?: readonly string[];
  scope: 'Namespaced' | 'Cluster';
  /** One line or a paragraph: `kubectl explain` shows it. Fields take theirs from zod's `.describe()`. */
  description: string;
  /**
   * The fields beside apiVersion, kind and metadata (spec, status, data …), defaults included. Source of validation,
   * of unknown-field warnings and of OpenAPI; x-kubernetes-* extensions come from `.meta()`.
   */
  schema: z.ZodObject;
  /** True where `/status` exists; then writes to the main endpoint leave status alone, and the reverse. */
  status: boolean;
  /** Verbs of the kind's own, each a subresource. */
  actions?: readonly Action[];
  /** Subresources that are texts. */
  texts?: readonly TextPart[];
  /** Between the name and the age; all there are where one of them is the name. */
  columns: readonly Column[];
  /** Beside metadata.name and metadata.namespace. */
  selectableFields?: Readonly<Record<string, (object: KubeObject) => string>>;
  /** Labels that lists are often narrowed by to one value: such a list costs what it returns, and not what there is. */
  indexedLabels?: readonly string[];
  /** Answers a create without storing anything (access reviews). */
  virtual?: (object: KubeObject, user: User) => KubeObject | Promise<KubeObject>;
  hooks?: KindHooks;
}

/** `POST <object>/<name>`, for which RBAC grants `create` on `<plural>/<name>`. Pure: no I/O, no clock. */
export interface Action {
  name: string;
  /** What it does, as OpenAPI says it: `cancel the Order`. */
  description: string;
  /** The object as it is to be stored; the object itself where there is nothing to do. */
  act(object: KubeObject, asked: { user: User; now: Date }): KubeObject;
}

/** `GET <object>/<name>`, answered as text/plain, such as the log of a Pod; RBAC grants `get` on `<plural>/<name>`. Pure: no I/O, no clock. */
export interface TextPart {
  name: string;
  description: string;
  /** Options of the query that it takes, for OpenAPI. */
  options: ReadonlyArray<{ name: string; type: 'string' | 'integer'; description: string }>;
  /** Throws BadRequest for options that it does not take. */
  read(object: KubeObject, query: URLSearchParams): string;
  /** What `?follow=true` answers with, piece by piece; undefined where nothing comes after what `read` returns. Throws as `read` does. */
  follow?(
    object: KubeObject,
    query: URLSearchParams,
  ): ((signal: AbortSignal) => AsyncIterable<string>) | undefined;
}

/** Rules of a kind beside the server's own. Pure: no I/O, no clock. A write to `/status` is held to the schema and the room for a status only. */
export interface KindHooks {
  /** Runs on create and update before validation; returns the object to go on with. */
  prepare?(object: KubeObject, old: KubeObject | undefined): KubeObject;
  /** Returns errors of fields that can never work. On update (`old` is given) only changed fields may cause errors. */
  validate?(object: KubeObject, old: KubeObject | undefined): Cause[];
  /** Runs once when a deletion begins that waits for finalizers, for kinds that show it (a Namespace's phase). */
  beginDeletion?(object: KubeObject): KubeObject;
  /** Most bytes that the status of this object may come to take: a write that leaves no room for them is refused. */
  statusRoom?(object: KubeObject): number;
  /** What to do about an object that is too large; `bytes` is its size as stored, without its status. */
  sizeAdvice?(object: KubeObject, bytes: number): string | undefined;
  /** Sent back as `Warning: 299` headers. */
  warn?(object: KubeObject, old: KubeObject | undefined): string[];
}

/** One printer column of `kubectl get`. */
export interface Column {
  name: string;
  /** 'date' values are ISO timestamps that the server prints as an age. */
  type: 'string' | 'integer' | 'number' | 'boolean' | 'date';
  description: string;
  /** 0 (default) always shown, 1 with -o wide. */
  priority?: number;
  value(object: KubeObject): string | number | boolean | null | undefined;
}
