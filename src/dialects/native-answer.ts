import { ok } from '../schemas/failures.ts'
import type { Dialect } from '../schemas/inference/text-request.ts'
import { NATIVE_DIALECTS } from './native-dialects.ts'
import type { NoAnswer, NativeAnswer, NativeHead, ReadAnswer, WholeRead, JoinedAnswer } from './parts.ts'
import { usageBetween } from './usage.ts'
import { bytesOf, joined } from '../schemas/values/json-bytes.ts'

interface Unread {
  readonly dialect: Dialect
  readonly answer: Uint8Array
  readonly head: NativeHead
}

/** The usual cause is a `base_url` that leads elsewhere. */
function noAnswer(dialect: Dialect): NoAnswer {
  return {
    ok: false,
    failure: { name: 'upstream_invalid', detail: `The provider's answer is not in the ${dialect} format.` },
  }
}

/**
 * Reads a whole answer by one walk over its bytes on the calling thread, about 3 ms for each MiB. The pieces
 * of the answer are parts of `body`. D14. Failure: upstream_invalid, for what is no answer in the dialect.
 */
export function nativeAnswer(dialect: Dialect, body: Uint8Array, head: NativeHead): WholeRead<NativeAnswer> {
  const read = readAs(dialect, body, head)
  if (!read.ok) return read
  const { pieces, ...figures } = read.value
  return ok({ withUsage: (shown) => usageBetween(pieces, shown), ...figures })
}

/** The same on a worker thread, which gives the answer in one piece. */
export function joinedAnswer({ dialect, answer, head }: Unread): JoinedAnswer {
  const read = readAs(dialect, answer, head)
  if (!read.ok) return read
  const { pieces, ...figures } = read.value
  const { before, told, after } = pieces
  return {
    ok: true,
    ...figures,
    answer: joined([...before, ...(told ?? []), ...after]),
    beforeBytes: bytesOf(before),
    toldBytes: told === null ? null : bytesOf(told),
  }
}

/** What a worker thread gave, as `nativeAnswer` gives it. */
export function answerOfJob(out: JoinedAnswer): WholeRead<NativeAnswer> {
  if (!out.ok) return out
  const { ok: _, answer, beforeBytes, toldBytes, ...figures } = out
  const afterAt = beforeBytes + (toldBytes ?? 0)
  const pieces = {
    before: [answer.subarray(0, beforeBytes)],
    told: toldBytes === null ? null : [answer.subarray(beforeBytes, afterAt)],
    after: [answer.subarray(afterAt)],
  }
  return ok({ withUsage: (shown) => usageBetween(pieces, shown), ...figures })
}

function readAs(dialect: Dialect, body: Uint8Array, head: NativeHead): WholeRead<ReadAnswer> {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.length)
  const read = NATIVE_DIALECTS[dialect].answer(bytes, head)
  if (read === null) return noAnswer(dialect)
  return read instanceof Uint8Array ? { ...noAnswer(dialect), error: read } : ok(read)
}
