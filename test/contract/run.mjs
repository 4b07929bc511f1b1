import {spawnSync} from 'node:child_process';
import {fileURLToPath} from 'node:url';

// `npm run contract -- URL`: holds the service at a URL against the interface. It makes some fifty requests,
// half of which cost credits. The key is taken from BULK_ENRICH_API_KEY; CONTRACT_TOKENS=a,b,c names unused session tokens.

const [url, ...rest] = process.argv.slice(2);

if (url === undefined || rest.length > 0 || !URL.canParse(url)) {
  console.error('Usage: BULK_ENRICH_API_KEY=... npm run contract -- URL');
  process.exit(2);
}
if (!process.env['BULK_ENRICH_API_KEY']) {
  console.error('npm run contract needs the service’s key in BULK_ENRICH_API_KEY');
  process.exit(2);
}

const vitest = fileURLToPath(new URL('../../node_modules/vitest/vitest.mjs', import.meta.url));
const {status} = spawnSync(
  process.execPath,
  [vitest, 'run', 'test/contract/url.test.ts', '--reporter=verbose'],
  {
    cwd: fileURLToPath(new URL('../..', import.meta.url)),
    env: {...process.env, CONTRACT_URL: url},
    stdio: 'inherit',
  },
);
process.exit(status ?? 1);
