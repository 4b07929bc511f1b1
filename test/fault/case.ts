import type {Call} from '../support/api-server.ts';
import type {Reply} from '../support/api-server-reply.ts';
import {describeMoney, describeRun, type RunSpec, World} from './world.ts';

/** A fault, what is expected of a run that meets it, and the test that says what was seen. */
export interface FaultCase {
  readonly fault: string;
  readonly expected: string;
  /** Runs it, holds it against what is expected, and says in one line what was seen. */
  readonly see: () => Promise<string>;
}

/** The third value of the list: some values come before it, and most after. */
export const VICTIM = '198.51.100.3';

/** A run in which one value meets a fault, for ever or at its first attempts only. */
export async function withVictim(
  reply: Reply,
  {attempts = Number.POSITIVE_INFINITY, ...spec}: RunSpec & {attempts?: number} = {},
): Promise<string> {
  const script = ({value, attempt}: Call) => (value === VICTIM && attempt <= attempts ? reply : undefined);
  await using world = await World.open({script});
  const ran = await world.run(spec);
  world.expectSound(ran);
  return `${describeRun(ran)}; ${describeMoney(ran)}`;
}
