/** Endpoints of each protocol that refuse what its maker refuses. */
import type { WriteTerms } from '../../../../../src/dialects/prompt/write-terms.ts'
import { SIGNATURE_FORMATS } from '../../../../../src/dialects/prompt/signatures.ts'
import { answersChat, refusesChat } from '../../../../support/inference/fake-chat.ts'
import { answersMessages } from '../../../../support/inference/fake-messages.ts'
import type { FakeAnswer } from '../../../../support/inference/fake-provider.ts'
import { answersResponses } from '../../../../support/inference/fake-responses.ts'
import { answersGemini } from '../../../../support/inference/gemini/fake-gemini.ts'
import { wrongGemini } from '../../../../support/inference/gemini/gemini-rules.ts'
import { wrongChat } from '../../../../support/inference/strict/chat-rules.ts'
import { wrongMessages } from '../../../../support/inference/strict/messages-rules.ts'
import { wrongResponses } from '../../../../support/inference/strict/responses-rules.ts'
import type { Members } from '../../../../support/inference/strict/rules.ts'
import type { TextProtocol } from '../../../../../src/schemas/models/protocols.ts'

export interface Target {
  readonly models: readonly string[]
  /** @returns the provider's message; null: it takes the request */
  wrongOf(body: Members, model: string): string | null
  readonly answers: FakeAnswer
}

export const TARGETS: Readonly<Record<TextProtocol, Target>> = {
  chat: { models: ['gpt-5'], wrongOf: wrongChat, answers: answersChat() },
  responses: { models: ['gpt-5'], wrongOf: wrongResponses, answers: answersResponses() },
  messages: {
    models: ['claude-opus-4-6', 'claude-sonnet-4-5', 'claude-3-5-haiku', 'claude-opus-4-7'],
    wrongOf: wrongMessages,
    answers: answersMessages(),
  },
  gemini: {
    models: ['gemini-2.5-flash', 'gemini-2.5-pro', 'gemini-3.1-pro', 'gemini-2.0-flash'],
    wrongOf: (body, model) => wrongGemini(body, `/v1/models/${model}:generateContent`),
    answers: answersGemini(),
  },
}

/** @param random a whole number from 0 to below its argument */
export function termsFor(protocol: TextProtocol, random: (below: number) => number): WriteTerms {
  const { models } = TARGETS[protocol]
  const own = protocol === 'chat' ? 'unknown' : SIGNATURE_FORMATS[protocol]
  return {
    upstreamModel: models[random(models.length)] ?? '',
    tokensMax: null,
    isStrict: protocol === 'chat' || protocol === 'responses',
    isMaker: random(2) === 0,
    signatureFormats: random(4) === 0 ? [] : [own],
  }
}

/** Refuses what the rules of the protocol refuse. @param modelOf the request's path */
export function strictAnswers(protocol: TextProtocol): FakeAnswer {
  const { wrongOf, answers } = TARGETS[protocol]
  return (call, reply) => {
    const [, model = ''] = /\/models\/([^/:]+):/.exec(decodeURIComponent(call.path)) ?? []
    const wrong = wrongOf(JSON.parse(call.body.toString()) as Members, model)
    return wrong === null ? answers(call, reply) : refusesChat(400, { message: wrong })(call, reply)
  }
}

/** Whether a JSON pointer names something in a body. */
export function isThere(body: unknown, pointer: string): boolean {
  let at = body
  for (const name of pointer.split('/').slice(1)) {
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, name)) return false
    at = (at as Readonly<Record<string, unknown>>)[name]
  }
  return true
}

/** The body without a member; a text replaces a part. */
export function without(body: Members, pointer: string): Members {
  const made = structuredClone(body) as Record<string, unknown>
  const names = pointer.split('/').slice(1)
  const last = names.pop() ?? ''
  const holder = names.reduce<unknown>((at, name) => Reflect.get(at as object, name), made) as object
  if (Array.isArray(holder))
    Reflect.set(holder, last, { type: 'input' in body ? 'input_text' : 'text', text: 'x' })
  else Reflect.deleteProperty(holder, last)
  return made
}
