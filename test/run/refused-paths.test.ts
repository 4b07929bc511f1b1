import {execFileSync} from 'node:child_process';
import {
  chmodSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  truncateSync,
} from 'node:fs';
import {expect, test} from 'vitest';
import type {RawSettings} from '../../src/job/parse.ts';
import {ips, openStage, type Stage} from '../support/stage.ts';
import {withFs} from '../support/with-fs.ts';

/** Paths that a run refuses before its first call. Nothing is made, written or removed. */
interface Refusal {
  readonly what: string;
  readonly make?: (stage: Stage) => unknown;
  readonly settings: (at: Stage['path']) => RawSettings;
  /** The error's code, or a part of its sentence. */
  readonly says: string;
  readonly exit?: number;
}

const PARTIAL = 'out.csv.run/output.partial';
const LIST = `${ips(3)}1.2.3.4,one too many\n`;
const RULES = 'rules:\n  - {when: ip.is_vpn, add: 70, reason: vpn}\n';
const beside = ['summary', 'rejects', 'report', 'metrics'] as const;
const named = ['summary', 'rejects', 'metrics'] as const;
const written = ['output', ...beside] as const;

/** A path is the output as it stands, since it is given from the directory of the list. */
const as = (name: (typeof written)[number], path: string) => (at: Stage['path']) => ({
  [name]: name === 'output' ? path : at(path),
  force: true,
});
/** A name as the file of this kind may have it. */
const called = (name: string, base: string) => `${base}.${name === 'output' ? 'csv' : 'html'}`;
const spoken = (name: string) => (name === 'output' ? 'the output' : `--${name}`);
const pipe = (name: string) => (stage: Stage) => execFileSync('mkfifo', [stage.path(name)]);
const ownRules = [{when: 'ip.is_vpn', add: 1, reason: 'a'}];
const ruleIn = (file: string) => ({lists: {own: {file}}, rules: ownRules});

function linked(stage: Stage): void {
  mkdirSync(stage.path('sub'));
  symlinkSync('list.csv', stage.path('link.csv'));
  symlinkSync('.', stage.path('here'));
  linkSync(stage.path('list.csv'), stage.path('hard.csv'));
}

function kept(stage: Stage): void {
  mkdirSync(stage.path('out.csv.run'), {mode: 0o700});
  stage.write(PARTIAL, ips(3));
  stage.write('rules.yaml', RULES);
}

const inputAs = (name: (typeof written)[number], path: string): Refusal => ({
  ...{what: `the input as ${name}, by ${path}`, make: linked, settings: as(name, path)},
  says: `${spoken(name)} and the input are the same file`,
});
/** A file of the run's state in another part. */
const stateAs = (how: string, settings: Refusal['settings']): Refusal => ({
  ...{what: `a file of the run's state ${how}`, make: kept, says: 'same_file'},
  settings: at => ({...settings(at), restart: true}),
});

const sameFile: readonly Refusal[] = [
  inputAs('rejects', 'sub/../list.csv'),
  inputAs('summary', 'link.csv'),
  inputAs('metrics', 'here/list.csv'),
  inputAs('metrics', 'hard.csv'),
  inputAs('output', 'list.csv'),
  inputAs('output', 'link.csv'),
  ...['r.html', 'R.html'].map(name => ({
    what: `one file as report and as metrics: ${name}`,
    settings: (at: Stage['path']) => ({report: at('r.html'), metrics: at(name)}),
    says: 'same_file',
  })),
  stateAs('as input', () => ({input: PARTIAL})),
  stateAs('as summary', at => ({summary: at(PARTIAL)})),
  stateAs('as summary of a run with another state', at => ({summary: at(PARTIAL), state: at('st')})),
  {
    what: 'its rules as metrics',
    make: kept,
    settings: at => ({score: at('rules.yaml'), metrics: at('rules.yaml')}),
    says: 'same_file',
  },
];

const others: readonly Refusal[] = [
  ...beside.flatMap(name =>
    ['mine\n', 'ip,ip_status\n192.0.2.1,ok\n', '{"file":"a","note":1}\n', '{"a":1}\n'].map(text => ({
      what: `a file that no run wrote as ${name}: ${JSON.stringify(text)}`,
      make: (stage: Stage) => stage.write('notes.html', text),
      settings: as(name, 'notes.html'),
      says: 'file_exists',
    })),
  ),
  {
    what: 'an output that exists',
    make: stage => stage.write('out.csv', 'mine'),
    settings: () => ({}),
    says: 'output_exists',
  },
  ...written.map(name => ({
    what: `a link in a directory that others may write to, as ${name}`,
    make(stage: Stage) {
      mkdirSync(stage.path('open'));
      symlinkSync(stage.path('target'), stage.path(called(name, 'open/link')));
      chmodSync(stage.path('open'), 0o777);
    },
    settings: as(name, called(name, 'open/link')),
    says: 'foreign_link',
  })),
];

const noFile: readonly Refusal[] = [
  ...written.map(name => ({
    what: `a named pipe as ${name}`,
    make: pipe(called(name, 'pipe')),
    settings: as(name, called(name, 'pipe')),
    says: `${spoken(name)}: `,
  })),
  ...['out.summary.json', 'out.rejects.ndjson'].map(name => ({
    what: `a named pipe at the default name ${name}`,
    make: pipe(name),
    settings: () => ({}),
    says: '(by default)',
  })),
  ...written.map(name => ({
    what: `a directory as ${name}`,
    make: (stage: Stage) => mkdirSync(stage.path(called(name, 'd'))),
    settings: as(name, called(name, 'd')),
    says: 'is a directory',
  })),
  ...named.map(name => ({
    what: `an empty name as ${name}`,
    settings: () => ({[name]: ''}),
    says: 'is a directory',
  })),
  ...named.map(name => ({what: `- as ${name}`, settings: () => ({[name]: '-'}), says: '- is not a file'})),
];

const unwritable: readonly Refusal[] = [
  ...['list.csv/out.csv', 'circle/out.csv', 'circle'].map(output => ({
    what: `${output} as output`,
    make: (stage: Stage) => symlinkSync('circle', stage.path('circle')),
    settings: () => ({output}),
    says: 'output_unwritable',
    exit: 9,
  })),
  {
    what: 'an output in no directory',
    settings: () => ({output: 'no/out.csv'}),
    says: 'does not exist',
    exit: 9,
  },
  {
    what: 'an output that is a link into no directory',
    make: stage => symlinkSync(stage.path('no/out.csv'), stage.path('link.csv')),
    settings: () => ({output: 'link.csv'}),
    says: 'no, does not exist',
    exit: 9,
  },
  ...beside.slice(0, 2).map(name => ({
    what: `${name} in no directory`,
    settings: as(name, called(name, 'no/file')),
    says: 'no_directory',
  })),
  {
    what: 'a state in no directory, and a wrong field',
    settings: at => ({state: at('a/b/c'), fields: 'ip.no'}),
    says: 'fields',
  },
];

const rules: readonly Refusal[] = [
  ...['pipe', '/dev/zero', '/dev/null'].flatMap(name => [
    {
      what: `${name} as file of rules`,
      make: pipe('pipe'),
      settings: (at: Stage['path']) => ({score: name === 'pipe' ? at(name) : name}),
      says: 'score_file',
    },
    {
      what: `${name} as list of rules`,
      make: pipe('pipe'),
      settings: (at: Stage['path']) => ({score: ruleIn(name === 'pipe' ? at(name) : name)}),
      says: name === 'pipe' ? 'score_list' : 'it is a device, not a file',
    },
  ]),
  {
    what: 'a list of rules of more than 256 MiB',
    make(stage) {
      stage.write('large.txt', '');
      truncateSync(stage.path('large.txt'), 2 ** 28 + 1);
    },
    settings: at => ({score: ruleIn(at('large.txt'))}),
    says: 'larger than 256 MiB',
  },
];

/** All entries of the directory: the text of each file, the kind of others. */
function entries({directory, read}: Stage): unknown[] {
  return readdirSync(directory, {recursive: true, encoding: 'utf8'})
    .sort()
    .map(name => {
      const {mode, size} = lstatSync(`${directory}/${name}`);
      return [name, mode, size < 10_000 && lstatSync(`${directory}/${name}`).isFile() ? read(name) : ''];
    });
}

test.each([...sameFile, ...others, ...noFile, ...unwritable, ...rules])(
  '$what is refused before the first call, and all files stay as they were',
  async ({make, settings, says, exit = 2}) => {
    await using stage = await openStage({list: LIST});
    make?.(stage);
    const before = entries(stage);
    const {code, errorCode, message} = await stage.run({ip: 'ip', ...settings(stage.path)});
    expect([code, `${errorCode} ${message}`]).toEqual([exit, expect.stringContaining(says)]);
    // Only the summary or the metrics of this refusal may be new.
    expect(entries(stage)).toEqual(expect.arrayContaining(before));
    expect(entries(stage).length).toBeLessThanOrEqual(before.length + 1);
    expect(stage.api.ledger.requests).toBe(0);
  },
);

test.each(['summary', 'rejects'] as const)(
  'so is a directory that can not be written, for the %s',
  async name => {
    await using stage = await openStage({list: LIST});
    mkdirSync(stage.path('closed'));
    const refused = await withFs(
      real => ({
        accessSync(path, mode) {
          if (path === stage.path('closed')) throw Object.assign(new Error('EACCES'), {code: 'EACCES'});
          real.accessSync(path, mode);
        },
      }),
      () => stage.run({ip: 'ip', ...as(name, 'closed/file.csv')(stage.path)}),
    );
    expect(refused).toMatchObject({code: 9, message: expect.stringContaining(`--${name}`)});
    expect(stage.api.ledger.requests).toBe(0);
  },
);

test.each([
  'secret-key\n',
  '!secret-key {a: b}\n',
  'a: *secret-key\n',
  '"secret-key',
  'password=secret-key user: jo\n',
  'secret-key: [jo\n"a": b: c\n',
  '- a\nsecret-key\n',
])('no error quotes a file that has no rules: %j', async text => {
  await using stage = await openStage({list: LIST});
  stage.write('other', text);
  const ended = await stage.run({ip: 'ip', score: stage.path('other')});
  expect(ended.code).toBe(2);
  expect(ended.message).not.toContain('secret-key');
  expect(readFileSync(stage.path('other'), 'utf8')).toBe(text);
});
