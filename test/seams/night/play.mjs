// Plays compiled nights and prints what came of them: node play.mjs COMPILED, with nights as JSON on stdin if it takes any.
import {text} from 'node:stream/consumers';
import {pathToFileURL} from 'node:url';

const {play, killAtEachStep} = await import(pathToFileURL(process.argv[2]).href);
// What a killed process would still do fails, in promises that nobody waits for.
process.on('unhandledRejection', error => {
  if (error?.name !== 'Killed') throw error;
});

console.log(JSON.stringify(killAtEachStep === undefined ? await nights() : await killAtEachStep()));

async function nights() {
  const told = [];
  for (const night of JSON.parse(await text(process.stdin)))
    told.push(await play(night).catch(error => String(error.stack)));
  return told;
}
