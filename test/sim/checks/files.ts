import {basename, dirname, join, relative} from 'node:path';
import {partialApart, partialNames} from '../../../src/run/destination/partial.ts';
import type {Ended} from '../model/ended.ts';
import {links, outputPath, statePath} from '../model/places.ts';
import {ROOT} from '../world/patched-fs.ts';
import {type Check, lacksHistory, UNTRIED} from './scene.ts';

const untouched: Check = {
  promise: 'The input is never changed, and links stay links.',
  broken({run, inputs}) {
    for (const [path, bytes] of inputs)
      if (run.after.get(path)?.equals(bytes) !== true) return `${path} is not what it was`;
    const gone = [...links].find(([path, target]) => run.after.get(path)?.toString() !== target);
    return gone && `${gone[0]} is no link to ${gone[1]} any more`;
  },
};

/** Places of a job's files, from the simulation's root. */
const PLACES = [
  /^stream$/,
  /^work\/(list|link)\d\.csv$/,
  /^work\/(out|to)\d\.csv(\.gz)?$/,
  /^work\/out\d\.csv(\.gz)?\.calls\.ndjson$/,
  /^work\/(out|to)\d(\.csv(\.gz)?)?\.(summary\.json|rejects\.ndjson)$/,
  /^work\/out\d\.csv(\.gz)?\.(prom|report\.md)$/,
  /^work\/(out\d\.csv(\.gz)?\.run|state\d)\/[\w.-]+$/,
  /^home\/(cache\/bulk-enrich|other-cache)\/answers\.db$/,
  /^home\/keys\/\d$/,
  /^home\/config\/bulk-enrich\/accounts\/first\.yaml$/,
  /^home\/state\/bulk-enrich\/[a-z-]+\.db$/,
  /^home\/state\/bulk-enrich\/runs\.waiting\/[0-9a-f-]{36}\.json$/,
];
/** Names of files on their way when their run was killed. */
const ON_ITS_WAY =
  /^tmp\/bulk-enrich-\w+\/(ledger\.db|rejects\.partial)$|^(tmp\/bulk-enrich-\w+\/[\w.-]+|work\/\.(out|to)\d(\.csv(\.gz)?)?(\.summary\.json|\.rejects\.ndjson|\.calls\.ndjson|\.prom|\.report\.md)?|home\/state\/bulk-enrich\/runs\.waiting\/\.[0-9a-f-]{36}\.json)\.[0-9a-f]{16}$/;

const tidy: Check = {
  promise: "Nothing outside of the job's own places is touched.",
  broken({run, runs}) {
    const wasKilled = runs.some(({process}) => process.killed);
    const foreign = [...run.after.keys()].filter(path => {
      // Those of a day have the day in their names.
      const place = relative(ROOT, path).replace(/(?<=\/\.?out\d)-\d{4}-\d\d-\d\d/, '');
      return !PLACES.some(one => one.test(place)) && !(wasKilled && ON_ITS_WAY.test(place));
    });
    return foreign.length === 0 ? undefined : foreign.join(', ');
  },
};

const gone: Check = {
  promise:
    'A complete run that is in the history leaves nothing of its state behind, but what it says is kept.',
  broken({run, runs}) {
    const {code, stop, error, spec, isAlone} = run;
    if (code === undefined || stop !== undefined || error !== undefined || !isAlone || lacksHistory(run))
      return UNTRIED;
    // An attempt to make it again was cut off: what that paid for stays.
    if (run.end === 'complete' && run.before.has(join(statePath(spec), 'ledger.db'))) return UNTRIED;
    const left = [...run.after.keys()].filter(
      path => dirname(path) === statePath(spec) && !isOfOtherState(path, run, runs),
    );
    return left.length === 0 ? undefined : left.join(', ');
  },
};

/**
 * True for the partial of a cut-off run with another state, which had to be beside its output. The same state with another
 * output goes on without it.
 */
function isOfOtherState(path: string, {nth, spec}: Ended, runs: readonly Ended[]): boolean {
  const cutOff = runs.filter(
    one =>
      one.nth < nth &&
      (one.process.killed || one.stop !== undefined) &&
      outputPath(one.spec) === outputPath(spec) &&
      statePath(one.spec) !== statePath(spec),
  );
  return cutOff.some(one =>
    partialNames.some(name => basename(path) === partialApart(name, statePath(one.spec))),
  );
}

export const fileChecks: readonly Check[] = [untouched, tidy, gone];
