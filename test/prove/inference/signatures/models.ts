/** Models that sign their reasoning: one of each protocol, and three at a server of chat. */
import { SIGNATURE_FORMATS } from '../../../../src/dialects/prompt/signatures.ts'
import type { ProtocolModel } from '../protocols/protocol-front.ts'
import type { IssuedSignatures } from './issued.ts'
import { ROUTED, signingChat } from './signing-chat.ts'
import { signingGemini } from './signing-gemini.ts'
import { signingMessages } from './signing-messages.ts'
import { signingResponses } from './signing-responses.ts'
import type { TextProtocol } from '../../../../src/schemas/models/protocols.ts'

export interface SigningModel extends ProtocolModel {
  /** The one format that its provider takes; null: it sorts formats itself. */
  readonly format: string | null
}

export function modelsOf(issued: IssuedSignatures): readonly SigningModel[] {
  const made = (
    protocol: Exclude<TextProtocol, 'chat'>,
    slug: string,
    more: Pick<SigningModel, 'upstreamModel' | 'answer'>,
  ): SigningModel => ({ slug, protocol, format: SIGNATURE_FORMATS[protocol], ...more })
  return [
    // It takes budgets, and asks for a thought at the begin of each step.
    made('messages', 'claude', {
      upstreamModel: 'claude-sonnet-4-5',
      answer: signingMessages('claude', issued),
    }),
    // The slug of the maker, whose API is strict.
    made('responses', 'openai', { upstreamModel: 'gpt-5', answer: signingResponses('openai', issued) }),
    made('gemini', 'gemini', { upstreamModel: 'gemini-3.1-pro', answer: signingGemini('gemini', issued) }),
    ...ROUTED.map((slug) => ({
      ...{ slug, protocol: 'chat' as const, format: null, upstreamModel: slug },
      answer: signingChat(issued),
    })),
  ]
}
