import t from 'tap'
import { SESSION_ID_CHARS_MAX } from '../../../../src/schemas/limits/limits.ts'
import { openApiOf } from '../../../../src/server/http/reference/openapi.ts'
import { OPERATIONS } from '../../../../src/server/operations/index.ts'
import { operation } from '../../../support/front.ts'

interface Document {
  readonly info: { readonly version: string }
  readonly paths: Readonly<Record<string, Readonly<Record<string, Described>>>>
  readonly components: { readonly schemas: Readonly<Record<string, unknown>> }
}
interface Described {
  readonly operationId: string
  readonly description: string
  readonly parameters?: readonly { readonly name: string; readonly in: string; readonly required: boolean }[]
  readonly requestBody?: unknown
  readonly responses: Readonly<Record<string, { readonly description: string }>>
}
const documentOf = (operations = OPERATIONS): Document =>
  JSON.parse(JSON.stringify(openApiOf(operations))) as Document

t.test('the document lists every operation with its inputs, its success and its statuses', async (t) => {
  const { paths, info } = documentOf()
  t.equal(info.version, '1.0.0')
  const described = Object.values(paths)
    .flatMap((methods) => Object.values(methods))
    .filter((one) => 'operationId' in one)
  t.equal(
    described.length,
    OPERATIONS.length + OPERATIONS.filter(({ method }) => method === 'any').length * 6,
  )
  for (const { id, path, method, input, statuses, success } of OPERATIONS) {
    const found = paths[path]?.[method === 'any' ? 'put' : method]
    t.equal(found?.operationId, method === 'any' ? `${id}.put` : id)
    const conditional = [
      ...(success.content === undefined ? [] : [206, 304, 416]),
      ...(success.isConditional === true ? [304] : []),
    ]
    const others = [401, ...(input.query === undefined ? [] : [400]), ...conditional]
    t.same(
      new Set(Object.keys(found?.responses ?? {}).map(Number)),
      new Set([success.status, ...statuses, ...others]),
      id,
    )
    t.equal(found?.requestBody !== undefined, input.body !== undefined || input.upload !== undefined)
    const names = [...path.matchAll(/\{(\w+)\}/g)].map((match) => match[1])
    t.same(
      found?.parameters?.filter((parameter) => parameter.in === 'path').map((parameter) => parameter.name) ??
        [],
      names,
    )
  }
})

t.test('every reference resolves to a component, and every component is used', async (t) => {
  const document = documentOf()
  const used = new Set(
    [...JSON.stringify(document).matchAll(/#\/components\/schemas\/(\w+)/g)].map((match) => match[1]),
  )
  t.same([...used].sort(), Object.keys(document.components.schemas).sort())
})

t.test('embeddings list the headers for limits and remarks, and units of prices', async (t) => {
  const { paths } = documentOf()
  const found = paths['/embeddings']?.['post']
  const limit = { RateLimit: {}, 'RateLimit-Policy': {}, 'X-RateLimit-Reset': {} }
  t.match(found?.responses['200'], { headers: { ...limit, 'x-sluice-unpriced': {}, 'x-sluice-usage': {} } })
  t.match(found?.responses['429'], { headers: limit })
  t.match(found?.parameters, [{ name: 'x-session-id', schema: { maxLength: SESSION_ID_CHARS_MAX } }])
  t.match(JSON.stringify(documentOf()), /USD per million tokens/)
  t.notMatch(paths['/models']?.['get']?.responses['200'], { headers: limit })
})

t.test('files and containers describe their limits, and the headers of a download', async (t) => {
  const { paths } = documentOf()
  t.match(
    paths['/files']?.['post']?.description,
    /100 MiB.*PDF.*10 GiB.*1 to 255 UTF-8 characters.*cannot be downloaded again/,
  )
  t.match(
    paths['/containers/{container_id}/files/{file_id}']?.['put']?.description,
    /768 bytes.*32 segments.*30 days/,
  )
  const download = paths['/files/{file_id}/content']?.['get']?.responses
  const carried = { 'content-disposition': {}, 'x-content-type-options': {}, 'cache-control': {} }
  t.match(download, {
    200: { headers: carried },
    206: { headers: carried },
    416: { headers: { 'content-range': {} } },
  })
  t.match(
    paths['/files/{file_id}']?.['get']?.responses['400']?.description,
    /`provider_key_missing`.*`query_invalid`/,
  )
})

t.test(
  'tags are lower-case words with one sentence each, and the egress route names its own header',
  async (t) => {
    const { tags, paths } = documentOf() as ReturnType<typeof documentOf> & {
      tags: readonly { name: string; description: string }[]
    }
    for (const { name, description } of tags) t.match(`${name}: ${description}`, /^[a-z-]+: [A-Z].* .*\.$/)
    t.match(paths['/egress/{host}/{path}']?.['post']?.parameters, [
      {},
      {},
      { name: 'x-sluice-substitute', in: 'header', schema: { const: 'body' } },
    ])
  },
)

t.test('a status lists the error types that cause it', async (t) => {
  const found = documentOf([operation({ statuses: [400, 413, 500], failures: ['model_unknown'] })]).paths[
    '/echo'
  ]?.['post']
  t.match(found?.responses['413']?.description, /`body_too_large`/)
  t.match(found?.responses['400']?.description, /`body_invalid`.*/)
  t.match(found?.responses['400']?.description, /`model_unknown`/)
  t.match(found?.responses['401']?.description, /`credentials_missing`/)
})
