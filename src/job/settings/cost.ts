import {z} from 'zod';
import {type Operation, operationNames, operations, perOperation} from '../../operations/table.ts';
import {
  type PerOperation,
  parsePairs,
  strictShape,
  textOrNumber,
  valueForOperation,
  withConversion,
} from '../setting-types.ts';

/** Credits are summed in whole thousandths. Summed as binary fractions, ten calls at 0.7 would be more than 7. */
const PER_CREDIT = 1_000;

export function toThousandths(credits: number): number {
  return Math.round(credits * PER_CREDIT);
}

/** Thousandths of a credit as credits, the unit that people and summaries use. */
export function toCredits(amount: number): number {
  return amount / PER_CREDIT;
}

function isExact(credits: number): boolean {
  return Number.isSafeInteger(toThousandths(credits)) && toCredits(toThousandths(credits)) === credits;
}

/** Credits of a call by operation, and the charge for refused calls. */
export type Cost = PerOperation<number> & {readonly rejected: ChargeKind; readonly throttled: ChargeKind};

/** The charge for a refused call: nothing (`free`), the credits of a call (`spent`), or unknown (`maybe`). */
export type ChargeKind = z.output<typeof charge>;

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

/** Makes a function that gives a call's cost in thousandths of a credit. Verdicts for test actions are free. */
export function createLookupPricer({settings: {cost}}: {readonly settings: {readonly cost: Cost}}) {
  return ({
    operation,
    params,
  }: {
    readonly operation: Operation;
    readonly params: Readonly<Record<string, string>>;
  }): number =>
    operations[operation].isFree(params)
      ? 0
      : toThousandths(valueForOperation(cost, operation, operations[operation].cost));
}

export function createOperationPricer(job: {
  readonly endpoint: {readonly actionId?: string | undefined};
  readonly settings: {readonly cost: Cost};
}): (operation: Operation) => number {
  const params = {action_id: job.endpoint.actionId ?? ''};
  return operation => createLookupPricer(job)({operation, params});
}
