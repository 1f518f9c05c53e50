import { prefixOf, type AnyOperation } from '../../../operations/define.ts'
import type { TriedCall } from '../../docs/tried-call.ts'
import type { Json } from '../openapi-json.ts'
import { exampleRequestOf, keepsSlashes } from '../samples/example-request.ts'
import { jsonLiteral } from '../samples/literals.ts'
import { escaped } from './html.ts'

/**
 * The place of a form that sends the call; the page's script makes the form, and without the script the place
 * stays hidden.
 * @param parameters as the OpenAPI document has them
 */
export function tryOf(operation: AnyOperation, parameters: readonly Json[]): string {
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
        ? [{ name: String(name), place, value: textOf(example), isRequired: required === true }]
        : [],
    ),
  }
  return `<details class="try" data-call="${escaped(JSON.stringify(call))}" hidden>\n<summary>Try it</summary>\n</details>\n`
}

function textOf(example: unknown): string {
  return typeof example === 'string' || typeof example === 'number' ? String(example) : ''
}
