import assert from 'node:assert/strict'
import fc from 'fast-check'
import t from 'tap'
import type { TSchema } from 'typebox'
import Value from 'typebox/value'
import { ChatBody } from '../../../../src/schemas/inference/chat.ts'
import { PROMPT_READERS } from '../../../../src/schemas/inference/forms/prompt-readers.ts'
import { PROMPT_WRITERS } from '../../../../src/schemas/inference/forms/prompt-writers.ts'
import type { Prompt } from '../../../../src/schemas/inference/forms/prompt.ts'
import type { WriteTerms } from '../../../../src/schemas/inference/forms/write-terms.ts'
import { MessagesBody } from '../../../../src/schemas/inference/messages.ts'
import { ResponsesBody } from '../../../../src/schemas/inference/responses.ts'
import { DIALECTS, type Dialect } from '../../../../src/schemas/inference/text-request.ts'
import { chatBodies } from '../../../support/inference/bodies/chat-bodies.ts'
import { messageBodies } from '../../../support/inference/bodies/message-bodies.ts'
import { responseBodies } from '../../../support/inference/bodies/response-bodies.ts'
import type { Body } from '../../../support/inference/bodies/body-values.ts'

const BODIES: Readonly<Record<Dialect, fc.Arbitrary<Body>>> = {
  chat: chatBodies,
  responses: responseBodies,
  messages: messageBodies,
}
const SCHEMAS: Readonly<Record<Dialect, TSchema>> = {
  chat: ChatBody,
  responses: ResponsesBody,
  messages: MessagesBody,
}
const ALL_FORMATS = [
  'openai-responses-v1',
  'anthropic-claude-v1',
  'google-gemini-v1',
  'xai-responses-v1',
  'unknown',
]
const TERMS: WriteTerms = {
  upstreamModel: 'claude-opus-4-6',
  tokensMax: null,
  isStrict: false,
  isMaker: false,
  signatureFormats: ALL_FORMATS,
}
const numRuns = 200

/** Places in a body are those of another one after a round trip. */
const NOT_CARRIED: ReadonlySet<string> = new Set(['path', 'others'])
const carriedOf = (prompt: Prompt): unknown =>
  JSON.parse(JSON.stringify(prompt, (name, one: unknown) => (NOT_CARRIED.has(name) ? undefined : one)))

for (const dialect of DIALECTS)
  t.test(`a prompt of ${dialect} that is written as ${dialect} reads as the same prompt`, (t) => {
    fc.assert(
      fc.property(BODIES[dialect], (body) => {
        assert.ok(Value.Check(SCHEMAS[dialect], body), 'the body has passed the schema')
        const prompt = PROMPT_READERS[dialect](body)
        // The place of a message that says nothing is none.
        const others = prompt.others.filter(({ name }) => name !== 'cache_control')
        assert.deepEqual(others, [], 'the form carries all of it')
        const { body: written } = PROMPT_WRITERS[dialect](prompt, TERMS)
        assert.deepEqual(carriedOf(PROMPT_READERS[dialect](written)), carriedOf(prompt))
      }),
      { numRuns },
    )
    t.end()
  })

for (const dialect of DIALECTS)
  for (const protocol of DIALECTS)
    t.test(`what ${dialect} asks is written as ${protocol} has it`, (t) => {
      fc.assert(
        fc.property(BODIES[dialect], fc.boolean(), fc.boolean(), (body, isStrict, isMaker) => {
          const terms = { ...TERMS, isStrict, isMaker, signatureFormats: [] }
          const { body: written } = PROMPT_WRITERS[protocol](PROMPT_READERS[dialect](body), terms)
          assert.ok(Value.Check(SCHEMAS[protocol], written), JSON.stringify(written))
        }),
        { numRuns },
      )
      t.end()
    })
