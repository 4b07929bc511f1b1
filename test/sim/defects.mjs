// node test/sim/defects.mjs [SEQUENCES] [WORDS]: puts defects back one at a time, and says which the machine finds.
import {spawnSync} from 'node:child_process';
import {rmSync} from 'node:fs';
import {fileURLToPath} from 'node:url';
import {compile} from './compile.mjs';
import {allDefects} from './defects/all.mjs';

const given = process.argv.slice(2);
const sequences = /^\d+$/.test(given[0] ?? '') ? given.shift() : '1500';
const words = given.join(' ');
const play = fileURLToPath(new URL('play.mjs', import.meta.url));

for (const {name, edits} of allDefects.filter(one => one.name.includes(words))) {
  // Several of these may be under way at once.
  const {directory, file} = await compile(`defect-${process.pid}`, edits);
  const {stdout, stderr} = spawnSync(process.execPath, [play, file, 'once', `1+${sequences}`], {
    encoding: 'utf8',
  });
  rmSync(directory, {recursive: true, force: true});
  const line = stdout.trim().split('\n').at(-1);
  const told = line?.startsWith('{') ? JSON.parse(line) : {message: stderr};
  console.log(
    told.message === undefined ? `NOT FOUND in ${told.sequences}` : `found after ${told.sequences}`,
    '|',
    name,
  );
  if (told.message !== undefined) console.log(`    ${told.message.split('\n')[0].slice(0, 240)}`);
}
