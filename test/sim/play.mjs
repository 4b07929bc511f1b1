// Plays seeds with the compiled machine: node play.mjs COMPILED once|shrink|soak FIRST+COUNT...
// once, shrink: until one breaks a promise. soak: all of them, and tells each that does.
import {pathToFileURL} from 'node:url';

const [compiled, how, ...parts] = process.argv.slice(2);
const {described, playSeed, playOnce, reached} = await import(pathToFileURL(compiled).href);
// What a killed process would still do fails, in promises that nobody waits for.
process.on('unhandledRejection', error => {
  if (error?.name !== 'Killed') throw error;
});

const TELL_EVERY = 1_000;

const seeds = parts.flatMap(part => {
  const [first, count] = part.split('+').map(Number);
  return Array.from({length: count}, (_, index) => first + index);
});
const broken = [];
let runs = 0;
for (const [index, seed] of seeds.entries()) {
  const sequences = index + 1;
  if (how === 'soak' && index % TELL_EVERY === 0) tell({sequences: index, broken});
  const played = await playOnce(seed);
  runs += played.runs;
  if (played.failure === undefined) continue;
  broken.push(seed);
  if (how !== 'once') console.log(described((await playSeed(seed)) ?? played.failure));
  tell({seed, sequences, message: played.failure.message});
  if (how !== 'soak') process.exit(1);
}
const {user, system} = process.cpuUsage();
tell({sequences: seeds.length, runs, broken, reached: reached(), cpuMs: Math.round((user + system) / 1_000)});
process.exitCode = broken.length === 0 ? 0 : 1;

function tell(what) {
  const memoryMb = how === 'soak' ? {memoryMb: Math.round(process.memoryUsage().rss / 2 ** 20)} : {};
  console.log(JSON.stringify({...what, ...memoryMb}));
}
