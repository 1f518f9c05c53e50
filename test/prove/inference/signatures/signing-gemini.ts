/** Gemini with thought signatures, which have to come back on the parts that it gave them on. */
import { SIGNATURE_FORMATS } from '../../../../src/dialects/prompt/signatures.ts'
import { bodyOf } from '../../../support/inference/fake-chat.ts'
import type { FakeAnswer } from '../../../support/inference/fake-provider.ts'
import {
  answersGemini,
  geminiSigned,
  refusesGemini,
  type GeminiWords,
} from '../../../support/inference/gemini/fake-gemini.ts'
import type { GeminiContent } from '../../../support/inference/gemini/gemini-contents-rules.ts'
import {
  SKIPPED,
  signedOf,
  wrongGemini,
  type GivenSignatures,
} from '../../../support/inference/gemini/gemini-rules.ts'
import type { IssuedSignatures, SeenSignature } from './issued.ts'
import { placeIn, stepAt, type ModelStep } from './steps.ts'

const FORMAT = SIGNATURE_FORMATS.gemini

/** @param by slug of the model */
export function signingGemini(by: string, issued: IssuedSignatures): FakeAnswer {
  return (call, reply) => {
    const body = bodyOf(call)
    const { contents = [] } = body as { readonly contents?: readonly GeminiContent[] }
    const wrong =
      wrongGemini(body, call.path, issued.givenIn(FORMAT)) ?? issued.wrongIn(signaturesIn(contents), by)
    if (wrong !== null) return refusesGemini(400, { message: wrong })(call, reply)
    const words = wordsOf(stepAt(placeIn(call.body.toString()), issued.mark(by)))
    const given: GivenSignatures = new Map()
    geminiSigned(words, given)
    for (const [signature, of] of given) issued.add(by, { signature, of, format: FORMAT })
    return answersGemini(words)(call, reply)
  }
}

function wordsOf({ mark, thought, text, calls }: ModelStep): GeminiWords {
  const words = text === null ? [] : [text.slice(0, 4), text.slice(4)]
  return { words, thoughts: [thought.slice(0, 4), thought.slice(4)], calls, more: { responseId: mark } }
}

function signaturesIn(contents: readonly GeminiContent[]): readonly SeenSignature[] {
  return contents.flatMap(({ parts = [] }) =>
    parts.flatMap((part) => {
      const { thoughtSignature: signature } = part
      if (signature === undefined || signature === SKIPPED) return []
      return { signature: String(signature), of: signedOf(part), format: FORMAT }
    }),
  )
}
