import {describe, expect, it} from 'vitest';
import {createPractice, type PracticeFault, Throttle} from '../../src/service/http/practice.ts';
import {ServiceError} from '../../src/service/http/reply.ts';
import {makeServer} from '../../src/service/http/server.ts';
import {askService, fetchIp, running} from './running.ts';

const nameOf = (fault: PracticeFault | undefined): string =>
  fault instanceof ServiceError ? fault.code : (fault ?? 'none');

const draw = (seed: number, errorRate: number, count: number): string[] => {
  const practice = createPractice({seed, errorRate});
  return Array.from({length: count}, () => nameOf(practice.nextFault()));
};

describe('faults', () => {
  it('are the same for the same seed, others for another', () => {
    expect(draw(7, 0.5, 100)).toEqual(draw(7, 0.5, 100));
    expect(draw(7, 0.5, 100)).not.toEqual(draw(8, 0.5, 100));
  });

  it.each([0, 0.1, 0.5, 1])('come at the rate %f, within four standard errors', rate => {
    const count = draw(1, rate, 20_000).filter(each => each !== 'none').length;
    expect(Math.abs(count / 20_000 - rate)).toBeLessThanOrEqual(4 * Math.sqrt((rate * (1 - rate)) / 20_000));
  });

  it('are of every kind', () => {
    const kinds = 'practice_error practice_unavailable practice_bad_gateway reset cut-off stall';
    expect(new Set(draw(1, 1, 1000))).toEqual(new Set(kinds.split(' ')));
  });

  it('over HTTP: refused calls are free, lost ones are charged, and the ledger has all', async () => {
    const service = await running({errorRate: 1, seed: 3});
    const seen = {refused: 0, lost: 0};
    for (const kind of draw(3, 1, 60)) {
      const asked = new AbortController();
      if (kind === 'stall') setTimeout(() => asked.abort(), 100);
      const response = await fetchIp(service, {signal: asked.signal}).catch(() => undefined);
      const text = await response?.text().catch(() => undefined);
      if (['reset', 'cut-off', 'stall'].includes(kind)) {
        expect(text, kind).toBeUndefined();
        seen.lost++;
      } else {
        expect(response?.status, kind).toBe(
          {practice_error: 500, practice_unavailable: 503, practice_bad_gateway: 502}[kind],
        );
        expect(text).toContain(kind === 'practice_bad_gateway' ? '<html>' : kind);
        expect(response?.headers.get('retry-after')).toBe(kind === 'practice_unavailable' ? '1' : null);
        seen.refused++;
      }
    }
    const {spent, operations} = service.ledger();
    expect(spent).toBe(seen.lost);
    expect(operations.ip).toMatchObject({calls: seen.lost, unanswered: seen.lost, credits: seen.lost});
    expect(Object.values(operations.ip.rejected).reduce((sum, each) => sum + each, 0)).toBe(seen.refused);
  });
});

describe('the throttle', () => {
  const take = (throttle: Throttle): string => {
    try {
      throttle.take();
      return 'ok';
    } catch (error) {
      return (error as ServiceError).headers['Retry-After'] ?? '?';
    }
  };

  it('lets a second’s calls through at once, then one for each interval', () => {
    let now = 0;
    const throttle = new Throttle(4, () => now);
    expect(Array.from({length: 5}, () => take(throttle))).toEqual(['ok', 'ok', 'ok', 'ok', '1']);
    now = 249;
    expect(take(throttle)).toBe('1');
    now = 251;
    expect([take(throttle), take(throttle)]).toEqual(['ok', '1']);
    now = 60_000;
    expect(Array.from({length: 5}, () => take(throttle))).toEqual(['ok', 'ok', 'ok', 'ok', '1']);
  });

  it('knows rates below one a second: Retry-After is the whole wait', () => {
    let now = 0;
    const throttle = new Throttle(0.1, () => now);
    expect([take(throttle), take(throttle)]).toEqual(['ok', '10']);
    now = 9999;
    expect(take(throttle)).toBe('1');
    now = 10_001;
    expect(take(throttle)).toBe('ok');
  });

  it('tells the limit, the rest and the time', () => {
    const throttle = new Throttle(4, () => 0);
    throttle.take();
    const left = {'RateLimit-Limit': '4', 'RateLimit-Remaining': '3', 'RateLimit-Reset': '1'};
    expect(throttle.headers()).toEqual({...left, 'RateLimit-Policy': '4;w=1'});
  });

  it('over HTTP: 429 throttled, with Retry-After and RateLimit headers, free of charge', async () => {
    const service = await running({rateLimit: 0.01});
    const [first, second] = [await fetchIp(service), await fetchIp(service)];
    expect(first.status).toBe(200);
    expect(first.headers.get('ratelimit-remaining')).toBe('0');
    expect(second.status).toBe(429);
    expect(await second.json()).toEqual({success: false, message: 'throttled'});
    expect(Number(second.headers.get('retry-after'))).toBeGreaterThan(90);
    expect(second.headers.get('ratelimit-limit')).toBe('1');
    expect(service.ledger().spent).toBe(1);
  });
});

describe('latency', () => {
  it('holds answers back, by half to one and a half of it', async () => {
    const service = await running({latencyMs: 400});
    const ask = () => askService(service, '/intelligence/ip', {ip: '8.8.8.8'});
    await ask();
    const start = performance.now();
    await ask();
    expect(performance.now() - start).toBeGreaterThanOrEqual(199);
  });
});

it.each([0, 130_000, 600_000])(
  'a latency of %i ms never lets the server cut a connection before its answer',
  latencyMs => {
    const slowestMs = latencyMs * 1.5;
    const {timeout} = makeServer(() => expect.unreachable(), {latencyMs});
    expect(timeout).toBeGreaterThan(slowestMs + 120_000);
  },
);
