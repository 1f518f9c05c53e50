import t from 'tap'
import { Compile } from 'typebox/compile'
import { BODIES } from '../../src/schemas/bodies.ts'
import { fieldRows } from '../../src/dialects/table/field-rows.ts'
import { DIALECTS } from '../../src/schemas/inference/text-request.ts'
import { described } from '../../src/server/http/reference/members/described.ts'
import type { Place } from '../../src/server/http/reference/members/texts.ts'
import { openApiOf } from '../../src/server/http/reference/openapi.ts'
import { OPERATIONS } from '../../src/server/operations/index.ts'
import { TEXT_PROTOCOLS } from '../../src/schemas/models/protocols.ts'

/** Hundreds of operations on a machine that does ten other things. */
t.setTimeout(600_000)

interface Described {
  readonly operationId: string
  readonly parameters?: readonly { readonly name: string; readonly in: string; readonly required: boolean }[]
  readonly requestBody?: {
    readonly content: Readonly<Record<string, { readonly schema: unknown; readonly example?: unknown }>>
  }
  readonly responses: Readonly<
    Record<string, { readonly content?: Readonly<Record<string, { readonly schema: unknown }>> }>
  >
}

interface Document {
  readonly openapi: string
  readonly info: { readonly version: string }
  readonly paths: Readonly<Record<string, Readonly<Record<string, Described>>>>
  readonly components: { readonly schemas: Readonly<Record<string, unknown>> }
}

// What goes over the wire: shapes lose in it what JSON cannot say.
const document = JSON.parse(JSON.stringify(openApiOf(OPERATIONS))) as Document

t.test('the document is OpenAPI 3.1 of interface version 1.0.0', async (t) => {
  t.match(document, { openapi: /^3\.1\./, info: { version: '1.0.0' } })
})

t.test('the document describes every operation and nothing else', async (t) => {
  const found = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, one]) =>
      method === 'servers' ? [] : [`${method} ${path} ${one.operationId}`],
    ),
  )
  const expected = OPERATIONS.flatMap(({ method, path, id }) =>
    method !== 'any'
      ? [`${method} ${path} ${id}`]
      : ['get', 'head', 'post', 'put', 'patch', 'delete', 'options'].map(
          (one) => `${one} ${path} ${id}.${one}`,
        ),
  )
  t.same(found.sort(), expected.sort())
})

t.test('every reference in the document resolves', async (t) => {
  const references = [...JSON.stringify(document).matchAll(/"\$ref":"(#[^"]+)"/g)].map(
    (match) => match[1] ?? '',
  )
  t.same(
    references.filter((reference) => resolve(reference) === undefined),
    [],
  )
})

for (const operation of OPERATIONS) {
  const answer = document.paths[operation.path]?.[operation.method === 'any' ? 'post' : operation.method]
  if (answer === undefined) continue

  t.test(`${operation.id}: the document has exactly the statuses of the operation`, async (t) => {
    const ofContent = operation.success.content === undefined ? [] : [206, 304, 416]
    const ofQuery = operation.input.query === undefined ? [] : [400]
    const ofCondition = operation.success.isConditional === true ? [304] : []
    const statuses = [
      operation.success.status,
      401,
      ...operation.statuses,
      ...ofContent,
      ...ofQuery,
      ...ofCondition,
    ].map(String)
    t.same(Object.keys(answer.responses).sort(), [...new Set(statuses)].sort())
  })

  t.test(`${operation.id}: the document has the shapes of the operation`, async (t) => {
    const json = operation.area === 'scim' ? 'application/scim+json' : 'application/json'
    const type = operation.success.isRelayed === true ? '*/*' : (operation.success.content ?? json)
    const success = answer.responses[String(operation.success.status)]?.content?.[type]?.schema
    // One that only ever refuses is described by its error.
    const isRefusal = operation.statuses.includes(operation.success.status)
    const place = { subject: operation.tag, operation: operation.id, side: 'answer' } as const
    if (!isRefusal)
      t.same(
        deref(success),
        operation.success.body === null ? undefined : plain(operation.success.body, place),
      )
    const body = answer.requestBody?.content[json]?.schema
    t.same(
      body === undefined ? undefined : deref(body),
      operation.input.body === undefined
        ? undefined
        : plain(BODIES[operation.input.body].schema, { ...place, side: 'body' }),
    )
  })

  t.test(`${operation.id}: the document has the parameters of the operation`, async (t) => {
    const named = (place: string): readonly string[] =>
      (answer.parameters ?? [])
        .filter((one) => one.in === place)
        .map((one) => one.name)
        .sort()
    t.same(named('path'), [...operation.path.matchAll(/\{(\w+)\}/g)].map((match) => match[1]).sort())
    t.same(named('query'), membersOf(operation.input.query))
    const ofContent = operation.success.content === undefined ? [] : ['range', 'if-range', 'if-none-match']
    const keyed =
      operation.idempotent === undefined || operation.idempotent === 'refused' ? [] : ['idempotency-key']
    t.same(named('header'), [...(operation.input.headers ?? []), ...ofContent, ...keyed].sort())
  })

  t.test(`${operation.id}: its example passes its own validation`, async (t) => {
    const { body, params, query } = operation.input
    if (body !== undefined) t.ok(Compile(BODIES[body].schema).Check(operation.example.body))
    if (params !== undefined) t.ok(Compile(params).Check(operation.example.params))
    if (query !== undefined) t.ok(Compile(query).Check(operation.example.query ?? {}))
  })
}

/** As the document has a schema: each member with a description. */
function plain(schema: unknown, place: Place): unknown {
  return JSON.parse(JSON.stringify(described(schema, place)))
}

function membersOf(schema: unknown): readonly string[] {
  const { properties } = (schema ?? {}) as { properties?: object }
  return Object.keys(properties ?? {}).sort()
}

function deref(schema: unknown): unknown {
  const reference = (schema as { $ref?: string } | undefined)?.$ref
  return reference === undefined ? schema : resolve(reference)
}

function resolve(reference: string): unknown {
  return reference
    .slice('#/'.length)
    .split('/')
    .reduce<unknown>((at, name) => (at as Record<string, unknown> | undefined)?.[name], document)
}

t.test('only operations for text models have field tables, one for each protocol', async (t) => {
  const tables = Object.values(document.paths).flatMap((methods) =>
    Object.values(methods).flatMap(({ operationId, ...one }) => {
      const table = (one as Readonly<Record<string, unknown>>)['x-sluice-translation']
      return table === undefined ? [] : [[operationId, table as Translations] as const]
    }),
  )
  t.same(tables.map(([id]) => id).sort(), ['chat.create', 'messages.create', 'responses.create'])
  for (const [id, table] of tables) {
    const dialect = DIALECTS.find((one) => id === `${one}.create`) ?? 'chat'
    for (const protocol of TEXT_PROTOCOLS.filter((one) => one !== dialect))
      for (const { field, class: of, to } of fieldRows(dialect, { protocol, isStrict: false }))
        t.same(
          table[field]?.[protocol],
          of === 'ours' ? undefined : (to ?? of),
          `${dialect} ${field} ${protocol}`,
        )
  }
})

type Translations = Readonly<Record<string, Readonly<Record<string, unknown>>>>
