import {existsSync, readFileSync} from 'node:fs';
import {fileURLToPath} from 'node:url';
import {expect, test} from 'vitest';

const docs = fileURLToPath(new URL('../../docs/', import.meta.url));

test('every promise of docs/threat-model.md names a test that is there', () => {
  const page = readFileSync(`${docs}threat-model.md`, 'utf8');
  const promises = page.split('\n').filter(line => line.startsWith('- *') && !line.startsWith('- **'));
  expect(promises.length).toBeGreaterThan(30);
  for (const promise of promises) {
    const tests = [...promise.matchAll(/\[([^\]]+)\]\((\.\.\/test\/[^)]+)\)/g)];
    expect(tests.length, promise).toBeGreaterThan(0);
    for (const [, title = '', path = ''] of tests) {
      expect(existsSync(docs + path), path).toBe(true);
      expect(readFileSync(docs + path, 'utf8'), path).toContain(title);
    }
  }
  // Each kind of attacker also hears what does not hold.
  const sections = page.split('\n## ').slice(2);
  for (const section of sections) expect(section, section.split('\n')[0]).toContain('\nNot protected: ');
});
