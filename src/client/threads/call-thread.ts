import {parentPort, workerData} from 'node:worker_threads';
import type {Attempt} from '../attempt.ts';
import {createClient} from '../client.ts';
import {clockMs, type ThreadCalls, type ThreadData, type ThreadNews} from './protocol.ts';

/** A thread that makes calls: its own got, connections and heap. It decides nothing, and knows of nothing but its calls. */

const port = parentPort;
if (port === null) throw new Error('this is started as a thread');
const tell = (news: ThreadNews) => port.postMessage(news);
const client = createClient({...(workerData as ThreadData), onUnasked: () => tell({kind: 'unasked'})});
let answers: [number, Attempt][] = [];

port.on('message', ({atMs, calls}: ThreadCalls) => {
  tell({kind: 'late', ms: clockMs() - atMs});
  for (const {id, operation, params} of calls)
    void client.send(operation, params).then(attempt => {
      if (answers.push([id, attempt]) === 1) setImmediate(flush);
    });
});
tell({kind: 'ready'});

function flush(): void {
  tell({kind: 'answers', answers});
  answers = [];
}
