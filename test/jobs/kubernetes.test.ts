import {spawn} from 'node:child_process';
import {once} from 'node:events';
import {mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync} from 'node:fs';
import {createServer} from 'node:http';
import {dirname, join} from 'node:path';
import {describe, expect, test} from 'vitest';
import {KEY_PREFIX, QUEUE_NAME} from '../../src/fleet/protocol.ts';
import {findAccount} from '../../src/run/open/account.ts';
import {listen} from '../support/free-port.ts';
import {newDirectory} from '../support/new-directory.ts';
import {decodingFaults, type Labels, type Manifests, manifestsOf, type Pod, podsOf} from './manifests.ts';

interface PolicyRule {
  readonly to?: readonly {readonly podSelector?: Selector}[];
  readonly ports: readonly {readonly port: string | number}[];
}

const within = newDirectory();
const fleet = manifestsOf('fleet/kubernetes.yaml');
const scaling = manifestsOf('fleet/scaling.yaml');
const alone = manifestsOf('schedule/kubernetes-cronjob.yaml');

const named = (manifests: Manifests, kind: string, name: string) => {
  const found = manifests.find(one => one.kind === kind && one.metadata.name === name);
  expect(found, `${kind} ${name}`).toBeDefined();
  return found;
};

interface Selector {
  readonly matchLabels?: Labels;
  readonly matchExpressions?: readonly {readonly key: string; readonly values: readonly string[]}[];
}

/** A selector that is missing selects nothing here, so that a test that needs one fails. */
const selects = (selector: Selector | undefined, labels: Labels) =>
  selector !== undefined &&
  Object.entries(selector.matchLabels ?? {}).every(([name, value]) => labels[name] === value) &&
  (selector.matchExpressions ?? []).every(({key, values}) => values.includes(labels[key] ?? ''));

/** Kinds of volumes that the restricted profile allows. */
const VOLUMES = /^(configMap|csi|downwardAPI|emptyDir|ephemeral|persistentVolumeClaim|projected|secret)$/;

const HELD = {readOnlyRootFilesystem: true, allowPrivilegeEscalation: false, capabilities: {drop: ['ALL']}};

describe.each([
  ['fleet/kubernetes.yaml', fleet],
  ['schedule/kubernetes-cronjob.yaml', alone],
] as const)('the pods of %s', (_, manifests) => {
  const pods = podsOf(manifests);

  test('keep to the restricted profile of Pod Security', () => {
    expect(pods.length).toBeGreaterThan(0);
    for (const {spec} of pods) {
      expect(spec.securityContext).toMatchObject({
        runAsNonRoot: true,
        runAsUser: expect.toSatisfy((user: number) => user > 0),
        seccompProfile: {type: 'RuntimeDefault'},
      });
      for (const {securityContext} of [...spec.containers, ...(spec.initContainers ?? [])])
        expect(securityContext).toEqual(HELD);
      for (const {name: __, ...source} of spec.volumes) expect(Object.keys(source)[0]).toMatch(VOLUMES);
      for (const host of ['hostNetwork', 'hostPID', 'hostIPC']) expect(spec).not.toHaveProperty(host);
      expect(spec.automountServiceAccountToken).toBe(false);
    }
  });

  test('mount all of their volumes', () => {
    for (const {spec} of pods)
      expect(spec.containers.flatMap(({volumeMounts}) => volumeMounts.map(({name}) => name)).sort()).toEqual(
        spec.volumes.map(({name}) => name).sort(),
      );
  });
});

describe('the CronJob', () => {
  const [pod] = podsOf(alone);
  const [list] = pod?.spec.initContainers ?? [];

  test('is what a strict decoder takes', () => {
    expect(alone.map(({kind}) => kind)).toEqual(['PersistentVolumeClaim', 'CronJob']);
    expect(alone.flatMap(one => decodingFaults(one, one.kind))).toEqual([]);
    const typo = JSON.parse(JSON.stringify(alone[1]).replace('"claimName"', '"claimname"'));
    const volume = 'CronJob.spec.jobTemplate.spec.template.spec.volumes[0].persistentVolumeClaim';
    expect(decodingFaults(typo, 'CronJob')).toEqual([`${volume}.claimName`, `${volume}.claimname`]);
  });

  test('has the job file and the account file where the run looks for them', () => {
    const {args, env, volumeMounts} = pod?.spec.containers[0] ?? {args: [], volumeMounts: []};
    const place = (name: string) => {
      const volume = pod?.spec.volumes.find(({configMap}) => (configMap as {name?: string})?.name === name);
      return volumeMounts.find(mount => mount.name === volume?.name)?.mountPath;
    };
    expect(args.at(-1)).toBe(`${place('bulk-enrich-jobs')}/nightly-signups.yaml`);
    const config = env?.find(({name}) => name === 'XDG_CONFIG_HOME')?.value;
    expect(place('bulk-enrich-accounts')).toBe(`${config}/bulk-enrich/accounts`);
  });

  test('gets the list of the day before its run, whole, once, or fails', async () => {
    let status = 404;
    const server = createServer((_, response) => response.writeHead(status).end('ip\n192.0.2.1\n'));
    const LIST_URL = `http://127.0.0.1:${await listen(server)}/`;
    mkdirSync(within('data'));
    const [program = '', ...args] = list?.command ?? [];
    const fetched = async () => {
      const PATH = `${dirname(process.execPath)}:/usr/bin:/bin`;
      const child = spawn(program, args, {cwd: within('data'), env: {PATH, LIST_URL}, stdio: 'ignore'});
      const [code] = await once(child, 'exit');
      return [code === 0, readdirSync(within('data', 'exports'))];
    };
    const name = `signups-${new Date().toISOString().slice(0, 10)}.csv`;
    expect(await fetched()).toEqual([false, []]);
    status = 200;
    expect(await fetched()).toEqual([true, [name]]);
    status = 404;
    expect(await fetched()).toEqual([true, [name]]);
    expect(readFileSync(within('data', 'exports', name), 'utf8')).toBe('ip\n192.0.2.1\n');
    server.close();
  });
});

describe('a fleet on Kubernetes', () => {
  const pods = podsOf(fleet);
  const called = (name: string) => {
    const found = pods.filter(({labels}) => labels['app.kubernetes.io/name'] === name);
    expect(found).toHaveLength(1);
    return found[0] as Pod;
  };

  test('asks a worker if it lives, and if it is ready, at the port where it answers', () => {
    const [container] = called('worker').spec.containers;
    expect(container?.livenessProbe?.httpGet).toEqual({path: '/healthz', port: 'metrics'});
    expect(container?.readinessProbe?.httpGet).toEqual({path: '/readyz', port: 'metrics'});
    const [{containerPort} = {containerPort: 0}] = container?.ports ?? [];
    expect(container?.args).toContain(`0.0.0.0:${containerPort}`);
  });

  test('has a network policy for traffic into and out of each pod', () => {
    const policies = fleet.filter(({kind}) => kind === 'NetworkPolicy');
    for (const {labels} of pods) {
      const own = policies.filter(({spec}) => selects(spec?.podSelector, labels));
      expect(own.flatMap(({spec}) => spec?.policyTypes).sort()).toEqual(['Egress', 'Ingress']);
    }
    const ports = pods.flatMap(({spec}) => spec.containers.flatMap(({ports: own = []}) => own));
    for (const {spec} of policies)
      for (const {port} of ((spec?.ingress ?? []) as PolicyRule[]).flatMap(rule => rule.ports))
        expect(ports.map(({name}) => name)).toContain(port);
    const calls = named(fleet, 'NetworkPolicy', 'bulk-enrich-calls').spec.egress as PolicyRule[];
    const redis = calls.find(({to}) => to?.[0]?.podSelector !== undefined);
    expect(selects(redis?.to?.[0]?.podSelector, called('redis').labels)).toBe(true);
    expect(redis?.ports[0]?.port).toBe(ports.find(({name}) => name === 'redis')?.containerPort);
  });

  test('drains one worker at a time, and another app not at all', () => {
    const {spec: {maxUnavailable, selector} = {}} = named(fleet, 'PodDisruptionBudget', 'bulk-enrich-worker');
    const drained = pods.filter(({labels}) => selects(selector, labels));
    expect([maxUnavailable, drained]).toEqual([1, [called('worker')]]);
  });

  test("gives its run the account's file where the run looks for it, as a ConfigMap comes", () => {
    const {data} = named(fleet, 'ConfigMap', 'bulk-enrich-accounts') as {data: Labels};
    const {spec} = called('run');
    const [container] = spec.containers;
    const config = container?.env?.find(({name}) => name === 'XDG_CONFIG_HOME')?.value ?? '';
    const volume = spec.volumes.find(({configMap}) => configMap !== undefined);
    const mount = container?.volumeMounts.find(({name}) => name === volume?.name);
    expect(mount?.mountPath).toBe(`${config}/bulk-enrich/accounts`);
    const accounts = within('bulk-enrich', 'accounts');
    mkdirSync(join(accounts, '..2026_01_05'), {recursive: true});
    symlinkSync('..2026_01_05', join(accounts, '..data'));
    for (const [name, text] of Object.entries(data)) {
      writeFileSync(join(accounts, '..2026_01_05', name), text);
      symlinkSync(join('..data', name), join(accounts, name));
    }
    const endpoint = container?.env?.find(({name}) => name === 'BULK_ENRICH_BASE_URL')?.value ?? '';
    const account = findAccount({endpoint, label: 'default'}, {XDG_CONFIG_HOME: within()});
    expect(account?.max_credits_per_day).toBe(5_000);
  });

  test('scales its workers by the queue that runs fill', () => {
    const {spec} = named(scaling, 'ScaledObject', 'bulk-enrich-worker');
    named(fleet, 'Deployment', spec?.scaleTargetRef?.name ?? '');
    const [trigger] = spec?.triggers ?? [];
    expect(trigger?.metadata.listName).toBe(`${KEY_PREFIX}:${QUEUE_NAME}:wait`);
    const {metadata} = named(fleet, 'Service', 'bulk-enrich-redis');
    expect(trigger?.metadata.address).toBe(`${metadata.name}:6379`);
    named(scaling, 'TriggerAuthentication', trigger?.authenticationRef.name ?? '');
    const policy = named(scaling, 'NetworkPolicy', 'bulk-enrich-scaling');
    expect(pods.filter(({labels}) => selects(policy.spec?.podSelector, labels))).toEqual([called('redis')]);
  });
});
