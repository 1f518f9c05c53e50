import assert from 'node:assert/strict'
import fc from 'fast-check'
import t from 'tap'
import type { TSchema } from 'typebox'
import Value from 'typebox/value'
import { ChatBody } from '../../../src/schemas/inference/chat.ts'
import { PROMPT_WRITERS } from '../../../src/dialects/writers.ts'
import { MessagesBody } from '../../../src/schemas/inference/messages.ts'
import { ResponsesBody } from '../../../src/schemas/inference/responses.ts'
import { DIALECTS, type Dialect } from '../../../src/schemas/inference/text-request.ts'
import { chatBodies } from '../../support/inference/bodies/chat-bodies.ts'
import { messageBodies } from '../../support/inference/bodies/message-bodies.ts'
import { responseBodies } from '../../support/inference/bodies/response-bodies.ts'
import { ALL_TERMS, roundTrip } from '../../support/inference/bodies/same-prompt.ts'
import type { Body } from '../../support/inference/bodies/body-values.ts'
import { PROMPT_READERS } from '../../../src/dialects/translate.ts'

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
const numRuns = 80

for (const dialect of DIALECTS)
  t.test(`a prompt of ${dialect} that is written as ${dialect} reads back as the same prompt`, (t) => {
    fc.assert(
      fc.property(BODIES[dialect], (body) => {
        assert.ok(Value.Check(SCHEMAS[dialect], body), 'the body has passed the schema')
        const { before, after, others } = roundTrip(dialect, body)
        assert.deepEqual(others, [], 'the form carries all of it')
        assert.deepEqual(after, before)
      }),
      { numRuns },
    )
    t.end()
  })

for (const dialect of DIALECTS)
  for (const protocol of DIALECTS)
    t.test(`a prompt of ${dialect} becomes a valid one of ${protocol}`, (t) => {
      fc.assert(
        fc.property(BODIES[dialect], fc.boolean(), fc.boolean(), (body, isStrict, isMaker) => {
          const terms = { ...ALL_TERMS, isStrict, isMaker, signatureFormats: [] }
          const { body: written } = PROMPT_WRITERS[protocol](PROMPT_READERS[dialect](body), terms)
          assert.ok(Value.Check(SCHEMAS[protocol], written), JSON.stringify(written))
        }),
        { numRuns },
      )
      t.end()
    })
