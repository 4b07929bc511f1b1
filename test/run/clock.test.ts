import {expect, test, vi} from 'vitest';
import {openStage} from '../support/stage.ts';

test('a clock that is set back stops neither checkpoints nor the measure of time', async () => {
  await using stage = await openStage();
  stage.write('in.csv', `ip\n${Array.from({length: 70}, (_, n) => `192.0.2.${n}\n`).join('')}`);
  const names: string[] = [];
  let back = 0;
  const {code, summary} = await stage.run(
    {input: 'in.csv', output: 'out.csv', ip: 'ip', rate: '40/s', score: 'none'},
    {
      now: () => Date.now() - back,
      watch: session => {
        // Once the run is under way: what it measures from has been read by then.
        setTimeout(() => {
          back = 3_600_000;
        }, 300);
        const save = session.ledger.setMeta.bind(session.ledger);
        vi.spyOn(session.ledger, 'setMeta').mockImplementation((name, value) => {
          names.push(name);
          save(name, value);
        });
      },
    },
  );
  expect(code).toBe(0);
  expect(names.filter(name => name === 'checkpoint').length).toBeGreaterThan(1);
  expect(summary?.duration_ms).toBeGreaterThan(0);
  expect(summary?.timeline.ms.length).toBeGreaterThan(1);
});
