import type {InputFormat} from '../input/row.ts';
import type {Source} from '../input/source.ts';
import type {Job} from '../job/job.ts';
import {planRepairs, planRisk} from '../output/columns.ts';
import type {OutputFormat} from '../output/encoder.ts';
import {flatColumns} from '../output/flat.ts';

/** The output's format. It is like the input's, as far as the settings don't say otherwise. */
export function outputFormat({settings}: Job, {format}: Source): OutputFormat {
  const named = settings.outputFormat;
  const kind = named === undefined ? format.kind : named === 'ndjson' ? 'ndjson' : 'csv';
  const own = settings.delimiter ?? (format.kind === 'csv' ? format.delimiter : ',');
  const isComma = named?.startsWith('csv') === true && own === '\t';
  return {
    kind,
    delimiter: named === 'tsv' ? '\t' : isComma ? ',' : own,
    eol: kind === 'ndjson' && format.eol === '\r' ? '\n' : format.eol,
    // A CSV made from a legacy encoding gets a byte order mark: the user's program, such as an old Excel, would
    // read UTF-8 without one as that encoding. NDJSON gets one only if the NDJSON input has it, since parsers of
    // NDJSON fail on it.
    bom:
      named === 'csv-bom' ||
      (format.bom && kind === format.kind) ||
      (kind === 'csv' && format.encoding !== 'utf-8'),
    sepLine: kind === 'csv' && format.kind === 'csv' && format.sepLine === true,
    escapeInput: settings.escapeFormulas === 'all',
    escapeAnswers: settings.escapeFormulas !== 'none',
    risk: settings.score === 'none' ? [] : planRisk(settings.fields),
    repairs: planRepairs(settings.fields),
    flatten: settings.flatten,
  };
}

/** The input's format, with the columns that its rows have in the output. */
export function writtenInput({format, sample}: Source, output: OutputFormat): InputFormat {
  const flat = output.flatten && output.kind === 'csv' && format.kind === 'ndjson';
  return flat ? {...format, columns: flatColumns(sample)} : format;
}
