import { gzipSync } from 'node:zlib'

/** Level 1 takes a third of the default level's time, and makes a list of JSON about 15 % larger. Decision. */
const GZIP_LEVEL = 1

/** Returns a buffer of its own, which can be moved: the buffer of zlib may be larger. */
export function compress({ bytes }: { readonly bytes: Uint8Array }): Uint8Array {
  return new Uint8Array(gzipSync(bytes, { level: GZIP_LEVEL }))
}
