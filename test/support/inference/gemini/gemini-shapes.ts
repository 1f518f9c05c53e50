/** The members of Google's requests, and what its parser of JSON says of others. */

/** `null`: any value. A list has the shape of its entries. */
type Shape = null | readonly [Shape] | { readonly [name: string]: Shape }

const BLOB: Shape = { mimeType: null, data: null, displayName: null }
const FILE: Shape = { mimeType: null, fileUri: null, displayName: null }
const PART: Shape = {
  ...{ text: null, thought: null, thoughtSignature: null, inlineData: BLOB, fileData: FILE },
  functionCall: { id: null, name: null, args: null },
  functionResponse: {
    ...{ id: null, name: null, response: null, willContinue: null, scheduling: null },
    parts: [{ inlineData: BLOB }],
  },
  ...{ executableCode: null, codeExecutionResult: null, videoMetadata: null, mediaResolution: null },
}
const CONTENT: Shape = { role: null, parts: [PART] }
const FUNCTION: Shape = {
  ...{ name: null, description: null, behavior: null, parameters: null, parametersJsonSchema: null },
  ...{ response: null, responseJsonSchema: null },
}
const CONFIG: Shape = {
  ...{ candidateCount: null, stopSequences: null, maxOutputTokens: null, temperature: null, topP: null },
  ...{ topK: null, seed: null, presencePenalty: null, frequencyPenalty: null, responseLogprobs: null },
  ...{ logprobs: null, responseMimeType: null, responseSchema: null, responseJsonSchema: null },
  ...{ responseModalities: null, speechConfig: null, imageConfig: null, mediaResolution: null },
  thinkingConfig: { includeThoughts: null, thinkingBudget: null, thinkingLevel: null },
}
const REQUEST: Shape = {
  systemInstruction: CONTENT,
  contents: [CONTENT],
  tools: [{ functionDeclarations: [FUNCTION], googleSearch: null, codeExecution: null, urlContext: null }],
  toolConfig: { functionCallingConfig: { mode: null, allowedFunctionNames: null }, retrievalConfig: null },
  generationConfig: CONFIG,
  ...{ safetySettings: null, cachedContent: null, service_tier: null },
}
const COUNT: Shape = { contents: [CONTENT], generateContentRequest: { ...REQUEST, model: null } }

/** What Google says of the first member that it does not know; null: it knows all of them. */
export function unknownName(body: unknown, isCount: boolean): string | null {
  const found = firstUnknown(body, isCount ? COUNT : REQUEST, '')
  if (found === null) return null
  const [path, name] = found
  const at = path === '' ? '' : ` at '${path}'`
  return `Invalid JSON payload received. Unknown name "${name}"${at}: Cannot find field.`
}

function firstUnknown(value: unknown, shape: Shape, path: string): readonly [string, string] | null {
  if (shape === null || value === null || typeof value !== 'object') return null
  if (isList(shape)) {
    const entries: readonly unknown[] = Array.isArray(value) ? value : []
    return first(entries.map((entry, at) => firstUnknown(entry, shape[0], `${path}[${at}]`)))
  }
  const members = Object.entries(value)
  const unknown = members.find(([name]) => !Object.hasOwn(shape, name))
  if (unknown !== undefined) return [path, unknown[0]]
  const below = path === '' ? '' : `${path}.`
  return first(members.map(([name, member]) => firstUnknown(member, shape[name] ?? null, below + name)))
}

function isList(shape: Shape): shape is readonly [Shape] {
  return Array.isArray(shape)
}

function first<T>(found: readonly (T | null)[]): T | null {
  return found.find((one) => one !== null) ?? null
}
