import {readdirSync} from 'node:fs';
import {formatByName} from '../../job/file-names.ts';
import {shellWord} from '../../sentence.ts';
import {breakLines, formatTable, terminalWidth} from '../terminal/lines.ts';
import {print} from '../terminal/printable.ts';

/** `bulk-enrich` without a command: shows possible next steps, with the files of this directory. */
export async function welcomeCommand(): Promise<number> {
  const here = listFiles();
  const unfinished = here.filter(name => name.endsWith('.run'));
  const list = shellWord(
    here.find(name => formatByName(name) !== undefined && !isOutput(name)) ?? 'list.csv',
  );
  const lines = [
    [`plan ${list}`, 'show what a list holds and what it would cost'],
    [`run ${list}`, 'enrich it, into a new file beside it'],
    [`init ${list}`, 'write a job file for a nightly list'],
    ['lookup ip 1.1.1.1', 'one value'],
    ['doctor', 'check the set-up before a run'],
    ['serve', 'a service of your own, from open data'],
    ['--help', 'list all commands'],
  ] as const;
  print(
    'stdout',
    `bulk-enrich enriches lists of IPs, phone numbers and e-mail addresses.

${formatTable(
  lines.map(([command, what]) => [`  bulk-enrich ${command}`, ` ${what}`]),
  2,
)}

${describeService()}
${unfinished.map(name => `${name} belongs to an unfinished run: run its command again to resume it.\n`).join('')}`,
  );
  return 0;
}

function describeService(): string {
  const url = process.env.BULK_ENRICH_BASE_URL ?? '';
  if (url !== '') return 'The service in BULK_ENRICH_BASE_URL answers, and its calls cost credits.';
  return breakLines(
    'No service is configured, so the embedded one answers from open data, at no cost. In scripts, add --endpoint embedded. For a live one, set BULK_ENRICH_BASE_URL and BULK_ENRICH_API_KEY.',
    terminalWidth('stdout'),
  );
}

function listFiles(): string[] {
  try {
    return readdirSync('.').sort();
  } catch {
    return [];
  }
}

function isOutput(name: string): boolean {
  return /\.(enriched|rejects)\./.test(name);
}
