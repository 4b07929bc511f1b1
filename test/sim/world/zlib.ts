import {Transform} from 'node:stream';
import zlib from 'node:zlib';

/** Replaces `node:zlib` for a run: its threads would take real time. */
export const simulatedZlib = {...zlib, createGzip};

function createGzip(): Transform {
  const chunks: Buffer[] = [];
  return new Transform({
    transform(chunk: Buffer, _, done) {
      chunks.push(chunk);
      done();
    },
    flush(done) {
      done(null, zlib.gzipSync(Buffer.concat(chunks)));
    },
  });
}
