/** What Google refuses in the functions and the configuration of a request. */

type Members = Readonly<Record<string, unknown>>

const NAME = /^[a-zA-Z_][\w.:-]{0,127}$/
const LEVELS: readonly unknown[] = ['MINIMAL', 'LOW', 'MEDIUM', 'HIGH']
const MODES: readonly unknown[] = ['AUTO', 'NONE', 'ANY', 'VALIDATED']
/** Each with its smallest and largest value; a third entry: whole numbers alone. */
const NUMBERS: Readonly<Record<string, readonly [number, number, 'whole'?]>> = {
  temperature: [0, 2],
  topP: [0, 1],
  topK: [1, 1_000, 'whole'],
  maxOutputTokens: [1, 2 ** 31 - 1, 'whole'],
  seed: [-(2 ** 31), 2 ** 31 - 1, 'whole'],
  presencePenalty: [-2, 2],
  frequencyPenalty: [-2, 2],
}
/** Tokens of thinking by the name of the model. */
const BUDGETS: readonly (readonly [RegExp, number, number])[] = [
  [/^gemini-2\.5.*-pro/, 128, 32_768],
  [/^gemini-2\.5.*-lite/, 512, 24_576],
  [/^gemini-2\.5/, 0, 24_576],
  [/^gemini-[3-9]/, 1, 65_536],
]

export function isThirdModel(model: string): boolean {
  return /^gemini-[3-9]/.test(model)
}

/** @returns the provider's message; null: nothing is wrong */
export function wrongTools({ tools = [], toolConfig }: Members): string | null {
  const declared = (tools as readonly Members[]).flatMap(
    ({ functionDeclarations = [] }) => functionDeclarations as readonly Members[],
  )
  const names = declared.map(({ name }) => name)
  const odd = names.findIndex((name) => typeof name !== 'string' || !NAME.test(name))
  if (odd !== -1)
    return `* GenerateContentRequest.tools[0].function_declarations[${odd}].name: Invalid function name.`
  if (new Set(names).size < names.length) return 'Duplicate function declaration found.'
  if (toolConfig === undefined) return null
  const { mode, allowedFunctionNames: allowed } = (toolConfig as Members)['functionCallingConfig'] as Members
  if (!MODES.includes(mode))
    return `Invalid value at 'tool_config.function_calling_config.mode' (${String(mode)})`
  if (names.length === 0) return 'Function calling config is set without function_declarations.'
  if (allowed === undefined) return null
  if (mode !== 'ANY') return 'Allowed function names should be set only when function calling mode is ANY.'
  return (allowed as readonly unknown[]).every((name) => names.includes(name))
    ? null
    : 'Allowed function names contains an undeclared name.'
}

/** @returns the provider's message; null: nothing is wrong */
export function wrongConfig({ generationConfig = {} }: Members, model: string): string | null {
  const config = generationConfig as Members
  for (const [name, [least, most, kind]] of Object.entries(NUMBERS)) {
    const value = config[name]
    if (value === undefined) continue
    if (typeof value !== 'number' || value < least || value > most || (kind && !Number.isInteger(value)))
      return `Invalid value at 'generation_config.${name}', ${String(value)}`
  }
  const { stopSequences: stops = [], responseJsonSchema, responseMimeType, thinkingConfig } = config
  const texts = stops as readonly unknown[]
  if (texts.length > 5 || texts.includes('')) return 'Invalid stop sequences: at most 5, none empty.'
  if (responseJsonSchema !== undefined && responseMimeType !== 'application/json')
    return 'A schema needs the response mime type application/json.'
  return thinkingConfig === undefined ? null : wrongThinking(thinkingConfig as Members, model)
}

function wrongThinking({ thinkingLevel, thinkingBudget }: Members, model: string): string | null {
  const range = BUDGETS.find(([pattern]) => pattern.test(model))
  if (range === undefined) return 'Thinking is not enabled for this model.'
  if (thinkingLevel !== undefined && thinkingBudget !== undefined)
    return 'You can only set only one of thinking budget and thinking level.'
  if (thinkingLevel !== undefined && !isThirdModel(model))
    return 'Thinking level is not supported for this model.'
  const isLevel = LEVELS.includes(thinkingLevel) && !(thinkingLevel === 'MINIMAL' && model.includes('-pro'))
  if (thinkingLevel !== undefined && !isLevel)
    return `Thinking level ${String(thinkingLevel)} is not supported.`
  const [, least, most] = range
  const isBudget = typeof thinkingBudget === 'number' && thinkingBudget >= least && thinkingBudget <= most
  return thinkingBudget === undefined || isBudget
    ? null
    : `The thinking budget ${String(thinkingBudget)} is invalid. Please choose a value between ${least} and ${most}.`
}
