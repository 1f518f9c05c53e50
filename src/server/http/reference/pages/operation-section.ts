import { ERRORS_PATH, GUIDES_PATH } from '../../../../schemas/api-prefix.ts'
import { prefixOf, type AnyOperation } from '../../../operations/define.ts'
import { isObject } from '../members/described.ts'
import type { Json } from '../openapi-json.ts'
import { exampleRequestOf } from '../samples/example-request.ts'
import { LANGUAGES, sampleOf, type Language } from '../samples/samples.ts'
import { blockOf } from './highlight.ts'
import { escaped, inline, tableOf } from './html.ts'
import { memberRows, resolved, typeText, type MemberRow } from './member-rows.ts'
import { tryOf } from './try.ts'

/** An operation as the OpenAPI document tells it, with the document that its references lead into. */
export interface Told {
  readonly document: Json
  readonly operation: Json
}

/** The section of an operation: its call, its inputs, its answers and samples. */
export function operationSection(operation: AnyOperation, told: Told): string {
  const path = `${prefixOf(operation)}${operation.path}`
  return [
    headOf(operation.id, operation.summary, { method: methodOf(operation), path }),
    textOf(told),
    samplesOf(operation),
    inputsOf(told),
    answersOf(told),
    errorsOf(told),
    tryOf(operation, listOf(told.operation['parameters'])),
  ].join('')
}

/** The method as pages show it. */
export function methodOf({ method }: AnyOperation): string {
  return method === 'any' ? 'any' : method.toUpperCase()
}

/** The section of a request that Sluice sends by itself. */
export function webhookSection(name: string, told: Told): string {
  const summary = String(told.operation['summary'])
  return [headOf(name, summary, { method: 'POST', path: 'your address' }), textOf(told), inputsOf(told)].join(
    '',
  )
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

/** One open at a time: elements with the same name close each other. */
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

function textOf({ operation }: Told): string {
  const { description } = operation
  return typeof description === 'string' ? `<p>${inline(description)}</p>\n` : ''
}

function inputsOf({ document, operation }: Told): string {
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

/** The members of a body, by the first of its types. */
function contentOf(title: string, told: unknown, document: Json): string {
  const content = isObject(told) && isObject(told['content']) ? Object.entries(told['content']) : []
  const [first] = content
  if (first === undefined) return ''
  const [type, media] = first
  const schema = isObject(media) ? media['schema'] : undefined
  // Callers need to know what they have to send; of an answer each member is read where it is there.
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

function answersOf({ document, operation }: Told): string {
  const responses = isObject(operation['responses']) ? Object.entries(operation['responses']) : []
  const [success] = responses.filter(([status]) => !isFailure(status))
  if (success === undefined) return ''
  const [status, told] = success
  const headers = isObject(told) && isObject(told['headers']) ? Object.entries(told['headers']) : []
  const rows = headers.map(([name, header]) => {
    const shape = resolved(header, document)
    return [`<code>${escaped(name)}</code>`, inline(isObject(shape) ? String(shape['description']) : '')]
  })
  return (
    contentOf(`Answer ${status}`, told, document) +
    exampleOf(responses) +
    `<details>\n<summary>Headers of the answer</summary>\n${tableOf(['Name', 'Description'], rows)}</details>\n`
  )
}

/** The recorded answer, which an operation that always refuses has at the status of its error. */
function exampleOf(responses: readonly (readonly [status: string, told: unknown])[]): string {
  const found = responses.flatMap(([status, told]) => {
    const content = isObject(told) && isObject(told['content']) ? Object.values(told['content']) : []
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

/** Each status with its error types, which lead to their pages. */
function errorsOf({ operation }: Told): string {
  const responses = isObject(operation['responses']) ? Object.entries(operation['responses']) : []
  const rows = responses
    .filter(([status]) => isFailure(status))
    .map(([status, told]) => {
      const text = isObject(told) ? String(told['description']) : ''
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
