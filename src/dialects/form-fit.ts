/** Decides whether an answer format certainly accepts the output of the built-in model. */
import { isObject, membersOf } from '../schemas/values/members.ts'

export const JSON_SCHEMA = 'json_schema'

/** Output of `sluice/echo-1` in such a format. */
export function textJson(text: string): string {
  return JSON.stringify({ text })
}

/** Keywords that never reject a value. Definitions have no effect because references are not supported. */
const NOTES: ReadonlySet<string> = new Set([
  ...['$schema', '$comment', '$defs', 'definitions', 'title', 'description', 'default', 'examples'],
  ...['deprecated', 'readOnly', 'writeOnly'],
])

type Check = (value: unknown, text: string, schema: Readonly<Record<string, unknown>>) => boolean

/** Keywords that are decided here, for an object with the one member `text`. */
const OF_OBJECT: ReadonlyMap<string, Check> = new Map<string, Check>([
  ['type', (type) => isOfType(type, 'object')],
  ['required', (names) => isEach(names, (name) => name === 'text')],
  ['minProperties', (least) => typeof least === 'number' && least <= 1],
  ['maxProperties', (most) => typeof most === 'number' && most >= 1],
  [
    'properties',
    (properties, text) => isObject(properties) && (!hasText(properties) || isMet(properties['text'], text)),
  ],
  ['additionalProperties', (others, text, { properties }) => hasText(properties) || isMet(others, text)],
])

/** Keywords that are decided here, for the text. */
const OF_TEXT: ReadonlyMap<string, Check> = new Map<string, Check>([
  ['type', (type) => isOfType(type, 'string')],
  ['const', (value, text) => value === text],
  ['enum', (values, text) => Array.isArray(values) && values.includes(text)],
  ['minLength', (least, text) => typeof least === 'number' && charactersOf(text) >= least],
  ['maxLength', (most, text) => typeof most === 'number' && charactersOf(text) <= most],
])

/**
 * Whether a schema accepts an object whose only member is `text`. Schemas are hostile: a keyword that is not
 * decided here, such as `pattern`, `$ref` or `anyOf`, counts as a refusal, and no schema is compiled.
 */
export function takesText(schema: unknown, text: string): boolean {
  return isObject(schema) && isMetBy(OF_OBJECT, schema, text)
}

/** Whether the schema of the member accepts the text. */
function isMet(schema: unknown, text: string): boolean {
  return schema === true || (isObject(schema) && isMetBy(OF_TEXT, schema, text))
}

function isMetBy(checks: ReadonlyMap<string, Check>, schema: Record<string, unknown>, text: string): boolean {
  for (const name in schema) {
    const check = checks.get(name)
    if (check === undefined ? !NOTES.has(name) : !check(schema[name], text, schema)) return false
  }
  return true
}

function hasText(properties: unknown): boolean {
  return Object.hasOwn(membersOf(properties), 'text')
}

function isOfType(type: unknown, wanted: string): boolean {
  return type === wanted || (Array.isArray(type) && type.includes(wanted))
}

function isEach(list: unknown, fits: (one: unknown) => boolean): boolean {
  return Array.isArray(list) && list.every(fits)
}

/** Characters as JSON Schema counts them: a pair of surrogates is one. */
function charactersOf(text: string): number {
  let pairs = 0
  for (let at = 1; at < text.length; at++) if (isPairAt(text, at)) pairs++
  return text.length - pairs
}

function isPairAt(text: string, at: number): boolean {
  const [before, code] = [text.charCodeAt(at - 1), text.charCodeAt(at)]
  return before >= 0xd800 && before <= 0xdbff && code >= 0xdc00 && code <= 0xdfff
}
