/** What Google refuses in the contents of a request. */

export interface GeminiPart {
  readonly text?: unknown
  readonly thought?: unknown
  readonly thoughtSignature?: unknown
  readonly inlineData?: { readonly mimeType?: unknown; readonly data?: unknown }
  readonly fileData?: { readonly fileUri?: unknown }
  readonly functionCall?: { readonly name?: unknown; readonly args?: unknown }
  readonly functionResponse?: { readonly name?: unknown; readonly response?: unknown }
}

export interface GeminiContent {
  readonly role?: unknown
  readonly parts?: readonly GeminiPart[]
}

const DATA = ['text', 'inlineData', 'fileData', 'functionCall', 'functionResponse'] as const
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/

/** @returns the provider's message; null: nothing is wrong */
export function wrongContents(contents: readonly GeminiContent[] | undefined): string | null {
  if (contents === undefined || contents.length === 0)
    return '* GenerateContentRequest.contents: contents is not specified'
  for (const [at, content] of contents.entries()) {
    const wrong = wrongContent(content, `contents[${at}]`) ?? wrongOrder(contents, at)
    if (wrong !== null) return wrong
  }
  return null
}

/** @param path of the content */
export function wrongParts({ parts = [] }: GeminiContent, path: string): string | null {
  if (parts.length === 0) return `* GenerateContentRequest.${path}.parts: contents.parts must not be empty.`
  for (const [at, part] of parts.entries()) {
    const wrong = wrongPart(part, `${path}.parts[${at}]`)
    if (wrong !== null) return wrong
  }
  return null
}

function wrongContent(content: GeminiContent, path: string): string | null {
  if (content.role !== 'user' && content.role !== 'model') return 'Please use a valid role: user, model.'
  const { parts = [] } = content
  if (content.role === 'user' && parts.some(({ functionCall }) => functionCall !== undefined))
    return 'Function calls are made by the model.'
  if (content.role === 'model' && parts.some(({ functionResponse }) => functionResponse !== undefined))
    return 'Function responses are given by the user.'
  return wrongParts(content, path)
}

function wrongPart(part: GeminiPart, path: string): string | null {
  const held = DATA.filter((name) => part[name] !== undefined)
  const isEmpty = part.text === '' && part.thoughtSignature === undefined
  if (held.length !== 1 || isEmpty)
    return `* GenerateContentRequest.${path}.data: required oneof field 'data' must have one initialized field`
  const { inlineData: blob, fileData: file, functionCall: call, functionResponse: response } = part
  if (part.text !== undefined && typeof part.text !== 'string') return `Invalid value at '${path}.text'`
  if (blob !== undefined && !(typeof blob.mimeType === 'string' && /^\w+\/[\w.+-]+$/.test(blob.mimeType)))
    return `Unsupported MIME type: ${String(blob.mimeType)}`
  if (blob !== undefined && !(typeof blob.data === 'string' && BASE64.test(blob.data)))
    return `Invalid value at '${path}.inline_data.data' (TYPE_BYTES), Base64 decoding failed`
  if (file !== undefined && typeof file.fileUri !== 'string') return `Invalid value at '${path}.file_data'`
  const named = call ?? response
  if (named !== undefined && !(typeof named.name === 'string' && named.name !== ''))
    return `* GenerateContentRequest.${path}: Name cannot be empty.`
  const struct = call === undefined ? response?.response : call.args
  const isStruct = typeof struct === 'object' && struct !== null && !Array.isArray(struct)
  return named === undefined || isStruct ? null : `Invalid value at '${path}' (type.googleapis.com/Struct)`
}

function wrongOrder(contents: readonly GeminiContent[], at: number): string | null {
  const [before, content, after] = [contents[at - 1], contents[at], contents[at + 1]]
  if (before !== undefined && before.role === content?.role)
    return 'Please ensure that multiturn requests alternate between user and model.'
  const calls = namesOf(content, 'functionCall')
  if (calls.length > 0 && before === undefined)
    return 'Please ensure that function call turn comes immediately after a user turn or after a function response turn.'
  const responses = namesOf(content, 'functionResponse')
  if (responses.length > 0 && namesOf(before, 'functionCall').length === 0)
    return 'Please ensure that function response turn comes immediately after a function call turn.'
  if (calls.length === 0) return null
  const answers = namesOf(after, 'functionResponse')
  if (answers.length !== calls.length)
    return 'Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.'
  return calls.every((name, nth) => name === answers[nth])
    ? null
    : 'Please ensure that the function responses have the names of the function calls.'
}

function namesOf(
  content: GeminiContent | undefined,
  member: 'functionCall' | 'functionResponse',
): readonly unknown[] {
  return (content?.parts ?? []).flatMap((part) => (part[member] === undefined ? [] : [part[member].name]))
}
