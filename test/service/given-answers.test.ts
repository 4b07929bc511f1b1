import {writeFileSync} from 'node:fs';
import {expect, test} from 'vitest';
import {createClient, enrich, startService} from '../../src/index.ts';
import {type GivenAnswers, readGivenAnswers, ServiceSetupError} from '../../src/service/options.ts';
import {newDirectory} from '../support/new-directory.ts';

const within = newDirectory();

test('given fields go before those of open data, in whatever spelling the value comes; others are as ever', async () => {
  const path = within('answers.yaml');
  writeFileSync(
    path,
    'ip:\n  8.8.8.8: {is_threat: true, country: DE}\nphone:\n  "+44 20 7946 0018": {is_spam: true}\nemail:\n  somebody@EXAMPLE.com: {is_valid: false}\n',
  );
  const service = await startService({answers: readGivenAnswers(path)});
  const client = createClient({baseUrl: service.url, apiKey: service.apiKey});
  expect(await client.ip('8.8.8.8')).toMatchObject({is_threat: true, country: 'DE', is_bogon: false});
  expect(await client.phone('+442079460018')).toMatchObject({is_spam: true, number_type: 'fixed_line'});
  expect(await client.email('somebody@example.com')).toMatchObject({is_valid: false});
  expect(await client.ip('9.9.9.9')).not.toHaveProperty('is_threat');
  client.close();
  const calls = service.ledger();
  expect(await client.send('ip', {ip: '8.8.8.8'})).toMatchObject({kind: 'not_sent', code: 'client_closed'});
  expect(service.ledger()).toEqual(calls);
  await service.close();
});

test.each([
  [{ip: {'8.8.8': {}}}, 'answers: "8.8.8" is not a valid IP address'],
  [{phone: {'030 23125 001': {}}}, 'is not a valid phone number, such as +442079460018'],
  [{ip: {'8.8.8.8': {is_threat: 'yes'}}}, 'answers: ip.8.8.8.8.is_threat: '],
  [{ipp: {}}, 'answers: '],
])('%j is refused before anything is started', async (answers, message) => {
  const starting = startService({answers: answers as GivenAnswers});
  await expect(starting).rejects.toThrow(message);
  await expect(starting).rejects.toBeInstanceOf(ServiceSetupError);
});

test('the answer store keeps one data set’s answers apart from another’s, on the same port too', async () => {
  const countries: unknown[] = [];
  let port = 0;
  for (const country of ['US', 'DE', 'US']) {
    const service = await startService({port, answers: {ip: {'8.8.8.8': {country}}}});
    port = Number(new URL(service.url).port);
    const env = {XDG_CACHE_HOME: within(), BULK_ENRICH_API_KEY: service.apiKey};
    const settings = {endpoint: service.url, ip: 'ip', account: 'test'} as const;
    for await (const {enrichment} of enrich([{ip: '8.8.8.8'}], settings, {env}))
      countries.push(enrichment.ip.data?.country, service.ledger().spent);
    await service.close();
  }
  // The third has the first one's answer from the store.
  expect(countries).toEqual(['US', 1, 'DE', 1, 'US', 0]);
});
