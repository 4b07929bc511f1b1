// Plays seeds with the compiled machine: node play.mjs COMPILED first|all FIRST+COUNT...
// first: until one breaks a promise, which is shrunk. all: all of them, and tells each that does.
import {pathToFileURL} from 'node:url';

const [compiled, how, ...parts] = process.argv.slice(2);
const {described, shrunk, playOnce, reached} = await import(pathToFileURL(compiled).href);
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
let sessions = 0;
for (const [index, seed] of seeds.entries()) {
  if (how === 'all' && index % TELL_EVERY === 0) tell({played: index, broken});
  const played = await playOnce(seed);
  sessions += played.sessions;
  if (played.failure === undefined) continue;
  broken.push(seed);
  if (how === 'first') {
    console.log(described((await shrunk(seed)) ?? played.failure));
    process.exit(1);
  }
  tell({seed, message: played.failure.message});
}
const {user, system} = process.cpuUsage();
tell({
  played: seeds.length,
  sessions,
  broken,
  reached: reached(),
  cpuMs: Math.round((user + system) / 1_000),
});
process.exitCode = broken.length === 0 ? 0 : 1;

function tell(what) {
  console.log(JSON.stringify({...what, memoryMb: Math.round(process.memoryUsage().rss / 2 ** 20)}));
}
