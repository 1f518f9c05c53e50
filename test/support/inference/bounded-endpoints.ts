/** Endpoints with prices, and calls whose cost is bounded. D25. */
import type { Endpoint, EndpointText } from '../../../src/server/ports/models/models.ts'
import type { TextBoundInput } from '../../../src/server/upstream/inference/bounds.ts'

/** 1,000 nano-USD for a token of the input, 2,000 for a token of the output. */
const TEXT: EndpointText = {
  speaks: ['chat'],
  isStrict: false,
  onLeave: 'cancel',
  firstOutputMs: 1,
  stallMs: 1,
  completionNanoPerMillion: 2_000_000_000,
  cacheReadNanoPerMillion: 1_000_000_000,
  cacheWriteNanoPerMillion: 1_000_000_000,
  cacheWriteHourNanoPerMillion: 1_000_000_000,
  reasoningNanoPerMillion: 2_000_000_000,
  inputNanoPerMillionMax: 1_000_000_000,
  outputNanoPerMillionMax: 2_000_000_000,
  maxCompletionTokens: null,
}

export function at(text: Partial<EndpointText> = {}, facts: Partial<Endpoint> = {}): { endpoint: Endpoint } {
  return {
    endpoint: {
      tag: 'acme/m',
      promptNanoPerMillion: 1_000_000_000,
      requestNano: 0,
      isUnpriced: false,
      contextLength: null,
      text: { ...TEXT, ...text },
      ...facts,
    } as Endpoint,
  }
}

export const ASKED: TextBoundInput = {
  dialect: 'chat',
  promptBytes: 100,
  messages: 0,
  tools: 0,
  hasFormat: false,
  serverTools: null,
  media: 0,
  hasLongMedia: false,
  hasStored: false,
  tokensMax: 10,
  choices: 1,
  dearMember: null,
}
