import {readFileSync} from 'node:fs';
import {expect} from 'vitest';
import {parseAllDocuments} from 'yaml';

export type Labels = Readonly<Record<string, string>>;

type Named = {readonly name: string; readonly [more: string]: unknown};

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
    readonly initContainers?: readonly Container[];
    readonly containers: readonly Container[];
    readonly volumes: readonly Named[];
  };
}

/** Fields of Kubernetes' objects: with `!` needed, `:Kind` an object, `*Kind` a list of them; the others are values. */
const FIELDS: Readonly<Record<string, string>> = {
  PersistentVolumeClaim: 'apiVersion! kind! metadata!:Meta spec!:Claim',
  Claim: 'accessModes! resources!:Resources storageClassName',
  Resources: 'requests:Any limits:Any',
  Meta: 'name namespace labels:Any annotations:Any',
  CronJob: 'apiVersion! kind! metadata!:Meta spec!:CronJobSpec',
  CronJobSpec:
    'schedule! timeZone concurrencyPolicy startingDeadlineSeconds suspend jobTemplate!:JobTemplate',
  JobTemplate: 'metadata:Meta spec!:JobSpec',
  JobSpec: 'backoffLimit activeDeadlineSeconds podFailurePolicy:FailurePolicy template!:PodTemplate',
  FailurePolicy: 'rules!*FailureRule',
  FailureRule: 'action! onPodConditions*PodCondition onExitCodes:ExitCodes',
  PodCondition: 'type! status',
  ExitCodes: 'containerName operator! values!',
  PodTemplate: 'metadata:Meta spec!:PodSpec',
  PodSpec:
    'automountServiceAccountToken restartPolicy terminationGracePeriodSeconds securityContext:PodSecurity initContainers*Container containers!*Container volumes*Volume',
  PodSecurity: 'runAsNonRoot runAsUser runAsGroup fsGroup seccompProfile:Seccomp',
  Seccomp: 'type!',
  Container:
    'name! image! command args workingDir env*Env ports*Port resources:Resources securityContext:Security volumeMounts*Mount livenessProbe:Any readinessProbe:Any',
  Env: 'name! value',
  Port: 'name containerPort! protocol',
  Security: 'readOnlyRootFilesystem allowPrivilegeEscalation capabilities:Capabilities',
  Capabilities: 'add drop',
  Mount: 'name! mountPath! readOnly subPath',
  Volume:
    'name! persistentVolumeClaim:ClaimSource configMap:ConfigMapSource secret:SecretSource emptyDir:Any',
  ClaimSource: 'claimName! readOnly',
  ConfigMapSource: 'name! optional defaultMode items*Item',
  SecretSource: 'secretName! optional defaultMode items*Item',
  Item: 'key! path! mode',
};

/** Places of an object that a strict decoder refuses: fields that are unknown, needed or of another shape. */
export function decodingFaults(found: unknown, kind: string, place = kind): string[] {
  const isObject = typeof found === 'object' && found !== null && !Array.isArray(found);
  if (kind === 'Any' || !isObject) return kind === 'Any' && isObject ? [] : [place];
  const fields = [...(FIELDS[kind] ?? '').matchAll(/(\w+)(!?)(?:([:*])(\w+))?/g)];
  const missing = fields.flatMap(([, name = '', need]) =>
    need && !(name in found) ? [`${place}.${name}`] : [],
  );
  const wrong = Object.entries(found).flatMap(([name, value]) => {
    const [, , , shape, of = ''] = fields.find(field => field[1] === name) ?? [];
    const at = `${place}.${name}`;
    if (!fields.some(field => field[1] === name)) return [at];
    if (shape === ':') return decodingFaults(value, of, at);
    if (shape === '*')
      return Array.isArray(value)
        ? value.flatMap((one, nth) => decodingFaults(one, of, `${at}[${nth}]`))
        : [at];
    return [value].flat().some(one => typeof one === 'object') ? [at] : [];
  });
  return [...missing, ...wrong];
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
