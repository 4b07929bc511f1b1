import {describe, it} from 'vitest';
import {contract} from './suite.ts';

const {CONTRACT_URL, BULK_ENRICH_API_KEY, BULK_ENRICH_ACTION_ID = 'contract'} = process.env;

/** Session tokens that were never verified, separated by commas. */
const tokens = process.env['CONTRACT_TOKENS']?.split(',') ?? [];

if (CONTRACT_URL === undefined || BULK_ENRICH_API_KEY === undefined) {
  describe('the contract at a URL', () => {
    it.skip('is asked for with `npm run contract -- URL`, and the key in BULK_ENRICH_API_KEY', () => {});
  });
} else {
  contract(`${CONTRACT_URL} keeps the contract`, async () => ({
    baseUrl: CONTRACT_URL.replace(/\/+$/, ''),
    apiKey: BULK_ENRICH_API_KEY,
    actionId: BULK_ENRICH_ACTION_ID,
    ...(tokens.length > 0 && {freshToken: () => tokens.pop() ?? 'no more tokens'}),
  }));
}
