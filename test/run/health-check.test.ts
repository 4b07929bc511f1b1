import {expect, test} from 'vitest';
import type {Job} from '../../src/job/job.ts';
import {withHealthCheck} from '../../src/run/end/report-files.ts';
import {startPingServer} from '../support/ping-server.ts';

test('a health check gets one start ping however often the run says that it has begun, and none from a run that never did', async () => {
  await using health = await startPingServer();
  const {pathname: path} = new URL(health.url);
  const job = {settings: {pingUrl: health.url}} as Job;
  await withHealthCheck(
    job,
    said => expect.unreachable(String(said)),
    async begun => {
      begun();
      begun();
      return {exitCode: 0};
    },
  );
  expect(health.pings).toEqual([`GET ${path}/start`, `GET ${path}`]);
  await withHealthCheck(
    job,
    said => expect.unreachable(String(said)),
    async () => ({exitCode: 2}),
  );
  expect(health.pings.slice(2)).toEqual([`GET ${path}/2`]);
});
