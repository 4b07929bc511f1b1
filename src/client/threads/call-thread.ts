import './heap.ts';
import {parentPort, workerData} from 'node:worker_threads';
import type {Attempt} from '../attempt.ts';
import {createClient} from '../client.ts';
import type {ThreadData, ThreadKey, ThreadNews, ThreadOrder} from './protocol.ts';

/** A thread that makes calls: its own got, connections and heap. It decides nothing, and knows of nothing but its calls. */

const port = parentPort;
if (port === null) throw new Error('this is started as a thread');
const tell = (news: ThreadNews) => port.postMessage(news);
const {keyMayChange, isUnasked, ...options} = workerData as ThreadData;
const unasked = new AbortController();
if (isUnasked) unasked.abort();
unasked.signal.onabort = () => tell({kind: 'unasked'});
const client = createClient({...options, ...(keyMayChange ? {readKeyAgain} : {}), unasked});
let answers: [number, Attempt][] = [];
let hearKey: (news: ThreadKey) => void = () => {};

port.on('message', (order: ThreadOrder) => {
  if (order === 'unasked') {
    unasked.abort();
    return;
  }
  if ('key' in order || 'why' in order) {
    hearKey(order);
    return;
  }
  for (const {id, operation, params} of order)
    void client.send(operation, params).then(attempt => {
      if (answers.push([id, attempt]) === 1) setImmediate(flush);
    });
});
tell({kind: 'ready'});

function flush(): void {
  tell({kind: 'answers', answers});
  answers = [];
}

/** One at a time is asked for. */
function readKeyAgain(rejected: string): Promise<string> {
  return new Promise((resolve, reject) => {
    hearKey = news => ('key' in news ? resolve(news.key) : reject(new Error(news.why)));
    tell({kind: 'key', rejected});
  });
}
