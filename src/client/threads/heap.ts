import {getHeapSpaceStatistics, setFlagsFromString} from 'node:v8';
import {runInNewContext} from 'node:vm';
import {getEnvironmentData, isMainThread, setEnvironmentData} from 'node:worker_threads';

/** Under which a thread's own threads find that the program is the command. */
const IS_COMMAND = 'bulk-enrich:command';

/** The young generation, both halves of it: calls in flight outlive a smaller one, and a larger one is only more memory. */
const YOUNG_BYTES = 16 * 1_048_576;
/** How far garbage may grow beyond what is alive before it is collected; V8's own is up to four times as much. */
const GROWING_PERCENT = 75;
const MOST_TRIES = 6;
/** Of an object with one field, and its place in an array. */
const OBJECT_BYTES = 24;

/**
 * Keeps V8's heap near what a run needs, some 25 MB: left to itself it takes ten times as much before it collects. Node
 * has flags for that, which only who starts it could give; these are read by each collection anew, of each thread, and
 * stop the young generation of one that doesn't do the same at its first megabyte. For the command alone: where a run is
 * part of another program, its heap is that program's.
 */
function keepHeapSmall(): void {
  setFlagsFromString(`--heap-growing-percent=${GROWING_PERCENT}`);
  growBy(1);
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as (how?: {readonly type: 'minor'}) => void;
  const collectYoung = () => collect({type: 'minor'});
  // V8 goes by the percentage once it has collected everything a first time: now, as long as that is next to nothing.
  collect();
  growYoung(collectYoung);
  const observer = new PerformanceObserver(() => {
    // V8 makes it smaller in a pause.
    if (youngBytes() >= YOUNG_BYTES || growYoung(collectYoung)) return;
    observer.disconnect();
    growBy(2);
  });
  observer.observe({entryTypes: ['gc']});
}

/** Makes it as large in one step, as left to itself it would be beyond that before anybody is told; whether that worked. */
function growYoung(collect: () => void): boolean {
  growBy(Math.ceil(YOUNG_BYTES / youngBytes()));
  for (let tries = 0; tries < MOST_TRIES && youngBytes() < YOUNG_BYTES; tries++) {
    // It grows where that much outlives a collection.
    const held = Array.from({length: youngBytes() / OBJECT_BYTES / 2}, () => ({held: true}));
    collect();
    held.length = 0;
  }
  growBy(1);
  return youngBytes() >= YOUNG_BYTES;
}

function growBy(factor: number): void {
  setFlagsFromString(`--semi-space-growth-factor=${factor}`);
}

function youngBytes(): number {
  return getHeapSpaceStatistics().find(({space_name}) => space_name === 'new_space')?.space_size ?? 0;
}

// The first module of the command and of its threads: those that a run loads would leave a larger heap behind.
if (isMainThread && process.argv[2] === 'run') setEnvironmentData(IS_COMMAND, true);
if (getEnvironmentData(IS_COMMAND) === true) keepHeapSmall();
