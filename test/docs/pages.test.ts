import {existsSync, readdirSync, statSync} from 'node:fs';
import {basename, dirname, join, relative} from 'node:path';
import {expect, test} from 'vitest';
import {logEvents} from '../../src/job/log-events.ts';
import {describeSettings} from '../../src/job/settings.ts';
import {throttlingStatuses} from '../../src/operations/operation.ts';
import {spellName} from '../../src/sentence.ts';
import {createSandbox} from '../support/command.ts';
import {runHere} from '../support/main.ts';
import {root, textOf} from './blocks.ts';

const inDocs = readdirSync(`${root}docs`);
const pages = ['README.md', 'CONTRIBUTING.md', 'jobs/README.md', 'samples/README.md'];
const all = [...pages, ...inDocs.filter(name => name.endsWith('.md')).map(name => `docs/${name}`)];

/** A heading as links name it. */
function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[`*]/g, '')
    .replace(/[^\p{L}\p{N} -]/gu, '')
    .replaceAll(' ', '-');
}

test.each(all)('every link of %s leads somewhere', page => {
  const links = [...textOf(page).matchAll(/(?:\]\(|src="|srcset=")([^)"\s]+)/g)].map(([, link = '']) => link);
  const inside = links.filter(link => !/^[a-z]+:/.test(link));
  for (const link of inside) {
    const [target = '', anchor] = link.split('#');
    const path = target === '' ? page : join(dirname(page), target);
    expect(existsSync(join(root, path)), link).toBe(true);
    if (anchor === undefined) continue;
    const headings = [...textOf(path).matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => anchorOf(heading));
    expect(headings, link).toContain(anchor);
  }
});

test.each(['README.md', 'docs/guide.md', 'docs/cost-privacy-security.md', 'docs/fleet.md'])(
  '%s says which statuses throttle',
  page => {
    const statuses = Object.entries(throttlingStatuses).map(([status, when]) =>
      when === 'always' ? status : `${status} ${when}`,
    );
    expect(textOf(page)).toContain(`(${statuses.join(', or ')})`);
  },
);

test('every flag that the pages name is one', async () => {
  using sandbox = createSandbox();
  // The last ones are those of npm, qsv, Redis and systemctl.
  const others =
    '--help --help-all --job --output --version --ignore-scripts --disk-cache --save --cacert --now';
  const flags = new Set(others.split(' '));
  for (const {name} of describeSettings())
    flags.add(`--${spellName(name, '-')}`).add(`--no-${spellName(name, '-')}`);
  const commands =
    'serve|doctor|explain|diff|score|init|worker|plan|run|runs|spend|rejects|verify|fleet status|rules test|store purge';
  for (const command of commands.split('|')) {
    const {stdout} = await runHere(sandbox, `${command} --help`);
    for (const [flag] of stdout.matchAll(/--[a-z-]+/g)) flags.add(flag);
  }
  // Flags of systemd's and Kubernetes' own commands are not this command's.
  const names = 'cost-privacy-security decisions errors fleet guide output recipes reports runbook scoring';
  for (const page of ['README.md', ...names.split(' ').map(name => `docs/${name}.md`)])
    for (const [flag] of textOf(page)
      .replace(/^(?:kubectl|journalctl|sudo) .*$/gm, '')
      .matchAll(/(?<=[`\s])--[a-z][a-z-]+/g))
      expect(flags, page).toContain(flag);
});

// Except that of codes, which is made.
test.each(all.filter(page => page !== 'docs/errors.md'))('%s has 2,000 words at most', page => {
  expect(textOf(page).trim().split(/\s+/).length).toBeLessThanOrEqual(2_000);
});

test('pictures are small', () => {
  const pictures = inDocs.filter(name => name.endsWith('.png'));
  expect(pictures).toHaveLength(2);
  for (const name of pictures) expect(statSync(`${root}docs/${name}`).size).toBeLessThan(150_000);
});

test('docs/operations.md has every event of the log, with its level and its sentence', () => {
  const rows = [...textOf('docs/operations.md').matchAll(/^- `(\w+)` \((\w+)\): (.+)$/gm)];
  const documented = Object.fromEntries(rows.map(([, event, level, about]) => [event, {level, about}]));
  expect(documented).toEqual(logEvents);
});

/** Files that commands make, or that a reader makes of what a page shows. */
const MADE = [
  'samples/signups.enriched.csv',
  'samples/signups.enriched.summary.json',
  'jobs/list.yaml',
  'jobs/fleet/fleet.env',
  '.github/workflows/enrich.yaml',
];

test('no page, example or script names a file of the repository that is missing', () => {
  const folders = ['docs', 'jobs', 'samples', '.ci', '.github', 'bench', 'test'];
  const inside = folders.flatMap(folder =>
    readdirSync(join(root, folder), {recursive: true, withFileTypes: true})
      .filter(entry => entry.isFile())
      .map(({parentPath, name}) => relative(root, join(parentPath, name))),
  );
  const told = inside.filter(
    name => !name.includes('node_modules') && !/\.(ts|mjs|mts|png|gz|zst|xlsx|schema\.json)$/.test(name),
  );
  const missing = [...pages, 'SECURITY.md', 'src/cli/examples.txt', ...told].flatMap(page => {
    const text = textOf(page);
    const paths = text.matchAll(/(?<![\w./-])(?:src|test|jobs|docs|samples|\.ci|\.github)\/[\w./-]*\w/g);
    return [...paths]
      .map(([path]) => path)
      .filter(path => !MADE.includes(path) && !existsSync(join(root, path)))
      .map(path => `${page}: ${path}`);
  });
  expect([...new Set(missing)]).toEqual([]);
});

test('docs/architecture.md names nothing that the code lacks', () => {
  const page = textOf('docs/architecture.md');
  const files = readdirSync(join(root, 'src'), {recursive: true, encoding: 'utf8'});
  const source = files
    .filter(name => name.endsWith('.ts'))
    .map(name => textOf(`src/${name}`))
    .join('\n');
  const names = [...page.matchAll(/`#?([a-z]+[A-Z]\w+)`/g)].map(([, name]) => name);
  expect(names.length).toBeGreaterThan(10);
  expect(names.filter(name => !new RegExp(`\\b${name}\\b`).test(source))).toEqual([]);
  // Those with a folder are held above.
  const short = [...page.matchAll(/`([\w-]+\.ts)`/g)].map(([, name]) => name);
  expect(short.length).toBeGreaterThan(10);
  expect(short.filter(name => !files.some(path => basename(path) === name))).toEqual([]);
});
