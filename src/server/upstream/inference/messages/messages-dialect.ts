import { OTHERS_MAX } from '../../../../schemas/inference/forms/others.ts'
import { providerBody } from '../../../../schemas/inference/provider-body.ts'
import type { Endpoint } from '../../../ports/models/models.ts'
import { foreignEdits } from '../foreign-parts.ts'
import { fileEdits } from '../inline/file-edits.ts'
import type { NativeDialect, NativeJob, NativeRequest } from '../protocol.ts'
import { ownEdits } from '../request-edits.ts'
import { readMessageAnswer } from './message-answer.ts'
import { NativeMessagesStream } from './native-messages-stream.ts'

const VERSION = 'anthropic-version'
/** For callers that name none, as a list of name and value. D4. */
export const VERSION_HEADER: readonly string[] = [VERSION, '2023-06-01']

const BETA = 'anthropic-beta'

/** Features that a caller of messages asks for and an endpoint of another form does not get. D6. */
export function unsentBetas(passedHeaders: readonly string[] = []): readonly string[] {
  const at = passedHeaders.indexOf(BETA)
  if (at < 0) return []
  const names = (passedHeaders[at + 1] ?? '').split(',').map((name) => name.trim().replace(/[^\w.-]/g, '_'))
  return [...new Set(names)].slice(0, OTHERS_MAX).map((name) => `${BETA}.${name}`)
}

/** Anthropic's `POST /messages`. */
export const MESSAGES: NativeDialect = {
  path: '/messages',
  countPath: '/messages/count_tokens',
  request: messagesRequest,
  stream: (head, redacted) => new NativeMessagesStream(head, redacted),
  answer: readMessageAnswer,
}

/**
 * The bytes of a message for a provider that speaks messages. The caller has always named a maximum of
 * tokens, so that none is added. D4, D25.
 */
export function messagesRequest(
  { request: { source }, files, passedHeaders = [], foreign }: NativeJob,
  endpoint: Pick<Endpoint, 'upstreamModel'>,
): NativeRequest {
  const version = passedHeaders.includes(VERSION) ? [] : VERSION_HEADER
  const edits = [...foreignEdits(source, foreign), ...fileEdits(source, files)]
  return {
    body: providerBody(source, edits, ownEdits(endpoint)),
    dropped: [],
    headers: [...version, ...passedHeaders],
  }
}
