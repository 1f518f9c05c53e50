/** Requests of callers, written for Gemini and judged by what Google refuses. */
import assert from 'node:assert/strict'
import fc from 'fast-check'
import t from 'tap'
import { writeGemini, writeGeminiCount } from '../../../src/dialects/gemini/write-request.ts'
import { DIALECTS, type Dialect } from '../../../src/schemas/inference/text-request.ts'
import { chatBodies } from '../../support/inference/bodies/chat-bodies.ts'
import { messageBodies } from '../../support/inference/bodies/message-bodies.ts'
import { responseBodies } from '../../support/inference/bodies/response-bodies.ts'
import type { Body } from '../../support/inference/bodies/body-values.ts'
import { wrongGemini } from '../../support/inference/gemini/gemini-rules.ts'
import { TERMS } from '../../support/inference/prompts.ts'
import { PROMPT_READERS } from '../../../src/dialects/translate.ts'

const BODIES: Readonly<Record<Dialect, fc.Arbitrary<Body>>> = {
  chat: chatBodies,
  responses: responseBodies,
  messages: messageBodies,
}
const MODELS = fc.constantFrom('gemini-2.5-pro', 'gemini-2.5-flash', 'gemini-3.1-pro', 'gemini-3-flash')

/** Faults of the caller's own: nothing was said, calls without results, names that no provider takes. */
const OWN_FAULTS =
  /contents is not specified|number of function response parts|function name|Duplicate|undeclared|Name cannot/

const sent = (body: object): Readonly<Record<string, unknown>> =>
  JSON.parse(JSON.stringify(body)) as Readonly<Record<string, unknown>>

for (const dialect of DIALECTS)
  t.test(`a prompt of ${dialect} is either valid for Google or refused`, (t) => {
    let written = 0
    fc.assert(
      fc.property(BODIES[dialect], MODELS, (body, upstreamModel) => {
        const prompt = PROMPT_READERS[dialect](body)
        const terms = { ...TERMS, upstreamModel }
        const { body: made, refused } = writeGemini(prompt, terms)
        const wrong = wrongGemini(sent(made), `/models/${upstreamModel}:generateContent`)
        if (refused.length > 0 || OWN_FAULTS.test(wrong ?? '')) return
        written++
        assert.equal(wrong, null)
        const { body: counted } = writeGeminiCount(prompt, terms)
        assert.equal(wrongGemini(sent(counted), `/models/${upstreamModel}:countTokens`), null)
      }),
      { numRuns: 600 },
    )
    t.ok(written > 20, `${written} written`)
    t.end()
  })
