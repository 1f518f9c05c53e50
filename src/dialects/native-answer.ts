import { randomUUID } from 'node:crypto'
import { ok } from '../schemas/failures.ts'
import type { Dialect, TextRequest } from '../schemas/inference/text-request.ts'
import type {
  NoAnswer,
  NativeAnswer,
  NativeHead,
  ReadAnswer,
  WholeRead,
  JoinedAnswer,
  ShownUsage,
} from './parts.ts'
import { usageBetween } from './usage.ts'
import { bytesOf, joined } from '../schemas/values/json-bytes.ts'
import { withoutMarks } from '../schemas/values/long-integers.ts'
import { WholeChat } from './chat/answer.ts'
import { WholeMessage } from './messages/answer.ts'
import { WholeResponse } from './responses/answer.ts'
import type { TextHead, WholeText } from './answers.ts'
import type { NativeDialect } from './native.ts'
import { chatRequest } from './chat/native-request.ts'
import { readChatAnswer } from './chat/whole.ts'
import { readMessageAnswer } from './messages/whole.ts'
import { NativeMessagesStream } from './messages/stream.ts'
import { readResponse } from './responses/whole.ts'
import { NativeResponsesStream } from './responses/stream.ts'
import { responsesRequest } from './responses/native-request.ts'
import { messagesRequest } from './messages/native-request.ts'
import { NativeChatStream } from './chat/stream.ts'

interface Unread {
  readonly dialect: Dialect
  readonly answer: Uint8Array
  readonly head: NativeHead
}

/** The usual cause is a wrong `base_url`. */
function noAnswer(dialect: Dialect): NoAnswer {
  return {
    ok: false,
    failure: { name: 'upstream_invalid', detail: `The provider's answer is not in the ${dialect} format.` },
  }
}

/**
 * Reads a whole answer by one walk over its bytes on the calling thread, about 3 ms for each MiB. The pieces
 * of the answer are parts of `body`. Failure: upstream_invalid, for a body that is not an answer in the
 * dialect.
 */
export function nativeAnswer(dialect: Dialect, body: Uint8Array, head: NativeHead): WholeRead<NativeAnswer> {
  const read = readAs(dialect, body, head)
  if (!read.ok) return read
  const { pieces, ...figures } = read.value
  return ok({ withUsage: (shown) => usageBetween(pieces, shown), ...figures })
}

/** As `nativeAnswer`, on a worker thread, which returns the answer in one piece. */
export function joinedAnswer({ dialect, answer, head }: Unread): JoinedAnswer {
  const read = readAs(dialect, answer, head)
  if (!read.ok) return read
  const { pieces, ...figures } = read.value
  const { before, usageMembers, after } = pieces
  return {
    ok: true,
    ...figures,
    answer: joined([...before, ...(usageMembers ?? []), ...after]),
    beforeBytes: bytesOf(before),
    usageBytes: usageMembers === null ? null : bytesOf(usageMembers),
  }
}

/** Converts the result of the worker thread to that of `nativeAnswer`. */
export function answerOfJob(out: JoinedAnswer): WholeRead<NativeAnswer> {
  if (!out.ok) return out
  const { ok: _, answer, beforeBytes, usageBytes, ...figures } = out
  const afterAt = beforeBytes + (usageBytes ?? 0)
  const pieces = {
    before: [answer.subarray(0, beforeBytes)],
    usageMembers: usageBytes === null ? null : [answer.subarray(beforeBytes, afterAt)],
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

export type WholeTextOf = (head: TextHead, asked: Pick<TextRequest, 'isEncryptedAsked'>) => WholeText

export const WHOLE_TEXTS: Readonly<Record<Dialect, WholeTextOf>> = {
  chat: (head) => new WholeChat(head),
  responses: (head, asked) => new WholeResponse(head, asked),
  messages: (head) => new WholeMessage(head),
}

/** Placeholder for the usage; random, so that callers and providers cannot send the same text. */
const PLACE = JSON.stringify(randomUUID())

/** JSON of an answer before and after the place of its usage, which is not known yet. @param shown members outside the usage */
export function aroundUsage(
  text: WholeText,
  shown: Pick<ShownUsage, 'tier'> = {},
): { readonly before: string; readonly after: string } {
  const json = withoutMarks(JSON.stringify(text.answer({ whole: PLACE, added: null, ...shown })))
  const at = json.indexOf(PLACE)
  return { before: json.slice(0, at), after: json.slice(at + PLACE.length) }
}

/** The dialects that callers and providers share. */
export const NATIVE_DIALECTS: Readonly<Record<Dialect, NativeDialect>> = {
  chat: {
    path: '/chat/completions',
    request: chatRequest,
    stream: (head, failureOf) => new NativeChatStream(head, failureOf),
    answer: readChatAnswer,
  },
  responses: {
    path: '/responses',
    request: responsesRequest,
    stream: (head, failureOf) => new NativeResponsesStream(head, failureOf),
    answer: readResponse,
  },
  messages: {
    path: '/messages',
    countPath: '/messages/count_tokens',
    request: messagesRequest,
    stream: (head, failureOf) => new NativeMessagesStream(head, failureOf),
    answer: readMessageAnswer,
  },
}
