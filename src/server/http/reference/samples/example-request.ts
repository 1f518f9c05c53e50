import type { KeyKind } from '../../../../schemas/keys/api-keys.ts'
import { SCIM_CONTENT_TYPE } from '../../../../schemas/scim/scim-errors.ts'
import { prefixOf, type AnyOperation } from '../../../operations/define.ts'
import { filledPath } from '../../docs/tried-call.ts'

/** Differences from the operation's own example. */
export interface ExampleInput {
  readonly params?: Readonly<Record<string, string>>
  readonly query?: Readonly<Record<string, string>>
  readonly body?: unknown
  readonly method?: string
}

/** The request of an example, independent of a language. */
export interface ExampleRequest {
  readonly method: string
  /** The path with its prefix and its query. */
  readonly path: string
  /** `x-sluice-key` when `Authorization` is for another server. */
  readonly keyHeader: 'Authorization' | 'x-sluice-key'
  readonly keyKind: KeyKind
  /** Undefined: the request has no JSON body. */
  readonly body?: unknown
  /** Null: the request has no body, or its client sets the type. */
  readonly contentType: string | null
  /** How the file `UPLOADED` is sent: as a part of a form, or as the body; null: no file is sent. */
  readonly upload: 'form' | 'raw' | null
  /** The kind of answer; a file has the name under which it is saved. */
  readonly answer: 'json' | 'text' | 'nothing' | { readonly file: string }
}

/** The input of a sample. */
export interface SampleInput {
  readonly request: ExampleRequest
  readonly url: string
  /** Environment variable of the key. */
  readonly variable: string
}

/** The file that uploads send. */
export const UPLOADED = 'report.csv'

export function exampleRequestOf(operation: AnyOperation, given: ExampleInput = {}): ExampleRequest {
  const { access, area, example, input, method } = operation
  const [keyKind = 'inference'] = access.keys
  const upload = input.upload === 'form' || input.upload === 'raw' ? input.upload : null
  const body = upload === null ? (given.body ?? example.body) : undefined
  return {
    method: given.method ?? (method === 'any' ? 'GET' : method.toUpperCase()),
    path: examplePath(operation, given),
    keyHeader: access.header ?? 'Authorization',
    keyKind,
    ...(body !== undefined && { body }),
    contentType: contentTypeOf({ area, upload, hasBody: body !== undefined }),
    upload,
    answer: answerOf(operation),
  }
}

interface Sent {
  readonly area: AnyOperation['area']
  readonly upload: ExampleRequest['upload']
  readonly hasBody: boolean
}

function contentTypeOf({ area, upload, hasBody }: Sent): string | null {
  if (upload === 'raw') return 'application/octet-stream'
  if (!hasBody) return null
  return area === 'scim' ? SCIM_CONTENT_TYPE : 'application/json'
}

function answerOf({ success }: AnyOperation): ExampleRequest['answer'] {
  if (success.isRelayed === true) return 'text'
  if (success.content === 'video/mp4') return { file: 'clip.mp4' }
  if (success.content !== undefined) return { file: 'download' }
  return success.body === null ? 'nothing' : 'json'
}

/** The path of a request to an operation, with its prefix and its query. */
export function examplePath(operation: AnyOperation, given: ExampleInput = {}): string {
  const params: Readonly<Record<string, string>> = { ...(operation.example.params ?? {}), ...given.params }
  const path = filledPath(operation.path, (name) => params[name] ?? '', keepsSlashes(operation))
  return `${prefixOf(operation)}${path}${queryOf(operation, given)}`
}

/** Whether the last segment of the path may contain slashes. */
export function keepsSlashes({ input, isAtRoot }: AnyOperation): boolean {
  return input.hasRest === true || isAtRoot === true
}

function queryOf({ example }: AnyOperation, { query: given }: ExampleInput): string {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries({ ...(example.query ?? {}), ...given }))
    query.append(name, String(value))
  return query.size === 0 ? '' : `?${query}`
}
