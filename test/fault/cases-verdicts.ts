import {expect} from 'vitest';
import {reply} from '../support/api-server-reply.ts';
import type {FaultCase} from './case.ts';
import {describeMoney, describeRun, World} from './world.ts';

const tokens = Array.from({length: 12}, (_, index) => `session-token-${index + 1}`);

export const verdictCases: readonly FaultCase[] = [
  {
    fault: 'a stale session token among good ones (`invalid_token` on /verify)',
    expected: 'that row fails; the key is not blamed',
    async see() {
      const script = ({value}: {value: string}) => (value === tokens[2] ? reply.unauthorized() : undefined);
      await using world = await World.open({values: tokens, column: 'token', script});
      const ran = await world.run();
      world.expectSound(ran, {callsPerValue: 1});
      return `${describeRun(ran, 'verdict')}; ${describeMoney(ran)}`;
    },
  },
  {
    fault: 'every session token is invalid',
    expected: 'exit 6 after ten: it is the key',
    async see() {
      await using world = await World.open({
        values: tokens,
        column: 'token',
        script: () => reply.unauthorized(),
      });
      const ran = await world.run();
      world.expectSound(ran, {callsPerValue: 1});
      return describeRun(ran, 'verdict');
    },
  },
  {
    fault: 'a verdict whose answer is lost after the token was redeemed',
    expected: 'asked again; the row says that nobody can tell whether it was a replay',
    async see() {
      const script = ({value, attempt}: {value: string; attempt: number}) =>
        value === tokens[2] && attempt === 1 ? reply.drop('reset') : undefined;
      await using world = await World.open({values: tokens, column: 'token', script});
      const ran = await world.run();
      world.expectSound(ran, {callsPerValue: 2});
      return `${describeRun(ran, 'verdict')}; ${describeMoney(ran)}`;
    },
  },
  {
    fault: 'the first of three verdicts for one token fails once',
    expected:
      'the calls for that token still go out in input order; of the first row nobody can tell whether it was a replay',
    async see() {
      const values = tokens.map((token, index) => (index < 3 ? 'session-token-1' : token));
      await using world = await World.open({values, column: 'token'});
      const rows = values.map((value, index) => `${index + 1},${value},user-${index + 1}`);
      world.sandbox.write('in.csv', `id,token,user\n${rows.join('\n')}\n`);
      const order: unknown[] = [];
      world.server.setScript(({value, attempt, body}) => {
        if (value !== 'session-token-1') return undefined;
        order.push(body.id);
        return attempt === 1 ? reply.unavailable() : undefined;
      });
      const ran = await world.run({flags: ['--verdict', 'token=token,action=action-1,id=user']});
      world.expectSound(ran, {callsPerValue: 4});
      expect(order).toEqual(['user-1', 'user-1', 'user-2', 'user-3']);
      return `${describeRun(ran, 'verdict')}; asked in order`;
    },
  },
  {
    fault: 'a verdict on somebody else (`user_id` is not the `id` sent)',
    expected: 'that row fails as bad_response',
    async see() {
      await using world = await World.open({values: tokens, column: 'token'});
      const rows = tokens.map((value, index) => `${index + 1},${value},user-${index + 1}`);
      world.sandbox.write('in.csv', `id,token,user\n${rows.join('\n')}\n`);
      world.server.setScript(({value}) =>
        value === tokens[2]
          ? reply.json({success: true, user_id: 'user-9', verdict: {can_pass: true}})
          : undefined,
      );
      const ran = await world.run({flags: ['--verdict', 'token=token,action=action-1,id=user']});
      world.expectSound(ran, {callsPerValue: 1});
      return `${describeRun(ran, 'verdict')}; ${describeMoney(ran)}`;
    },
  },
];
