import t from 'tap'
import {
  LARGE_PIECE_BYTES,
  OPENED_BYTES_MAX,
  SESSIONS_PER_THREAD_MAX,
  SESSION_TURN_MS,
  STORAGE_PIECE_BYTES,
  THREAD_SILENT_MS_MAX,
  UPLOAD_WINDOW_BYTES_MAX,
} from '../../../src/schemas/files/file-limits.ts'
import { SEGMENT_BYTES } from '../../../src/workers/seal/format.ts'
import { OPENED_PIECES_MAX, OpenedRoom } from '../../../src/workers/sessions/unsealing.ts'
import { Places } from '../../../src/workers/sessions/places.ts'
import { must } from '../../support/must.ts'
import { openSessions, pushAll, text } from '../../support/files/sessions.ts'
import { TimeSlices } from '../../../src/workers/sessions/thread.ts'

/** Starting and ending threads is slow on a machine that does ten other things. */
t.setTimeout(600_000)

t.test('a full window reports when there is room again', async (t) => {
  const { intake } = await openSessions(t)
  const session = must(intake.open({ holder: 'w', target: null, content: 'any', bytesMax: 2 ** 40 }))
  const piece = text(65_536)
  let count = 1
  while (session.push(piece)) count++
  t.equal(count * piece.length, UPLOAD_WINDOW_BYTES_MAX)
  t.equal(intake.waitingBytes, UPLOAD_WINDOW_BYTES_MAX)
  await new Promise<void>((resolve) => session.onRoom(resolve))
  t.ok(intake.waitingBytes < UPLOAD_WINDOW_BYTES_MAX)
  t.match(await session.finish(), { value: { sizeBytes: count * piece.length } })
  t.equal(intake.waitingBytes, 0)
})

t.test('a push larger than several windows is accepted whole', async (t) => {
  const { intake } = await openSessions(t)
  const session = must(intake.open({ holder: 'w', target: null, content: 'any', bytesMax: 2 ** 40 }))
  const piece = text(3 * UPLOAD_WINDOW_BYTES_MAX + 1)
  t.match(await pushAll(session, [piece, piece]), { value: { sizeBytes: 2 * piece.length } })
})

t.test('a session above the limit of its workspace is busy, and an ended one makes room', async (t) => {
  const { intake } = await openSessions(t)
  const input = { holder: 'w', target: null, content: 'any', bytesMax: 10 } as const
  const sessions = Array.from({ length: SESSIONS_PER_THREAD_MAX / 2 }, () => must(intake.open(input)))
  t.match(intake.open(input), { failure: { name: 'busy', retryAfterS: 1 } })
  const other = must(intake.open({ ...input, holder: 'x' }))
  await sessions[0]?.cancel()
  const next = must(intake.open(input))
  t.match(intake.open(input), { failure: { name: 'busy' } })
  await Promise.all([next, other, ...sessions].map((session) => session.cancel()))
})

t.test(
  'uploads leave a quarter of the places to downloads, and no workspace takes all of either',
  async (t) => {
    const places = new Places(256)
    const takeAll = (kind: 'intake' | 'unseal', holder: string): number => {
      let count = 0
      while (places.take(kind, holder) !== null) count++
      return count
    }
    t.same([takeAll('intake', 'a'), takeAll('intake', 'b'), takeAll('intake', 'c')], [128, 64, 0])
    t.same([takeAll('unseal', 'd'), takeAll('unseal', 'e')], [64, 0])
    const readers = new Places(256)
    let mine = 0
    while (readers.take('unseal', 'a') !== null) mine++
    t.ok(mine >= 200, '200 slow readers of one workspace fit')
    t.ok(readers.take('intake', 'b') !== null, 'and another workspace still has places')
  },
)

t.test(
  'a thread looks at its messages at least every few milliseconds, whatever its sessions do',
  async (t) => {
    const turns = new TimeSlices()
    let isHeld = true
    let steps = 0
    await new Promise<void>((resolve) => {
      const reached = (): void => {
        isHeld = false
        resolve()
      }
      turns.ask(() => {
        if (steps++ === 0) setTimeout(reached, 1)
        const endMs = performance.now() + SESSION_TURN_MS
        while (performance.now() < endMs);
        return isHeld
      })
    })
    t.ok(steps > 0, 'the timer was reached between two steps')
  },
)

t.test('the limits are consistent with each other', async (t) => {
  t.ok(SESSION_TURN_MS * 100 < THREAD_SILENT_MS_MAX, 'an answer to a ping is never late by the turns')
  t.ok(OPENED_PIECES_MAX * STORAGE_PIECE_BYTES <= 524_288, 'a slow reader holds at most 512 KiB')
  t.ok(
    OPENED_BYTES_MAX >= 2 * SESSIONS_PER_THREAD_MAX * OPENED_PIECES_MAX * SEGMENT_BYTES,
    'the most readers have a segment a piece',
  )
})

t.test('large pieces for fast readers use at most half of the memory of all downloads', async (t) => {
  const room = new OpenedRoom(() => 1)
  t.equal(room.take(false), STORAGE_PIECE_BYTES)
  const large = []
  for (let bytes = room.take(true); bytes === LARGE_PIECE_BYTES; bytes = room.take(true)) large.push(bytes)
  t.equal((large.length + 1) * LARGE_PIECE_BYTES, OPENED_BYTES_MAX / 2)
  t.equal(room.take(true), STORAGE_PIECE_BYTES, 'a reader is not held up')
  for (const bytes of large) room.giveBack(bytes)
  t.equal(room.take(true), LARGE_PIECE_BYTES)
})

t.test('the size of a piece is the share of one reader, and at least one segment', async (t) => {
  let readers = OPENED_BYTES_MAX / OPENED_PIECES_MAX / (2 * SEGMENT_BYTES)
  const room = new OpenedRoom(() => readers)
  t.same([room.take(false), room.take(true)], [2 * SEGMENT_BYTES, 2 * SEGMENT_BYTES])
  readers *= 8
  t.equal(room.take(true), SEGMENT_BYTES)
})
