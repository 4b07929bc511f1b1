// Preloaded into every measured program: on exit it says what the process has used, as one JSON line in a file.
import {writeFileSync} from 'node:fs';

process.on('exit', () => {
  const {userCPUTime, systemCPUTime, maxRSS} = process.resourceUsage();
  const usage = {cpuUs: userCPUTime + systemCPUTime, maxRssKb: maxRSS, wallMs: performance.now()};
  writeFileSync(process.env.BENCH_USAGE, JSON.stringify(usage));
});
