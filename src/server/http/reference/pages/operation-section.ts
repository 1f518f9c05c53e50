import { ERRORS_PATH, GUIDES_PATH } from '../../../../schemas/api-prefix.ts'
import { prefixOf, type AnyOperation } from '../../../operations/define.ts'
import { descriptionOf, isObject } from '../members/described.ts'
import type { Json } from '../openapi-json.ts'
import { exampleRequestOf, keepsSlashes } from '../samples/example-request.ts'
import { LANGUAGES, sampleOf, type Language } from '../samples/samples.ts'
import { blockOf } from './highlight.ts'
import { escaped, inline, tableOf } from './html.ts'
import type { TriedCall } from '../../docs/tried-call.ts'
import { jsonLiteral } from '../samples/literals.ts'

/** An operation of the OpenAPI document, with the document that its references refer to. */
export interface DocumentedOperation {
  readonly document: Json
  readonly operation: Json
}

/** The section of an operation: its call, inputs, answers and samples. */
export function operationSection(operation: AnyOperation, documented: DocumentedOperation): string {
  const path = `${prefixOf(operation)}${operation.path}`
  return [
    headOf(operation.id, operation.summary, { method: methodOf(operation), path }),
    textOf(documented),
    samplesOf(operation),
    inputsOf(documented),
    answersOf(documented),
    errorsOf(documented),
    tryOf(operation, listOf(documented.operation['parameters'])),
  ].join('')
}

export function methodOf({ method }: AnyOperation): string {
  return method === 'any' ? 'any' : method.toUpperCase()
}

/** The section of a request that Sluice sends by itself. */
export function webhookSection(name: string, documented: DocumentedOperation): string {
  const summary = String(documented.operation['summary'])
  return [
    headOf(name, summary, { method: 'POST', path: 'your address' }),
    textOf(documented),
    inputsOf(documented),
  ].join('')
}

function headOf(
  id: string,
  title: string,
  { method, path }: { readonly method: string; readonly path: string },
): string {
  return (
    `<h2 id="${id}">${inline(title)} <a class="anchor" href="#${id}" aria-label="Link to this heading">#</a></h2>\n` +
    `<p class="call"><b class="method">${method}</b> <code>${escaped(path)}</code></p>\n`
  )
}

/** Only one sample is open at a time: elements with the same name close each other. */
function samplesOf(operation: AnyOperation): string {
  const request = exampleRequestOf(operation)
  const names = Object.keys(LANGUAGES) as Language[]
  const items = names.map((name, at) => {
    const { title, highlight } = LANGUAGES[name]
    const text = blockOf(sampleOf(name, request), highlight)
    const attributes = `name="${operation.id}" class="sample" data-language="${name}"${at === 0 ? ' open' : ''}`
    return `<details ${attributes}>\n<summary>${title}</summary>\n${text}</details>\n`
  })
  return `<div class="samples">\n${items.join('')}</div>\n`
}

function textOf({ operation }: DocumentedOperation): string {
  const { description } = operation
  return typeof description === 'string' ? `<p>${inline(description)}</p>\n` : ''
}

function inputsOf({ document, operation }: DocumentedOperation): string {
  const { parameters, requestBody } = operation
  const rows = listOf(parameters).map((one) => {
    const isRequired = one['required'] === true
    const type = typeText(one['schema'], document)
    return { path: String(one['name']), type, isRequired, text: String(one['description'] ?? '') }
  })
  const inputs = rows.length === 0 ? '' : `<h3>Parameters</h3>\n${membersTable(rows)}`
  return `${inputs}${contentOf(BODY, requestBody, document)}`
}

const BODY = 'Body'

/** The members of a body, from the first of its media types. */
function contentOf(title: string, described: unknown, document: Json): string {
  const content =
    isObject(described) && isObject(described['content']) ? Object.entries(described['content']) : []
  const [first] = content
  if (first === undefined) return ''
  const [type, media] = first
  const schema = isObject(media) ? media['schema'] : undefined
  // Callers need to know which members they must send; in an answer, "required" would not help.
  const rows = memberRows(schema, document).map((row) =>
    title === BODY ? row : { ...row, isRequired: false },
  )
  const table = rows.length === 0 ? '' : membersTable(rows)
  return `<h3>${title} <small><code>${escaped(type)}</code></small></h3>\n${table}`
}

function membersTable(rows: readonly MemberRow[]): string {
  const cells = rows.map(({ path, type, isRequired, text }) => [
    `<code>${escaped(path)}</code>${isRequired ? ' <small>required</small>' : ''}`,
    `<small>${escaped(type)}</small>`,
    inline(text),
  ])
  return tableOf(['Name', 'Type', 'Description'], cells)
}

const FIRST_FAILURE = 400
const LAST_FAILURE = 599

function answersOf({ document, operation }: DocumentedOperation): string {
  const responses = isObject(operation['responses']) ? Object.entries(operation['responses']) : []
  const [success] = responses.filter(([status]) => !isFailure(status))
  if (success === undefined) return ''
  const [status, response] = success
  const headers =
    isObject(response) && isObject(response['headers']) ? Object.entries(response['headers']) : []
  const rows = headers.map(([name, header]) => {
    const shape = resolved(header, document)
    return [`<code>${escaped(name)}</code>`, inline(isObject(shape) ? String(shape['description']) : '')]
  })
  return (
    contentOf(`Answer ${status}`, response, document) +
    exampleOf(responses) +
    `<details>\n<summary>Headers of the answer</summary>\n${tableOf(['Name', 'Description'], rows)}</details>\n`
  )
}

/** The recorded answer; for an operation that always refuses, it is under the status of its error. */
function exampleOf(responses: readonly (readonly [status: string, response: unknown])[]): string {
  const found = responses.flatMap(([status, response]) => {
    const content =
      isObject(response) && isObject(response['content']) ? Object.values(response['content']) : []
    return content.flatMap((media) =>
      isObject(media) && 'example' in media ? [[status, media['example']]] : [],
    )
  })
  const [first] = found
  if (first === undefined) return ''
  const [status, example] = first
  const text = typeof example === 'string' ? example : JSON.stringify(example, null, 2)
  return `<details class="example">\n<summary>Example of an answer: ${String(status)}</summary>\n${blockOf(text, 'json')}</details>\n`
}

function isFailure(status: string): boolean {
  return Number(status) >= FIRST_FAILURE && Number(status) <= LAST_FAILURE
}

/** Each status with its error types, linked to their pages. */
function errorsOf({ operation }: DocumentedOperation): string {
  const responses = isObject(operation['responses']) ? Object.entries(operation['responses']) : []
  const rows = responses
    .filter(([status]) => isFailure(status))
    .map(([status, response]) => {
      const text = isObject(response) ? String(response['description']) : ''
      const linked = inline(text).replace(
        /<code>(\w+)<\/code>/g,
        (code, name: string) => `<a href="${ERRORS_PATH}/${name}">${code}</a>`,
      )
      return [status, linked]
    })
  if (rows.length === 0) return ''
  const guide = `<a href="${GUIDES_PATH}/errors">Errors</a> explains how to handle them.`
  return `<details>\n<summary>Errors</summary>\n<p>${guide}</p>\n${tableOf(['Status', 'Error types'], rows)}</details>\n`
}

function listOf(value: unknown): readonly Json[] {
  return Array.isArray(value) ? value.filter(isObject) : []
}

interface MemberRow {
  /** Path from the top: `choices[].message.content`. */
  readonly path: string
  readonly type: string
  readonly isRequired: boolean
  readonly text: string
}

/** Levels of members that are shown; deeper ones are in the OpenAPI document. */
const LEVELS_MAX = 4
/** Values of an enumeration that are shown. */
const VALUES_MAX = 16

/** All members of a schema, outer members before inner ones. @param root document that the references refer to */
export function memberRows(schema: unknown, root: Json, path = '', level = 1): readonly MemberRow[] {
  const shape = resolved(schema, root)
  if (level > LEVELS_MAX || !isObject(shape)) return []
  if (Array.isArray(shape['anyOf'])) return merged(shape['anyOf'], root, path, level)
  if (isObject(shape['items'])) return memberRows(shape['items'], root, `${path}[]`, level)
  if (!isObject(shape['properties'])) return []
  const required: readonly unknown[] = Array.isArray(shape['required']) ? shape['required'] : []
  return Object.entries(shape['properties']).flatMap(([name, member]) => {
    const at = path === '' ? name : `${path}.${name}`
    return [
      {
        path: at,
        type: typeText(member, root),
        isRequired: required.includes(name),
        text: descriptionOf(resolved(member, root)) ?? '',
      },
      ...memberRows(member, root, at, level + 1),
    ]
  })
}

/** Members of alternatives: each path once, required where each alternative that has members requires it. */
function merged(
  alternatives: readonly unknown[],
  root: Json,
  path: string,
  level: number,
): readonly MemberRow[] {
  const lists = alternatives
    .map((one) => memberRows(one, root, path, level))
    .filter(({ length }) => length > 0)
  const rows = new Map<string, MemberRow>()
  for (const row of lists.flat()) {
    const known = rows.get(row.path)
    const type =
      known === undefined ? row.type : joined([...known.type.split(' | '), ...row.type.split(' | ')])
    const isRequired = lists.every((list) => list.some((one) => one.path === row.path && one.isRequired))
    rows.set(row.path, { ...(known ?? row), type, isRequired })
  }
  return [...rows.values()]
}

/** The values that a schema accepts, in words. */
export function typeText(schema: unknown, root: Json): string {
  const shape = resolved(schema, root)
  if (!isObject(shape)) return 'any'
  if ('const' in shape) return JSON.stringify(shape['const'])
  if (Array.isArray(shape['enum'])) return joined(shape['enum'].map((value) => JSON.stringify(value)))
  if (Array.isArray(shape['anyOf'])) return joined(shape['anyOf'].map((one) => typeText(one, root)))
  const { type, format } = shape
  if (type === 'array') return `array of ${typeText(shape['items'], root)}`
  if (typeof type !== 'string') return 'any'
  return `${type}${typeof format === 'string' ? ` (${format})` : ''}${boundsText(shape)}`
}

function boundsText({ minimum, maximum, minLength, maxLength }: Json): string {
  const [least, most, unit] =
    minLength === undefined && maxLength === undefined
      ? [minimum, maximum, '']
      : [minLength, maxLength, ' characters']
  if (least === undefined && most === undefined) return ''
  if (most === undefined) return `, at least ${String(least)}${unit}`
  return least === undefined || (least === 0 && unit !== '')
    ? `, at most ${String(most)}${unit}`
    : `, ${String(least)} to ${String(most)}${unit}`
}

function joined(words: readonly string[]): string {
  const all = [...new Set(words)]
  return all.length <= VALUES_MAX ? all.join(' | ') : [...all.slice(0, VALUES_MAX), '…'].join(' | ')
}

/** Follows references inside the document. */
function resolved(schema: unknown, root: Json): unknown {
  if (!isObject(schema) || typeof schema['$ref'] !== 'string') return schema
  const found = schema['$ref']
    .slice('#/'.length)
    .split('/')
    .reduce<unknown>((at, name) => (isObject(at) ? at[name] : undefined), root)
  return resolved(found, root)
}

/**
 * The place for a form that sends the call; the page's script creates the form, and without the script the
 * place stays hidden.
 * @param parameters as the OpenAPI document has them
 */
function tryOf(operation: AnyOperation, parameters: readonly Json[]): string {
  const { body, contentType, keyHeader, method, upload } = exampleRequestOf(operation)
  const call: TriedCall = {
    method,
    path: `${prefixOf(operation)}${operation.path}`,
    keepsSlashes: keepsSlashes(operation),
    keyHeader,
    contentType,
    upload,
    body: body === undefined ? null : jsonLiteral(body),
    inputs: parameters.flatMap(({ name, in: place, example, required }) =>
      place === 'path' || place === 'query'
        ? [{ name: String(name), place, value: exampleTextOf(example), isRequired: required === true }]
        : [],
    ),
  }
  return `<details class="try" data-call="${escaped(JSON.stringify(call))}" hidden>\n<summary>Try it</summary>\n</details>\n`
}

function exampleTextOf(example: unknown): string {
  return typeof example === 'string' || typeof example === 'number' ? String(example) : ''
}
