import {PerformanceObserver} from 'node:perf_hooks';
import {getHeapSpaceStatistics, setFlagsFromString} from 'node:v8';
import {runInNewContext} from 'node:vm';

/** The young generation, both halves of it: calls in flight outlive a smaller one, and a larger one is only more memory. */
const YOUNG_BYTES = 8 * 1_048_576;
/** How far garbage may grow beyond what is alive before it is collected; V8's own is up to four times as much. */
const GROWING_PERCENT = 50;

/**
 * Keeps V8's heap near what a run needs, some 25 MB: left to itself it takes ten times as much before it collects. Node
 * has flags for that, which only who starts it could give; these are read by each collection anew. For the command
 * alone: where a run is part of another program, its heap is that program's.
 */
export function keepHeapSmall(): void {
  setFlagsFromString(`--heap-growing-percent=${GROWING_PERCENT}`);
  // V8 goes by that once it has collected everything a first time.
  setFlagsFromString('--expose-gc');
  setImmediate(runInNewContext('gc') as () => void);
  let factor = 2;
  new PerformanceObserver(() => {
    // One that has shrunk, as it does in a pause, may grow again.
    const wanted = youngBytes() >= YOUNG_BYTES ? 1 : 2;
    if (wanted === factor) return;
    factor = wanted;
    setFlagsFromString(`--semi-space-growth-factor=${factor}`);
  }).observe({entryTypes: ['gc']});
}

function youngBytes(): number {
  return getHeapSpaceStatistics().find(({space_name}) => space_name === 'new_space')?.space_size ?? 0;
}
