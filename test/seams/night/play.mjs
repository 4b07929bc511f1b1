// Plays compiled nights, and kills one at each of its steps: node play.mjs COMPILED, with nights as JSON on stdin.
import {text} from 'node:stream/consumers';
import {pathToFileURL} from 'node:url';

const {play, killAtEachStep} = await import(pathToFileURL(process.argv[2]).href);
// What a killed process would still do fails, in promises that nobody waits for.
process.on('unhandledRejection', error => {
  if (error?.name !== 'Killed') throw error;
});

const results = [];
for (const night of JSON.parse(await text(process.stdin)))
  results.push(await play(night).catch(error => String(error.stack)));
console.log(JSON.stringify({results, killed: await killAtEachStep()}));
