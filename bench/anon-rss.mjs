// Anonymous memory of a process over its life: what it holds itself, without the files that the kernel keeps for it.
import {readFileSync} from 'node:fs';

const anonKb = pid => Number(/^RssAnon:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);

/** Samples a child every `everyMs` until it ends; resolves to its exit code, its time and its memory on the way. */
export function watch(child, everyMs = 50) {
  const samples = [];
  const startedAt = performance.now();
  const timer = setInterval(() => {
    try {
      samples.push(anonKb(child.pid) / 1024);
    } catch {
      // It has just ended.
    }
  }, everyMs);
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', code => {
      clearInterval(timer);
      resolve({code, seconds: (performance.now() - startedAt) / 1000, samples});
    });
  });
}

/** The most that was held in the tenth of the time that ends at each of these shares, in MiB. */
export function atShares(samples, shares = [0.1, 0.5, 1]) {
  return shares.map(share => {
    const end = Math.max(1, Math.round(samples.length * share));
    return Math.round(Math.max(...samples.slice(Math.max(0, Math.floor(end - samples.length / 10)), end)));
  });
}
