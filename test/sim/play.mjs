// Plays seeds with the compiled machine until one breaks a promise: node play.mjs COMPILED once|shrink FIRST+COUNT...
import {pathToFileURL} from 'node:url';

const [compiled, how, ...parts] = process.argv.slice(2);
const {described, playSeed, playOnce} = await import(pathToFileURL(compiled).href);
// What a killed process would still do fails, in promises that nobody waits for.
process.on('unhandledRejection', error => {
  if (error?.name !== 'Killed') throw error;
});

const seeds = parts.flatMap(part => {
  const [first, count] = part.split('+').map(Number);
  return Array.from({length: count}, (_, index) => first + index);
});
let runs = 0;
for (const [index, seed] of seeds.entries()) {
  const played = await playOnce(seed);
  runs += played.runs;
  if (played.failure === undefined) continue;
  if (how === 'shrink') console.log(described((await playSeed(seed)) ?? played.failure));
  console.log(JSON.stringify({seed, sequences: index + 1, message: played.failure.message}));
  process.exit(1);
}
const {user, system} = process.cpuUsage();
console.log(JSON.stringify({sequences: seeds.length, runs, cpuMs: Math.round((user + system) / 1_000)}));
