/** What an OpenAPI document promises: operations with parameters, bodies, statuses and answers, as shapes. */
import { Shapes, type Schema, type Shape } from './schema-shapes.ts'

export interface ParameterShape {
  readonly shape: number
  readonly isRequired: boolean
}

/** Numbers of shapes by media type. */
export type Contents = Readonly<Record<string, number>>

export interface OperationShape {
  readonly summary: string
  /** By place and name: `query limit`. Parts of the path are known by the path. */
  readonly parameters: Readonly<Record<string, ParameterShape>>
  readonly body?: { readonly isRequired: boolean; readonly contents: Contents }
  /** By status; of a webhook under `sent`. */
  readonly answers: Readonly<Record<string, Contents>>
}

export interface ApiShape {
  /** By method and path, parts of the path without names: `GET /models/{}`. */
  readonly operations: Readonly<Record<string, OperationShape>>
  readonly shapes: readonly Shape[]
}

interface Media {
  readonly content?: Readonly<Record<string, { readonly schema?: unknown }>>
}

interface DocumentOperation {
  readonly operationId: string
  readonly summary?: string
  readonly parameters?: readonly {
    readonly name: string
    readonly in: string
    readonly required?: boolean
    readonly schema?: unknown
  }[]
  readonly requestBody?: Media & { readonly required?: boolean }
  readonly responses: Readonly<Record<string, Media>>
}

/** Of an OpenAPI document, what its shape is made of. */
export interface ApiDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, unknown>>>>
  readonly webhooks?: Readonly<Record<string, Readonly<Record<string, unknown>>>>
}

export function apiShapeOf(document: ApiDocument): ApiShape {
  const shapes = new Shapes((reference) => resolved(document, reference))
  const operations: Record<string, OperationShape> = {}
  for (const [path, methods] of Object.entries(document.paths))
    for (const [method, one] of operationsOf(methods))
      operations[`${method.toUpperCase()} ${path.replace(/\{\w+\}/g, '{}')}`] = operationOf(one, shapes)
  for (const [name, methods] of Object.entries(document.webhooks ?? {}))
    for (const [, { summary = '', requestBody = {} }] of operationsOf(methods))
      operations[`webhook ${name}`] = {
        summary,
        parameters: {},
        answers: { sent: contentsOf(requestBody, shapes) },
      }
  return { operations, shapes: shapes.all }
}

/** Besides its operations a path has its servers. */
function operationsOf(
  methods: Readonly<Record<string, unknown>>,
): readonly (readonly [string, DocumentOperation])[] {
  return Object.entries(methods).flatMap(([method, one]) =>
    isOperation(one) ? [[method, one] as const] : [],
  )
}

function isOperation(value: unknown): value is DocumentOperation {
  return typeof value === 'object' && value !== null && 'operationId' in value
}

function operationOf(
  { summary = '', parameters = [], requestBody, responses }: DocumentOperation,
  shapes: Shapes,
): OperationShape {
  const named = parameters.filter((one) => one.in !== 'path')
  return {
    summary,
    parameters: Object.fromEntries(
      named.map((one) => [
        `${one.in} ${one.name}`,
        { shape: shapes.of(one.schema), isRequired: one.required === true },
      ]),
    ),
    ...(requestBody !== undefined && {
      body: { isRequired: requestBody.required === true, contents: contentsOf(requestBody, shapes) },
    }),
    answers: Object.fromEntries(
      Object.entries(responses).map(([status, one]) => [status, contentsOf(one, shapes)]),
    ),
  }
}

function contentsOf({ content = {} }: Media, shapes: Shapes): Contents {
  return Object.fromEntries(Object.entries(content).map(([type, { schema }]) => [type, shapes.of(schema)]))
}

function resolved(document: ApiDocument, reference: string): Schema {
  const found = reference
    .replace(/^#\//, '')
    .split('/')
    .reduce<unknown>((at, name) => (at as Schema | undefined)?.[name], document)
  if (typeof found !== 'object' || found === null) throw new Error(`${reference} leads nowhere`)
  return found as Schema
}
