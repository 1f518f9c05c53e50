/** What Google refuses in a request for an answer, or for a count of its tokens. */
import { isThirdModel, wrongConfig, wrongTools } from './gemini-config-rules.ts'
import { wrongContents, wrongParts, type GeminiContent, type GeminiPart } from './gemini-contents-rules.ts'
import { unknownName } from './gemini-shapes.ts'

type Members = Readonly<Record<string, unknown>>

/** Takes the place of a signature in steps that another model made. */
export const SKIPPED = 'skip_thought_signature_validator'

/** Signatures that a provider has given, each with what it was given for. */
export type GivenSignatures = Map<string, string>

/** What a signature is given for. */
export function signedOf({ functionCall: call }: GeminiPart): string {
  return call === undefined ? 'text' : JSON.stringify([call.name, call.args])
}

/**
 * @param path of the request, which names the model
 * @param given absent: signatures are not looked at
 * @returns the provider's message; null: nothing is wrong
 */
export function wrongGemini(body: Members, path: string, given?: GivenSignatures): string | null {
  const [, model = '', verb] = /\/models\/([^/:]+):(\w+)/.exec(decodeURIComponent(path)) ?? []
  const isCount = verb === 'countTokens'
  const unknown = unknownName(body, isCount)
  if (unknown !== null) return unknown
  const inner = body['generateContentRequest'] as Members | undefined
  if (inner !== undefined && inner['model'] !== `models/${model}`)
    return `* CountTokensRequest.generate_content_request.model: unexpected model name format`
  const request = inner ?? body
  const contents = request['contents'] as readonly GeminiContent[] | undefined
  const system = request['systemInstruction'] as GeminiContent | undefined
  return (
    (system === undefined ? null : wrongParts(system, 'system_instruction')) ??
    wrongContents(contents) ??
    wrongTools(request) ??
    wrongConfig(request, model) ??
    (given === undefined || contents === undefined ? null : wrongSignatures(contents, model, given))
  )
}

function wrongSignatures(
  contents: readonly GeminiContent[],
  model: string,
  given: GivenSignatures,
): string | null {
  const current = contents.findLastIndex((content) => isStated(content))
  for (const [at, { role, parts = [] }] of contents.entries()) {
    if (role !== 'model') continue
    for (const part of parts) {
      const { thoughtSignature: signature } = part
      if (signature === undefined || signature === SKIPPED) continue
      if (given.get(String(signature)) !== signedOf(part)) return 'Thought signature is not valid.'
    }
    const call = parts.find(({ functionCall }) => functionCall !== undefined)
    const isBare = call !== undefined && call.thoughtSignature === undefined
    if (isBare && (wasGiven(call, given) || (at > current && isThirdModel(model))))
      return `Function call \`${String(call.functionCall?.name)}\` in the ${at}. content block is missing a \`thought_signature\`.`
  }
  return null
}

function wasGiven(call: GeminiPart, given: GivenSignatures): boolean {
  return [...given.values()].includes(signedOf(call))
}

/** The user says something, and a turn begins. */
function isStated({ role, parts = [] }: GeminiContent): boolean {
  return role === 'user' && parts.some(({ functionResponse }) => functionResponse === undefined)
}
