/** Longest value, in characters, that is written on one line. */
const ONE_LINE_CHARS_MAX = 72
const STEP = '  '
const PLAIN_NAME = /^[A-Za-z_$][\w$]*$/

/** How a language writes JSON values. */
interface Spelling {
  text(value: string): string
  name(value: string): string
  readonly words: { readonly true: string; readonly false: string; readonly null: string }
  /** Text inside the braces of an object on one line. */
  readonly padding: string
}

const TYPESCRIPT: Spelling = {
  text: quoted,
  name: (value) => (PLAIN_NAME.test(value) ? value : quoted(value)),
  words: { true: 'true', false: 'false', null: 'null' },
  padding: ' ',
}

const PYTHON: Spelling = {
  text: (value) => JSON.stringify(value),
  name: (value) => JSON.stringify(value),
  words: { true: 'True', false: 'False', null: 'None' },
  padding: '',
}

/** Quotes a text with single quotes, or with double quotes if it needs an escape. */
function quoted(value: string): string {
  const escaped = JSON.stringify(value)
  return escaped.includes('\\') || value.includes("'") ? escaped : `'${value}'`
}

/** A JSON value as TypeScript writes it. @param indent spaces before the line on which the value ends */
export function typescriptLiteral(value: unknown, indent = ''): string {
  return written(value, TYPESCRIPT, indent)
}

export function pythonLiteral(value: unknown, indent = ''): string {
  return written(value, PYTHON, indent)
}

/** A value as JSON, on one line if it fits. */
export function jsonLiteral(value: unknown): string {
  const line = JSON.stringify(value)
  return line.length <= ONE_LINE_CHARS_MAX ? line : JSON.stringify(value, null, STEP)
}

function written(value: unknown, spelling: Spelling, indent: string): string {
  const line = onOneLine(value, spelling)
  if (line.length <= ONE_LINE_CHARS_MAX || typeof value !== 'object' || value === null) return line
  const inner = indent + STEP
  const members = Array.isArray(value)
    ? value.map((one: unknown) => written(one, spelling, inner))
    : Object.entries(value).map(([name, one]) => `${spelling.name(name)}: ${written(one, spelling, inner)}`)
  const [open, close] = Array.isArray(value) ? ['[', ']'] : ['{', '}']
  return `${open}\n${members.map((member) => `${inner}${member},\n`).join('')}${indent}${close}`
}

function onOneLine(value: unknown, spelling: Spelling): string {
  if (typeof value === 'string') return spelling.text(value)
  if (typeof value === 'number') return String(value)
  if (typeof value === 'boolean') return spelling.words[value ? 'true' : 'false']
  if (typeof value !== 'object' || value === null) return spelling.words.null
  if (Array.isArray(value)) return `[${value.map((one: unknown) => onOneLine(one, spelling)).join(', ')}]`
  const members = Object.entries(value).map(
    ([name, one]) => `${spelling.name(name)}: ${onOneLine(one, spelling)}`,
  )
  const { padding } = spelling
  return members.length === 0 ? '{}' : `{${padding}${members.join(', ')}${padding}}`
}
