// Makes docs/report-light.png and docs/report-dark.png: the report of a real run over the sample, against the embedded
// service with some faults. Chromium at its usual place, or named in CHROMIUM.   npm run picture
import {spawn} from 'node:child_process';
import {copyFileSync, existsSync, mkdtempSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {fileURLToPath, pathToFileURL} from 'node:url';
import {chromium} from 'playwright-core';
import {startService} from '../dist/index.js';

const root = fileURLToPath(new URL('../', import.meta.url));
const executablePath =
  process.env.CHROMIUM ?? ['/usr/bin/chromium', '/usr/bin/google-chrome'].find(path => existsSync(path));
const home = mkdtempSync(join(tmpdir(), 'bulk-enrich-picture-'));
const report = join(home, 'report.html');
const job = [
  '--rate',
  '60/s',
  '--timeout',
  '1s',
  '--max-credits',
  '1000',
  '--drift',
  'off',
  '--report',
  report,
];

copyFileSync(`${root}samples/signups.csv`, join(home, 'signups.csv'));
// The service answers in a thread of its own process; the run is the built command, as a user starts it.
const service = await startService({latencyMs: 60, errorRate: 0.02, seed: 5});
const run = spawn(process.execPath, [`${root}dist/cli/bin.js`, 'run', 'signups.csv', ...job], {
  cwd: home,
  stdio: 'inherit',
  env: {
    PATH: process.env.PATH,
    HOME: home,
    BULK_ENRICH_BASE_URL: service.url,
    BULK_ENRICH_API_KEY: service.apiKey,
  },
});
await new Promise(resolve => run.once('exit', resolve));
await service.close();

const browser = await chromium.launch({
  executablePath,
  args: process.getuid?.() === 0 ? ['--no-sandbox'] : [],
});
for (const colorScheme of ['light', 'dark']) {
  const page = await browser.newPage({viewport: {width: 960, height: 1_000}, colorScheme});
  await page.goto(pathToFileURL(report).href);
  await page.screenshot({path: `${root}docs/report-${colorScheme}.png`});
}
await browser.close();
rmSync(home, {recursive: true});
