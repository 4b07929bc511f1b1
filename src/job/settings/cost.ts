import {z} from 'zod';
import {operationNames, perOperation} from '../../operations/table.ts';
import {isExact} from '../money.ts';
import {type PerOperation, parsePairs, strictShape, textOrNumber, withConversion} from '../setting-types.ts';

/** Credits of a call by operation, and the charge for refused calls. */
export type Cost = PerOperation<number> & {readonly rejected: Charge; readonly throttled: Charge};

/** The charge for a refused call: nothing (`free`), the credits of a call (`spent`), or unknown (`maybe`). */
export type Charge = z.output<typeof charge>;

const charge = z.enum(['free', 'maybe', 'spent']);

const CREDITS = 'expected a number of credits, 0 or more, with three decimals at most';
const COST = `${CREDITS}, for all operations or as ${operationNames.map(name => `${name}=…`).join()}; rejected=…,throttled=… are free, maybe or spent`;

const credits = textOrNumber(CREDITS);

const named = strictShape({
  all: credits.optional(),
  ...perOperation(() => credits.optional()),
  rejected: charge.optional(),
  throttled: charge.optional(),
});

type NamedCosts = z.input<typeof named>;

/** `2`, `ip=1,rejected=free`, or a map in a job file. */
export const costSetting = withConversion(
  z.union([textOrNumber(COST), named], {error: COST}),
  COST,
  (given): Cost | undefined => {
    const parts = typeof given === 'object' ? given : Object.fromEntries(parsePairs(String(given), 'all'));
    const read = named.safeParse(parts);
    const {rejected = 'maybe', throttled = 'free', ...texts}: NamedCosts = read.data ?? {};
    const numbers = Object.entries(texts).map(([name, text]) => [name, creditsOf(String(text))] as const);
    const isRead = read.success && numbers.every(([, value]) => value !== undefined);
    if (!isRead) return undefined;
    return {...(Object.fromEntries(numbers) as PerOperation<number>), rejected, throttled};
  },
);

function creditsOf(text: string): number | undefined {
  const value = Number(text);
  return /^\d+(\.\d+)?$/.test(text.trim()) && isExact(value) ? value : undefined;
}
