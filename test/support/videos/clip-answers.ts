/** A clip as it is asked for, and every way in which a provider serves it wrong. */
import type { ServerResponse } from 'node:http'
import { CLIP } from './boxes.ts'
import { send } from './video-exchange.ts'
import type { VideoJob } from './video-words.ts'

/** Bytes that the endless clip announces: ten gigabytes. */
const HUGE_BYTES = 10 * 1024 ** 3
const HUGE_PIECE = Buffer.alloc(256 * 1024)

export function sendClip(words: VideoJob['words'], res: ServerResponse): void {
  const as = (type: string, more: Record<string, string | number> = {}): ServerResponse =>
    res.writeHead(200, { 'content-type': type, ...more })
  switch (words.clip) {
    case 'truncate':
      return void as('video/mp4', { 'content-length': CLIP.length }).write(CLIP.subarray(0, 99), () =>
        res.destroy(),
      )
    case 'cut':
      return void as('video/mp4').end(CLIP.subarray(0, CLIP.length - 5))
    case 'stall':
      return void as('video/mp4', { 'content-length': CLIP.length }).write(CLIP.subarray(0, 99))
    case 'type':
      return void as('image/gif').end(CLIP)
    case 'html':
      return void as('text/html').end('<html>here it is</html>')
    case 'lie':
      return void as('video/mp4').end('<html>here it is</html>')
    case 'json':
      return send(res, 200, { error: { message: 'later' } })
    case 'gone':
      return send(res, 404, { error: { message: 'gone' } })
    case 'broken':
      return send(res, 500, { error: { message: 'broken' } })
    case 'empty':
      return void as('video/mp4').end()
    case 'announce':
      return void as('video/mp4', { 'content-length': HUGE_BYTES }).write(CLIP)
    case 'huge':
      return pour(as('video/mp4'))
    case 'redirect':
      return void res.writeHead(302, { location: words.url ?? '/' }).end()
    case null:
      return void as('video/mp4', { 'content-length': CLIP.length }).end(CLIP)
  }
}

/** Ten gigabytes, as fast as they are taken. */
function pour(res: ServerResponse): void {
  let left = HUGE_BYTES
  const more = (): void => {
    while (left > 0 && !res.destroyed) {
      left -= HUGE_PIECE.length
      if (!res.write(HUGE_PIECE)) return void res.once('drain', more)
    }
    res.end()
  }
  res.write(CLIP)
  more()
}
