import type { NativeAsked, NativeRequest, NativeTerms } from '../native.ts'
import { OTHERS_MAX } from '../prompt/others.ts'
import { providerBody } from '../../schemas/inference/provider-body.ts'
import { foreignEdits } from '../foreign-parts.ts'

const VERSION = 'anthropic-version'

/** Version header for callers that send none, as a list of name and value. */
export const VERSION_HEADER: readonly string[] = [VERSION, '2023-06-01']

const BETA = 'anthropic-beta'

/** Beta features that the caller requests and that are not sent to an endpoint of another protocol. */
export function unsentBetas(passedHeaders: readonly string[] = []): readonly string[] {
  const at = passedHeaders.indexOf(BETA)
  if (at < 0) return []
  const names = (passedHeaders[at + 1] ?? '').split(',').map((name) => name.trim().replace(/[^\w.-]/g, '_'))
  return [...new Set(names)].slice(0, OTHERS_MAX).map((name) => `${BETA}.${name}`)
}

/**
 * The bytes of a message for a provider that speaks messages. The caller must name a maximum of tokens, so
 * none is added.
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
