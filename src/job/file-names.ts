import {existsSync, readdirSync} from 'node:fs';
import {basename, dirname} from 'node:path';
import {readIfFile} from '../disk/path.ts';
import {withoutCompression} from './name-endings.ts';

/**
 * Default paths of summary and rejects. For `out.csv` they are short: `out.summary.json`. If another output, such
 * as `out.ndjson`, uses the short names, they are long: `out.csv.summary.json`.
 */
export function sidePathsOfOutput(output: string): {readonly summary: string; readonly rejects: string} {
  const stem = stemOf(output);
  return namesOf(isTaken(stem, output) ? output : stem);
}

/** All default paths of an output's files: the output, its run's directory, and the short and long names. */
export function listOutputNames(output: string): string[] {
  return [output, `${output}.run`, ...[stemOf(output), output].flatMap(name => Object.values(namesOf(name)))];
}

function namesOf(name: string) {
  return {summary: `${name}.summary.json`, rejects: `${name}.rejects.ndjson`};
}

function stemOf(output: string): string {
  return withoutCompression(output).replace(/\.[^./]+$/, '');
}

/**
 * True if the output needs the long names, such as `out.csv.summary.json`. There are three reasons: another
 * output has the short names, an unfinished run of another output may still get them, or an earlier run of
 * this output has the long names.
 */
function isTaken(stem: string, output: string): boolean {
  const owner = readSummarizedOutput(namesOf(stem).summary);
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

/** Reads the name of the output from a summary file; undefined if the file is not a summary. */
export function readSummarizedOutput(path: string): string | undefined {
  try {
    const {output, schema_version: version} = JSON.parse(readIfFile(path) ?? '');
    return version === 2 && typeof output?.path === 'string' ? basename(output.path) : undefined;
  } catch {
    return undefined;
  }
}
