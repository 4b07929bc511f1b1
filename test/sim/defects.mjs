// node test/sim/defects.mjs [SEQUENCES] [WORDS]: puts defects back one at a time, and says which are found: by the machine, or by
// the test of their own where no sequence of commands shows them.
import {spawnSync} from 'node:child_process';
import {rmSync} from 'node:fs';
import {fileURLToPath} from 'node:url';
import {startVitest} from 'vitest/node';
import {compile, withEdits} from './compile.mjs';
import {allDefects} from './defects/all.mjs';

const given = process.argv.slice(2);
const sequences = /^\d+$/.test(given[0] ?? '') ? given.shift() : '1500';
const words = given.join(' ');
const play = fileURLToPath(new URL('play.mjs', import.meta.url));

for (const {name, edits, test} of allDefects.filter(one => one.name.includes(words))) {
  const [came, why] = test === undefined ? await played(edits) : await tested(test, edits);
  console.log(came, '|', name);
  if (why !== undefined) console.log(`    ${why.split('\n')[0].slice(0, 240)}`);
}

async function played(edits) {
  // Several of these may be under way at once.
  const {directory, file} = await compile(`defect-${process.pid}`, edits);
  // A defect may ask for memory without an end.
  const {stdout, stderr} = spawnSync(
    process.execPath,
    ['--max-old-space-size=1024', play, file, 'once', `1+${sequences}`],
    {encoding: 'utf8', maxBuffer: 2 ** 28},
  );
  rmSync(directory, {recursive: true, force: true});
  const line = stdout.trim().split('\n').at(-1);
  const told = line?.startsWith('{') ? JSON.parse(line) : {message: stderr};
  if (/Something broke: ReferenceError/.test(told.message))
    return ['IS OF OTHER NAMES than src', told.message];
  return [
    told.message === undefined ? `NOT FOUND in ${told.sequences}` : `found after ${told.sequences}`,
    told.message,
  ];
}

async function tested(test, edits) {
  // Of src alone: what is built lacks the edits.
  process.env.UNBUILT = '1';
  const options = {watch: false, reporters: [{}], globalSetup: []};
  const vitest = await startVitest('test', [test], options, {plugins: [withEdits(edits, false)]});
  const tasks = vitest.state.getFiles().flatMap(file => file.tasks);
  const failed = tasks.filter(({result}) => result?.state === 'fail');
  await vitest.close();
  // A test that fails makes no failure of this.
  process.exitCode = 0;
  if (tasks.length === 0) return [`NOT RUN: ${test} needs what npm run build makes`];
  return failed.length === 0 ? [`NOT FOUND by ${test}`] : [`found by ${test}`, failed[0].name];
}
