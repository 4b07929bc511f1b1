import {randomUUID} from 'node:crypto';
import {appendFileSync, fstatSync, statSync} from 'node:fs';
import {setTimeout} from 'node:timers/promises';
import {nonFileKind} from '../disk/path.ts';
import {CodedError, exitCodes, LockedError, systemReason} from '../errors.ts';
import {driftSentence} from '../report/drift.ts';
import {lookupTotal, UNFINISHED_DAYS} from '../report/run-record.ts';
import type {Summary} from '../report/summary.ts';
import type {RunOutcome} from '../run/exit.ts';
import type {Said} from '../sentence.ts';
import type {Console} from './console.ts';
import {printWorkflowCommand} from './terminal/printable.ts';

/** In GitHub Actions: adds the report to the step summary, and shows errors and warnings as annotations. */
export async function annotateOutcome(outcome: RunOutcome<Said>, console: Console): Promise<void> {
  if (!inGitHubActions()) return;
  for (const line of annotations(outcome))
    if (!console.quiet || !line.startsWith('::notice')) printWorkflowCommand(line);
  const path = process.env.GITHUB_STEP_SUMMARY ?? '';
  if (path === '') return;
  try {
    const kind = nonFileKind(path);
    if (kind !== undefined) throw new Error(`it is ${kind}`);
    const {buildReport} = await import('../report/build-report.ts');
    const {renderMarkdown} = await import('../report/render/markdown.ts');
    const used = statSync(path, {throwIfNoEntry: false})?.size ?? 0;
    appendFileSync(path, fitStepSummary(renderMarkdown(buildReport(outcome.summary)), used));
  } catch (error) {
    console.warn(`The step's summary can't be written (${systemReason(error)}).`);
  }
}

/** The runner reads stdout and stderr apart. So long after the last row, it has read that row. */
const ROWS_READ_MS = 500;

/** Does work that may write rows to stdout. GitHub Actions, told on stderr, obeys no commands meanwhile. */
export async function pauseWorkflowCommands<T>(writesRows: boolean, work: () => Promise<T>): Promise<T> {
  if (!writesRows || !inGitHubActions() || fstatSync(1).isFile()) return work();
  const token = randomUUID();
  printWorkflowCommand(`::stop-commands::${token}`);
  try {
    return await work();
  } finally {
    await setTimeout(ROWS_READ_MS);
    printWorkflowCommand(`::${token}::`);
  }
}

/** In GitHub Actions: shows the error that kept a run from starting as an annotation. */
export function annotateError(error: unknown): void {
  if (!inGitHubActions()) return;
  // The message of an unexpected error may contain a key or values from rows, so it is not shown.
  const message = error instanceof CodedError ? error.message : 'Internal error: see the log.';
  printWorkflowCommand(annotation(error instanceof LockedError ? 'notice' : 'error', 'bulk-enrich', message));
}

export function inGitHubActions(): boolean {
  return process.env.GITHUB_ACTIONS === 'true';
}

function annotations({exitCode, stop, summary, message}: RunOutcome<Said>): string[] {
  const {drift, reason} = summary;
  const level = reason === 'drift' ? 'error' : 'warning';
  const sentences = drift.map(driftSentence).join('; ');
  const unlike =
    drift.length === 0 ? [] : [annotation(level, "bulk-enrich: unlike the job's last runs", sentences)];
  const said = String(message);
  if (stop !== undefined) return [annotation('error', 'bulk-enrich stopped', said), ...unlike];
  if (exitCode === exitCodes.incomplete)
    return [...unlike, annotation('warning', `bulk-enrich: ${gapOf(summary)}`, said)];
  if (exitCode === exitCodes.limit && reason !== 'drift')
    return [...unlike, annotation('error', 'bulk-enrich: a limit was exceeded', said)];
  return unlike;
}

function gapOf(summary: Summary): string {
  if (summary.reason === UNFINISHED_DAYS) return 'an earlier day is unfinished';
  const areOld = summary.rows.with_errors === 0 && lookupTotal(summary, 'stale') > 0;
  return areOld ? 'some answers are past their age' : 'some values have no answer';
}

/** Maximum bytes of a step summary. GitHub Actions refuses a longer one (docs.github.com, "Workflow commands"). */
const MOST_BYTES = 1_048_576;
const CUT = '\n*The rest was left out: a step’s summary holds 1 MiB at most.*\n';

/** Cuts a Markdown report to the whole sections that fit into a step summary, which already has `used` bytes. */
export function fitStepSummary(markdown: string, used: number): string {
  const text = `${markdown.trimEnd()}\n\n`;
  const room = MOST_BYTES - used;
  if (Buffer.byteLength(text) <= room) return text;
  let fitting = '';
  for (const section of text.split(/^(?=## )/m)) {
    if (Buffer.byteLength(fitting + section + CUT) > room) break;
    fitting += section;
  }
  return fitting === '' ? '' : fitting + CUT;
}

/** A line that GitHub shows beside the run. Its message must hold no values from rows. */
export function annotation(
  level: 'notice' | 'warning' | 'error',
  title: string,
  message: string,
  at?: {readonly file: string; readonly line: number},
): string {
  const place = at === undefined ? '' : `file=${escapePart(at.file, /[%\r\n:,]/g)},line=${at.line},`;
  return `::${level} ${place}title=${escapePart(title, /[%\r\n:,]/g)}::${escapePart(message, /[%\r\n]/g)}`;
}

function escapePart(text: string, characters: RegExp): string {
  return text.replace(
    characters,
    character => `%${character.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`,
  );
}
