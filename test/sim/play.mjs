// Plays seeds of the compiled machine until one breaks a promise: node play.mjs COMPILED FIRST COUNT [shrink|show]
import {pathToFileURL} from 'node:url';

const [compiled, first = '1', count = '1000', how = ''] = process.argv.slice(2);
const {playSeed, playOnce} = await import(pathToFileURL(`${compiled}/test/sim/machine.js`).href);
// What a killed process would still do fails, in promises that nobody waits for.
process.on('unhandledRejection', error => {
  if (error?.name !== 'Killed') throw error;
});

let runs = 0;
for (let seed = Number(first); seed < Number(first) + Number(count); seed++) {
  const played = how === 'shrink' ? {failure: await playSeed(seed), runs: 0} : await playOnce(seed);
  runs += played.runs;
  if (played.failure === undefined) continue;
  const {message, history} = played.failure;
  console.log(JSON.stringify({seed, sequences: seed - Number(first) + 1, message}));
  if (how !== '') console.log(history.join('\n'));
  process.exit(1);
}
const {user, system} = process.cpuUsage();
console.log(JSON.stringify({sequences: Number(count), runs, cpuMs: Math.round((user + system) / 1_000)}));
