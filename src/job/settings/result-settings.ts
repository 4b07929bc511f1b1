import {z} from 'zod';
import {isMetricsTarget, METRICS_TARGET} from '../monitoring/metrics-address.ts';
import {settingsIn} from './declare.ts';
import {drift} from './drift.ts';
import {log} from './log.ts';
import {scoreRules} from './score-rules.ts';

const resultSetting = settingsIn('Results');

/** Settings of the results: which ones are made, and how they are shown. */
export const resultSettings = {
  score: resultSetting(
    z
      .union([z.string().min(1), scoreRules], {error: 'expected default, none, a file, or rules'})
      .default('default'),
    {
      value: 'RULES',
      description: 'Rules of the risk score: default, none, or a YAML file.',
      uses: ['run', 'library'],
      shapes: 'score',
    },
  ),
  summary: resultSetting(z.string().optional(), {
    value: 'FILE',
    description: 'Where the summary goes.',
    defaultText: 'OUT.summary.json',
    uses: ['run', 'library'],
    shapes: 'summary',
  }),
  rejects: resultSetting(z.string().optional(), {
    value: 'FILE',
    description: 'Where unreadable rows go.',
    defaultText: 'OUT.rejects.ndjson',
    uses: ['run'],
    shapes: 'summary',
  }),
  report: resultSetting(
    z
      .string()
      .regex(/\.(html?|md|markdown)$/i, 'expected a file that ends in .html or .md')
      .optional(),
    {
      value: 'FILE',
      description: 'A report to look at: one HTML page, or Markdown (.md).',
      uses: ['run', 'library'],
      shapes: 'summary',
    },
  ),
  metrics: resultSetting(z.string().refine(isMetricsTarget, METRICS_TARGET).optional(), {
    value: 'FILE|URL',
    description:
      "Prometheus text: a file for the node exporter's textfile collector (.prom), or a Pushgateway's URL.",
    uses: ['run', 'library'],
    shapes: 'summary',
  }),
  pingUrl: resultSetting(
    z.url({protocol: /^https?$/, error: 'expected a URL with http:// or https://'}).optional(),
    {
      value: 'URL',
      description: 'Health check that is told of the start (URL/start), success (URL) or failure (URL/CODE).',
      uses: ['run', 'library'],
      shapes: 'nothing',
    },
  ),
  drift: resultSetting(drift.prefault('10%'), {
    value: 'WHAT',
    description:
      "How far a named job's results may differ from its last runs' before it warns, such as 10%; fail 10% ends with exit 4 instead, with output; off compares nothing.",
    uses: ['run', 'library'],
    shapes: 'summary',
  }),
  progress: resultSetting(z.enum(['auto', 'bar', 'plain', 'none']).default('auto'), {
    value: 'HOW',
    description: 'How the progress is shown: auto, bar (calls are counted first), plain or none.',
    uses: ['run', 'library'],
    shapes: 'nothing',
  }),
  log: resultSetting(log.optional(), {
    value: 'WORDS',
    description:
      'Log (on stderr) from this level up: trace, debug, info, warn, error or silent; as text, or as json (all of stderr, an object a line, for programs); both: json,debug.',
    defaultText: 'warn; info with json',
    uses: ['run', 'library', 'lookup', 'verify', 'worker', 'doctor'],
    shapes: 'nothing',
  }),
  quiet: resultSetting(z.boolean().default(false), {
    description: 'Nothing on stderr but errors.',
    uses: ['run', 'library', 'lookup', 'verify', 'worker', 'doctor'],
    shapes: 'nothing',
  }),
};
