import { OTHERS_MAX } from '../../../../dialects/others.ts'
import { providerBody } from '../../../../schemas/inference/provider-body.ts'
import { foreignEdits } from '../../../../dialects/foreign-parts.ts'
import type { NativeAsked, NativeDialect, NativeRequest, NativeTerms } from '../../../../dialects/native.ts'
import { readMessageAnswer } from '../../../../dialects/messages/whole.ts'
import { NativeMessagesStream } from '../../../../dialects/messages/stream.ts'

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
  stream: (head, failureOf) => new NativeMessagesStream(head, failureOf),
  answer: readMessageAnswer,
}

/**
 * The bytes of a message for a provider that speaks messages. The caller has always named a maximum of
 * tokens, so that none is added. D4, D25.
 */
export function messagesRequest<H>(
  { request: { source }, passedHeaders = [], foreign, contents }: NativeAsked<H>,
  { own }: Pick<NativeTerms, 'own'>,
): NativeRequest<H> {
  const version = passedHeaders.includes(VERSION) ? [] : VERSION_HEADER
  return {
    body: providerBody(source, [...foreignEdits(source, foreign), ...contents], own),
    dropped: [],
    headers: [...version, ...passedHeaders],
  }
}
