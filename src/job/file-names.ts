import {existsSync, readdirSync} from 'node:fs';
import {basename, dirname} from 'node:path';
import {textOf} from '../disk/path.ts';
import {withoutCompression} from './name-endings.ts';

/**
 * Where summary and rejects go by default: `out.summary.json` for `out.csv`. Where those are another output's, as
 * out.ndjson's beside it, `out.csv.summary.json`: neither takes the other's.
 */
export function besideOutput(output: string): {readonly summary: string; readonly rejects: string} {
  const stem = stemOf(output);
  return namesOf(isTaken(stem, output) ? output : stem);
}

/** All names of an output's own files: itself, what goes beside it by default, and its directory. */
export function allNames(output: string): string[] {
  return [output, `${output}.run`, ...[stemOf(output), output].flatMap(name => Object.values(namesOf(name)))];
}

function namesOf(name: string) {
  return {summary: `${name}.summary.json`, rejects: `${name}.rejects.ndjson`};
}

function stemOf(output: string): string {
  return withoutCompression(output).replace(/\.[^./]+$/, '');
}

/** Whether another output of that stem has the names, or is being written, and so will have them. */
function isTaken(stem: string, output: string): boolean {
  const owner = summarizedOutput(namesOf(stem).summary);
  if (owner !== undefined) return owner !== basename(output);
  return existsSync(namesOf(output).summary) || othersUnderWay(stem, output);
}

function othersUnderWay(stem: string, output: string): boolean {
  const own = `${basename(output)}.run`;
  try {
    return readdirSync(dirname(output)).some(
      name =>
        name.endsWith('.run') && name !== own && stemOf(name.slice(0, -'.run'.length)) === basename(stem),
    );
  } catch {
    // There is no such directory: the run will say so.
    return false;
  }
}

/** The name of the output whose summary this file is; undefined where it is none. */
export function summarizedOutput(path: string): string | undefined {
  try {
    const {output, schema_version: version} = JSON.parse(textOf(path) ?? '');
    return version === 2 && typeof output?.path === 'string' ? basename(output.path) : undefined;
  } catch {
    return undefined;
  }
}
