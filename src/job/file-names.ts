import {existsSync, readdirSync} from 'node:fs';
import {basename, dirname} from 'node:path';
import {textOf} from '../disk/path.ts';
import {withoutCompression} from './name-endings.ts';

/**
 * Default paths of summary and rejects: `out.summary.json` for `out.csv`. If the summary of another output, such as
 * out.ndjson, already has that name: `out.csv.summary.json`.
 */
export function besideOutput(output: string): {readonly summary: string; readonly rejects: string} {
  const stem = stemOf(output);
  return namesOf(isTaken(stem, output) ? output : stem);
}

/** All names of an output's files: itself, its run's directory, and both forms of the default names beside it. */
export function allNames(output: string): string[] {
  return [output, `${output}.run`, ...[stemOf(output), output].flatMap(name => Object.values(namesOf(name)))];
}

function namesOf(name: string) {
  return {summary: `${name}.summary.json`, rejects: `${name}.rejects.ndjson`};
}

function stemOf(output: string): string {
  return withoutCompression(output).replace(/\.[^./]+$/, '');
}

/** True if another output has the short names, or may get them when it is done, or if this one has the long names. */
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
    // The directory does not exist: the run reports it.
    return false;
  }
}

/** The name of the output whose summary this file is; undefined if it is not a summary. */
export function summarizedOutput(path: string): string | undefined {
  try {
    const {output, schema_version: version} = JSON.parse(textOf(path) ?? '');
    return version === 2 && typeof output?.path === 'string' ? basename(output.path) : undefined;
  } catch {
    return undefined;
  }
}
