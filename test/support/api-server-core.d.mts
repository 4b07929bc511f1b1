import type {Operation} from '../../src/operations/table.ts';

export type RequestBody = Record<string, unknown>;

export function hash(text: string, seed?: number): number;
export function refusal(operation: Operation, body: RequestBody): string | undefined;
export function answer(operation: Operation, body: RequestBody, redeemed?: boolean): RequestBody;
export function price(operation: Operation, body: RequestBody): number;
export function isCharged(status: number, hasRetryAfter: boolean): boolean;

export class SlidingCount {
  constructor(windowMs?: number);
  readonly peak: number;
  add(now: number): void;
  count(now: number): number;
}
