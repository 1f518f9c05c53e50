import { MessageChannel } from 'node:worker_threads'

/** Closed for good: by the web's rules it still takes over what is moved, and keeps nothing. */
const { port1: nowhere } = new MessageChannel()
nowhere.close()

/**
 * Frees the memory of buffers that are done with; they have no bytes any more. A collection would do it when
 * enough garbage has come together: tens of megabytes later, or never in a thread that became idle. Malloc
 * gives the same bytes, still in the cache, to the next buffer: sealing takes 360 µs of CPU per MB so, and
 * 430 with garbage.
 * @param buffers each once, and none that others hold
 */
export function detach(buffers: readonly ArrayBuffer[]): void {
  if (buffers.length > 0) nowhere.postMessage(null, buffers)
}

/** Those buffers that pieces fill alone. Smaller ones than `bytesMin` are not worth the call. */
export function wholeBuffers(pieces: readonly Uint8Array[], bytesMin: number): ArrayBuffer[] {
  const whole: ArrayBuffer[] = []
  for (const { buffer, length } of pieces) {
    if (length >= bytesMin && buffer instanceof ArrayBuffer && buffer.byteLength === length)
      whole.push(buffer)
  }
  return whole
}
