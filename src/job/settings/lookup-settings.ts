import {z} from 'zod';
import {isInternational, phoneCountry} from '../../operations/country.ts';
import {operations, perIntelligence} from '../../operations/table.ts';
import {besideNames, perBeside} from '../../operations/verify.ts';
import {columns, list, only, pairsOf, readAs} from '../values.ts';
import {settingsIn} from './declare.ts';
import {expectedCountry} from './expected-country.ts';

const serviceSetting = settingsIn('Service');
const columnsSetting = settingsIn('Columns');

const ENDPOINT = 'expected embedded, live, or a base URL such as https://api.example.com';

const KEYS = ['token=COL', 'action=ID', ...besideNames.map(name => `${name}=COL`)].join();
const VERDICT = `expected the column of session tokens, or ${KEYS}`;

/** The column of session tokens, the action identifier, and the columns whose values are sent with a token. */
const named = only({
  token: z.string(),
  action: z.string().optional(),
  ...perBeside(() => z.string().optional()),
});

/** `COL`, `token=COL,action=ID,id=COL,email=COL,phone=COL`, or a map in a job file. */
const verdict = readAs(z.union([z.string(), named], {error: VERDICT}), VERDICT, given =>
  typeof given === 'object' ? given : named.safeParse(Object.fromEntries(pairsOf(given, 'token'))).data,
);

/** The columns and operations to look up, and the service. */
export const lookupSettings = {
  endpoint: serviceSetting(
    z.union([z.enum(['embedded', 'live']), z.url({error: ENDPOINT})], {error: ENDPOINT}).optional(),
    {
      value: 'NAME|URL',
      description: 'The service: embedded; live (at BULK_ENRICH_BASE_URL); or a base URL.',
      defaultText: 'from the environment',
      uses: ['run', 'library', 'lookup', 'verify', 'worker', 'doctor'],
    },
  ),

  ...perIntelligence(name =>
    columnsSetting(columns.optional(), {
      value: 'COL[=PREFIX]',
      repeatable: true,
      description: `${operations[name].about} PREFIX begins the names of its new columns.`,
      uses: ['run', 'library'],
    }),
  ),
  verdict: columnsSetting(verdict.optional(), {
    value: 'COL',
    description: operations.verify.about,
    uses: ['run', 'library'],
  }),
  country: columnsSetting(list().optional(), {
    value: 'COL',
    repeatable: true,
    description:
      'Column with the country of phone numbers in national form, as code or name. Several columns may be given: each column of phone numbers uses the one that belongs to it, as shipping_phone uses shipping_country.',
    uses: ['run', 'library'],
  }),
  defaultCountry: columnsSetting(
    z
      .string()
      .refine(text => isInternational(text) || phoneCountry(text) !== undefined, {
        error: ({input}) => `expected a country, by ${expectedCountry(String(input))}`,
      })
      .transform(text => (text.length === 2 ? text.toUpperCase() : text))
      .optional(),
    {
      value: 'CC',
      description:
        'Country, as code or name, of national phone numbers without a country of their own; + if phone numbers only lack their plus.',
      uses: ['run', 'library', 'lookup', 'verify'],
    },
  ),
  ipFromList: columnsSetting(z.enum(['first', 'last', 'only']).optional(), {
    value: 'WHICH',
    description:
      'Which IP address to use of a cell with several (X-Forwarded-For): first, last or only. With only, the cell is used if all of them are the same.',
    defaultText: 'such cells are invalid',
    uses: ['run', 'library'],
  }),
  empty: columnsSetting(list().optional(), {
    value: 'TEXT',
    repeatable: true,
    description:
      'Treat a cell with just this text as empty, too. Some are empty anyway, such as n/a and unknown.',
    uses: ['run', 'library'],
  }),
  fields: columnsSetting(list(',').optional(), {
    value: 'FIELDS',
    repeatable: true,
    description: 'Write only these answer fields, such as ip.country,email.trust_score.',
    uses: ['run', 'library'],
  }),
  header: columnsSetting(z.boolean().default(true), {
    negated: true,
    description: 'Read the first row as data; columns are column_1, column_2, …',
    uses: ['run', 'reading'],
  }),
};
