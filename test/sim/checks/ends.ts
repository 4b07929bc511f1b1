import type {RunSpec} from '../model/commands.ts';
import type {Ended} from '../model/ended.ts';
import {inputPath, outputPath} from '../model/places.ts';
import {type Check, keyOfValue, type Scene, scopeOfCall, scopeOfSpec} from './scene.ts';

const noFault: Check = {
  promise: 'No run ends with an internal error.',
  broken: ({run}) => (run.code === 1 ? run.message : undefined),
};

const silent: Check = {
  promise: 'A run that could not start, or says that nothing was sent, has sent nothing.',
  broken({run}) {
    const saysSo = run.error !== undefined || /nothing was sent/i.test(run.message);
    return saysSo && run.calls.length > 0 && !run.spec.fleet
      ? `${run.calls.length} calls: ${run.message}`
      : undefined;
  },
};

const refused: Check = {
  promise:
    'No run takes its settings for wrong because of values that are refused, where it knows answers of that operation.',
  broken({run, service, storedBefore}: Scene) {
    if (run.stop !== 'refused' && run.stop !== 'credentials') return undefined;
    const operation = /first \d+ (\w+) calls/.exec(run.message)?.[1];
    const scope = scopeOfSpec(run.spec);
    const known = service.calls.find(
      call =>
        call.told === 'answered' &&
        call.operation === operation &&
        scopeOfCall(call) === scope &&
        ((call.ledger === run.ledger && call.recorded) ||
          (run.storeIsSound && storedBefore.has(`${keyOfValue(call.operation, call.value)} ${scope}`))),
    );
    return known === undefined ? undefined : `#${known.number} was answered: ${run.message}`;
  },
};

/** What says how a command ends, and not what it makes. */
function sameJob(a: RunSpec, b: RunSpec): boolean {
  const plain = (spec: RunSpec) =>
    JSON.stringify({...spec, force: false, restart: false, freshBudget: false, state: 0});
  return plain(a) === plain(b);
}

const doneBefore: Check = {
  promise: 'The same command again after its end says that there is nothing to do.',
  broken({run, runs}) {
    if (run.error?.code !== 'output_exists' || run.spec.restart || run.spec.force) return undefined;
    const path = outputPath(run.spec);
    const maker = runs.findLast(
      one =>
        one.nth < run.nth &&
        one.before.get(path)?.equals(one.after.get(path) ?? EMPTY) !== true &&
        one.after.has(path),
    );
    if (maker === undefined || !sameJob(maker.spec, run.spec) || maker.input !== run.input) return undefined;
    const isAsItWas = [path, run.job?.paths.summary ?? '', run.job?.paths.rejects ?? ''].every(
      name => maker.after.get(name)?.equals(run.before.get(name) ?? EMPTY) !== false,
    );
    const isItsOwn = /^[\d,]+ rows? written to/.test(maker.message);
    return isAsItWas && isItsOwn ? run.message : undefined;
  },
};

const EMPTY = Buffer.alloc(0);

/** Errors that are about what has been changed since, or has been done to the state, and not about the run. */
const FOR_THE_USER: readonly string[] = [
  ...['output_exists', 'same_file', 'settings_changed', 'input_changed', 'state_version', 'state_damaged'],
  ...['rejects_exist', 'summary_exists', 'store_unusable', 'publish_lost'],
];

/** What a run comes to that nothing is in the way of any more. */
export function faultOfHealed(run: Ended): string | undefined {
  const {error, stop, code, message} = run;
  if (error !== undefined) return FOR_THE_USER.includes(error.code) ? undefined : `${error.code}: ${message}`;
  if (stop === undefined) return code === 0 || code === 3 ? undefined : `exit ${code}: ${message}`;
  return stop === 'refused' ? undefined : `it stopped with ${code}: ${message}`;
}

const untorn: Check = {
  promise: 'What a crash leaves is never taken for damage: the same command goes on from it.',
  broken({run, runs}) {
    const code = run.error?.code ?? run.stop;
    // Over an output that a run with another state has replaced since, no publishing can be completed.
    const others = runs.some(({spec}) => spec.output === run.spec.output && spec.state !== run.spec.state);
    if (code === 'publish_lost' && others) return undefined;
    return code === 'partial_short' || code === 'publish_lost' ? run.message : undefined;
  },
};

const told: Check = {
  promise: 'The sentence at the end is true.',
  broken({run}) {
    const {message, after, spec} = run;
    const written = /^([\d,]+) rows? written to (\S+?)[.,]/.exec(message);
    const output = after.get(outputPath(spec));
    if (written !== null && output === undefined) return message;
    const rows = output === undefined ? 0 : output.toString().split('\n').length - 2;
    if (written !== null && Number(written[1]?.replace(',', '')) !== rows)
      return `${message} There are ${rows}.`;
    if (/^Nothing to do/.test(message) && run.calls.length > 0) return message;
    return run.input === undefined ? inputPath(spec.input) : undefined;
  },
};

export const endChecks: readonly Check[] = [noFault, silent, refused, doneBefore, untorn, told];
