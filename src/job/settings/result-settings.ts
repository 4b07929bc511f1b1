import {z} from 'zod';
import {isUrl} from '../paths.ts';
import {declareGroup, parseShare, textList, textOrNumber, withConversion} from '../setting-types.ts';
import {scoreRules} from './score-rules.ts';

const formats = ['json', 'text'] as const;
export const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'silent'] as const;
export type LogLevel = (typeof logLevels)[number];

export interface LogSetting {
  readonly format?: (typeof formats)[number] | undefined;
  readonly level?: LogLevel | undefined;
}

/** `json`, `debug` or `json,debug`: a format, a level, or both. */
const logSetting = withConversion(
  textList(',').pipe(z.array(z.enum([...formats, ...logLevels]))),
  'expected one format and one level at most, such as json,debug',
  (words): LogSetting | undefined => {
    const format = formats.find(name => words.includes(name));
    const level = logLevels.find(name => words.includes(name));
    return words.length === [format, level].filter(Boolean).length ? {format, level} : undefined;
  },
);

/** True if this `log` setting, which may be unchecked, asks for JSON. */
export function isJsonLogSetting(given: unknown): boolean {
  return logSetting.safeParse(given).data?.format === 'json';
}

const DRIFT = 'expected off, a share such as 10%, or fail 10%';

/** `off`, `10%` or `fail 10%`: a change larger than `share` is drift, which `fails` the run. */
const drift = withConversion(textOrNumber(DRIFT), DRIFT, given => {
  const [, fails, text = ''] = /^(fail\s+)?(.*)$/.exec(String(given).trim()) ?? [];
  if (given === 'off') return given;
  const share = parseShare(text);
  return share === undefined ? undefined : {share, fails: fails !== undefined};
});

const resultSetting = declareGroup('Results');

export const resultSettings = {
  score: resultSetting(
    z
      .union([z.string().min(1), scoreRules], {error: 'expected default, none, a file, or rules'})
      .default('default'),
    {
      value: 'RULES',
      description: 'Rules of the risk score: default, none, or a YAML file.',
    },
  ),
  summary: resultSetting(z.string().optional(), {
    value: 'FILE',
    description: 'File for the summary.',
    defaultText: 'OUT.summary.json',
  }),
  rejects: resultSetting(z.string().optional(), {
    value: 'FILE',
    description: "File for rows that can't be read.",
    defaultText: 'OUT.rejects.ndjson',
    uses: ['run'],
  }),
  report: resultSetting(
    z
      .string()
      .regex(/\.(html?|md|markdown)$/i, 'expected a file that ends in .html or .md')
      .optional(),
    {
      value: 'FILE',
      description: 'File for a report: an HTML page, or Markdown (.md).',
    },
  ),
  metrics: resultSetting(
    z
      .string()
      .refine(path => !isUrl(path), 'expected a file')
      .optional(),
    {
      value: 'FILE',
      description: "File for Prometheus metrics, for the node exporter's textfile collector (.prom).",
    },
  ),
  pingUrl: resultSetting(
    z.url({protocol: /^https?$/, error: 'expected a URL with http:// or https://'}).optional(),
    {
      value: 'URL',
      description: 'Health check to ping at the start (URL/start), on success (URL) or failure (URL/CODE).',
      changesResult: false,
    },
  ),
  drift: resultSetting(drift.prefault('10%'), {
    value: 'WHAT',
    description:
      "How much a named job's results may differ from its last runs before it warns, such as 10%. fail 10% also ends with exit 4. off compares nothing.",
  }),
  log: resultSetting(logSetting.optional(), {
    value: 'WORDS',
    description:
      'Log level on stderr: trace, debug, info, warn, error or silent. Log lines are JSON, or plain with text; json makes all of stderr JSON: json,debug.',
    defaultText: 'warn; info with json',
    uses: ['run', 'lookup', 'verify', 'worker', 'doctor'],
    changesResult: false,
    ofTerminal: true,
  }),
  quiet: resultSetting(z.boolean().default(false), {
    description: 'Write only warnings and errors to stderr, and the log if it is set.',
    uses: ['run', 'lookup', 'verify', 'worker', 'doctor'],
    changesResult: false,
    ofTerminal: true,
  }),
};
