// What one would write for a single list: csv-parse, p-queue, got, csv-stringify; no dedupe, no retries, no state.
import {createReadStream, createWriteStream} from 'node:fs';
import {Agent} from 'node:http';
import {finished} from 'node:stream/promises';
import {parse} from 'csv-parse';
import {stringify} from 'csv-stringify';
import got from 'got';
import PQueue from 'p-queue';

const client = got.extend({agent: {http: new Agent({keepAlive: true})}, retry: {limit: 0}});
const queue = new PQueue({concurrency: Number(process.env.BENCH_IN_FLIGHT)});
const output = stringify({header: true});
const file = output.pipe(createWriteStream(process.env.BENCH_OUTPUT));

for await (const row of createReadStream(process.env.BENCH_INPUT).pipe(parse({columns: true}))) {
  await queue.onSizeLessThan(4 * queue.concurrency);
  void queue.add(async () => {
    const {data} = await client
      .post(`${process.env.BENCH_URL}/intelligence/ip`, {json: {api_key: 'bench', ip: row.ip}})
      .json();
    output.write({...row, ...data});
  });
}
await queue.onIdle();
output.end();
await finished(file);
