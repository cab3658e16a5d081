import type { z } from 'zod';
import type { Cause } from '#shared/base/errors';
import type { KubeObject } from '#shared/base/meta';
import type { User } from '../authentication/user/user.ts';

export type { KubeObject, ObjectMeta, OwnerReference } from '#shared/base/meta';

/** The definition of a served kind. Only types, so that kinds can be declared without a runtime dependency on the API server. */
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
  /** Shown by `kubectl explain`. Fields are described by zod's `.describe()`. */
  description: string;
  /**
   * The schema without apiVersion, kind and metadata. Source of validation, defaulting, unknown-field warnings and OpenAPI.
   * x-kubernetes-* extensions come from `.meta()`.
   */
  schema: z.ZodObject;
  /** True: the kind has a status subresource. Writes to the main resource then ignore status, and vice versa. */
  status: boolean;
  /** Subresources that run an action. */
  actions?: readonly Action[];
  /** Subresources that return text. */
  texts?: readonly TextSubresource[];
  /** Printer columns between Name and Age. If one of them is Name, these are all columns. */
  columns: readonly Column[];
  /** Fields for field selectors, in addition to metadata.name and metadata.namespace. */
  selectableFields?: Readonly<Record<string, (object: KubeObject) => string>>;
  /** Labels with an index: a list that selects one value reads only the matching objects. */
  indexedLabels?: readonly string[];
  /** Limit on the bytes of an object's labels, and on those of its annotations. Default: 256 KiB, as in Kubernetes for annotations. */
  metadataLimit?: number;
  /** Computes the response to a create, which stores nothing (access reviews). */
  virtual?: (object: KubeObject, user: User) => KubeObject | Promise<KubeObject>;
  hooks?: KindHooks;
}

/** Served as `POST <object>/<name>`, which requires `create` on `<plural>/<name>`. Pure: no I/O, no clock. */
export interface Action {
  name: string;
  /** The OpenAPI description, such as `cancel the Order`. */
  description: string;
  /** Returns the object to store, or the same object if nothing changes. */
  act(object: KubeObject, context: { user: User; now: Date }): KubeObject;
}

/** Served as `GET <object>/<name>` in text/plain, like the log of a Pod; requires `get` on `<plural>/<name>`. Pure: no I/O, no clock. */
export interface TextSubresource {
  name: string;
  description: string;
  /** Query parameters, for OpenAPI. */
  options: ReadonlyArray<{ name: string; type: 'string' | 'integer'; description: string }>;
  /** Returns the current text. Throws BadRequest for unsupported query parameters. */
  read(object: KubeObject, query: URLSearchParams): string;
  /** Returns the stream for `?follow=true`; undefined if the text is complete. Throws like `read`. */
  follow?(
    object: KubeObject,
    query: URLSearchParams,
  ): ((signal: AbortSignal) => AsyncIterable<string>) | undefined;
}

/** Rules of a kind. Pure: no I/O, no clock. A write to `/status` is subject only to the schema and `statusRoom`. */
export interface KindHooks {
  /** Mutates an object on create and update, before validation. */
  prepare?(object: KubeObject, old: KubeObject | undefined): KubeObject;
  /** Returns the errors of invalid fields. On update (`old` is set), only changed fields may cause errors. */
  validate?(object: KubeObject, old: KubeObject | undefined): Cause[];
  /** Mutates an object when its deletion begins and it has finalizers (such as the phase of a Namespace). */
  beginDeletion?(object: KubeObject): KubeObject;
  /** Returns the maximum size in bytes that the status may grow to. A write that leaves no room for it is refused. */
  statusRoom?(object: KubeObject): number;
  /** Returns the advice in the error about an object that is too large. @param bytes stored size without status */
  sizeAdvice?(object: KubeObject, bytes: number): string | undefined;
  /** Returns warnings, which are sent as `Warning: 299` headers. */
  warn?(object: KubeObject, old: KubeObject | undefined): string[];
}

/** A printer column of `kubectl get`. */
export interface Column {
  name: string;
  /** 'date': the value is an ISO timestamp, printed as an age. */
  type: 'string' | 'integer' | 'number' | 'boolean' | 'date';
  description: string;
  /** 0 (default): always shown; 1: only with -o wide. */
  priority?: number;
  value(object: KubeObject): string | number | boolean | null | undefined;
}
