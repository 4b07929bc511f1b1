import {Transform} from 'node:stream';
import zlib from 'node:zlib';

/** Replaces `node:zlib` for a run: its threads would take real time. */
export const simulatedZlib = {
  ...zlib,
  createGzip: () => atOnce(zlib.gzipSync),
  createGunzip: () => atOnce(zlib.gunzipSync),
};

/** All of it is done where its last byte is in. */
function atOnce(convert: (whole: Buffer) => Buffer): Transform {
  const chunks: Buffer[] = [];
  return new Transform({
    transform(chunk: Buffer, _, done) {
      chunks.push(chunk);
      done();
    },
    flush(done) {
      done(null, convert(Buffer.concat(chunks)));
    },
  });
}
