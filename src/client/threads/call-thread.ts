import './heap.ts';
import {parentPort, workerData} from 'node:worker_threads';
import type {Attempt} from '../attempt.ts';
import {createClient} from '../client.ts';
import type {ThreadCalls, ThreadData, ThreadKey, ThreadNews} from './protocol.ts';

/** A thread that makes calls: its own got, connections and heap. It decides nothing, and knows of nothing but its calls. */

const port = parentPort;
if (port === null) throw new Error('this is started as a thread');
const tell = (news: ThreadNews) => port.postMessage(news);
const {keyMayChange, ...options} = workerData as ThreadData;
const client = createClient({
  ...options,
  ...(keyMayChange ? {readKeyAgain} : {}),
  onUnasked: () => tell({kind: 'unasked'}),
});
let answers: [number, Attempt][] = [];
let hearKey: (news: ThreadKey) => void = () => {};

port.on('message', (news: ThreadCalls | ThreadKey) => {
  if ('key' in news || 'why' in news) {
    hearKey(news);
    return;
  }
  for (const {id, operation, params} of news)
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
function readKeyAgain(): Promise<string> {
  return new Promise((resolve, reject) => {
    hearKey = news => ('key' in news ? resolve(news.key) : reject(new Error(news.why)));
    tell({kind: 'key'});
  });
}
