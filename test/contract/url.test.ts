import {describe, it} from 'vitest';
import {contract} from './suite.ts';

// It makes some fifty requests, half of which cost credits.
const {CONTRACT_URL, BULK_ENRICH_API_KEY, BULK_ENRICH_ACTION_ID = 'contract'} = process.env;

/** Session tokens that were never verified, separated by commas. */
const tokens = process.env['CONTRACT_TOKENS']?.split(',') ?? [];

function nextToken(): string {
  const token = tokens.pop();
  if (token === undefined) throw new Error('CONTRACT_TOKENS has too few tokens: the suite needs fifteen');
  return token;
}

if (CONTRACT_URL === undefined || BULK_ENRICH_API_KEY === undefined) {
  describe('the contract at a URL', () => {
    it.skip('is asked for with `CONTRACT_URL=URL npm run contract`, and the key in BULK_ENRICH_API_KEY', () => {});
  });
} else {
  contract(`${CONTRACT_URL} keeps the contract`, async () => ({
    baseUrl: CONTRACT_URL.replace(/\/+$/, ''),
    apiKey: BULK_ENRICH_API_KEY,
    actionId: BULK_ENRICH_ACTION_ID,
    ...(tokens.length > 0 && {freshToken: nextToken}),
  }));
}
