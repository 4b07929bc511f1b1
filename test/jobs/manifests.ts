import {readFileSync} from 'node:fs';
import {expect} from 'vitest';
import {parseAllDocuments} from 'yaml';

export type Labels = Readonly<Record<string, string>>;

interface Named {
  readonly name: string;
  readonly [more: string]: unknown;
}

interface Container {
  readonly image: string;
  readonly command: readonly string[];
  readonly args: readonly string[];
  readonly env?: readonly {readonly name: string; readonly value?: string}[];
  readonly ports?: readonly {readonly name: string; readonly containerPort: number}[];
  readonly livenessProbe?: {readonly httpGet?: object};
  readonly readinessProbe?: {readonly httpGet?: object};
  readonly securityContext: object;
  readonly volumeMounts: readonly Named[];
}

export interface Pod {
  readonly labels: Labels;
  readonly spec: {
    readonly securityContext: object;
    readonly automountServiceAccountToken?: boolean;
    readonly terminationGracePeriodSeconds?: number;
    readonly containers: readonly Container[];
    readonly volumes: readonly Named[];
  };
}

/** The documents of a file in jobs/. */
export const manifestsOf = (name: string) =>
  parseAllDocuments(readFileSync(new URL(`../../jobs/${name}`, import.meta.url), 'utf8')).map(document => {
    expect(document.errors).toEqual([]);
    return document.toJS();
  });

export type Manifests = ReturnType<typeof manifestsOf>;

export const podsOf = (manifests: Manifests): Pod[] =>
  manifests.flatMap(({spec}) => {
    const template = spec?.jobTemplate?.spec.template ?? spec?.template;
    return template === undefined ? [] : [{labels: template.metadata?.labels ?? {}, spec: template.spec}];
  });
