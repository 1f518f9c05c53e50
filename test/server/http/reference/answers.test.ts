import { readFileSync } from 'node:fs'
import t from 'tap'
import { Compile } from 'typebox/compile'
import { ErrorEnvelope } from '../../../../src/schemas/envelope.ts'
import { ScimError } from '../../../../src/schemas/scim/scim-errors.ts'
import { withExample, type ExampleAnswers } from '../../../../src/server/http/reference/answers.ts'
import { openApiOf } from '../../../../src/server/http/reference/openapi.ts'
import type { AnyOperation } from '../../../../src/server/operations/define.ts'
import { OPERATIONS } from '../../../../src/server/operations/index.ts'
import { exampleAnswer } from '../../../support/example-answers.ts'
import { ROOT } from '../../../support/source.ts'

const answers = JSON.parse(
  readFileSync(`${ROOT}src/server/http/reference/answers.json`, 'utf8'),
) as ExampleAnswers

/** The shape of an answer with this status: that of the operation, or that of its errors. */
function shapeOf({ success, area }: AnyOperation, status: number) {
  if (success.status === status && status < 400) return success.body
  return area === 'scim' ? ScimError : ErrorEnvelope
}

t.test('each operation has a recorded answer, which is valid in its own schema', async (t) => {
  t.same(Object.keys(answers).sort(), OPERATIONS.map(({ id }) => id).sort())
  for (const operation of OPERATIONS) {
    const answer = answers[operation.id]
    const shape = shapeOf(operation, answer?.status ?? 0)
    if (
      answer?.mediaType?.endsWith('json') !== true ||
      shape === null ||
      operation.success.isRelayed === true
    )
      continue
    const check = Compile(shape)
    t.ok(
      check.Check(answer.body),
      `${operation.id} ${JSON.stringify([...check.Errors(answer.body)].slice(0, 2))}`,
    )
  }
})

t.test('the document has the recorded answers as examples', async (t) => {
  const text = JSON.stringify(openApiOf(OPERATIONS, answers))
  const { paths } = JSON.parse(text) as {
    paths: Record<string, Record<string, { operationId?: string; responses?: Record<string, Response> }>>
  }
  interface Response {
    readonly content?: Readonly<Record<string, { readonly example?: unknown }>>
  }
  const missing = Object.values(paths)
    .flatMap((methods) => Object.values(methods))
    .filter(({ operationId }) => operationId !== undefined)
    .filter(({ operationId = '', responses = {} }) => {
      const answer = answers[operationId] ?? answers[operationId.replace(/\.[a-z]+$/, '')]
      if (answer?.body === undefined) return false
      return !Object.values(responses[answer.status]?.content ?? {}).some(
        ({ example }) => example !== undefined,
      )
    })
  t.same(
    missing.map(({ operationId }) => operationId),
    [],
  )
})

t.test('an example belongs to the response with its status', async (t) => {
  const content = { 'application/json': { schema: {} } }
  const responses = { 200: { content }, 404: { content } }
  t.match(withExample(responses, { status: 404, mediaType: 'application/json', body: { a: 1 } }), {
    404: { content: { 'application/json': { example: { a: 1 } } } },
  })
  t.equal(withExample(responses, { status: 204, mediaType: null }), responses)
})

t.test('an example contains no values that differ between runs', async (t) => {
  const of = (seed: string): unknown =>
    exampleAnswer('keys.create', {
      status: 200,
      contentType: 'application/json; charset=utf-8',
      bytes: Buffer.from(
        JSON.stringify({
          id: `${seed.repeat(8)}-6c1e-7d53-9a56-3f1f6f0f2c11`,
          key: `sk-sluice-v1-${seed.repeat(30)}`,
          label: `sk-sluice-v1-${seed.repeat(3)}...${seed.repeat(3)}`,
          hash: seed.repeat(64),
          created_at: new Date(Date.now() - Number(seed) * 1_000).toISOString(),
          created: Math.floor(Date.now() / 1_000) - Number(seed),
          request_id: `r${seed.repeat(12)}`,
          latency_ms: Number(seed),
        }),
      ),
    })
  t.same(of('1'), of('2'))
  t.notMatch(JSON.stringify(of('1')), /1{12}/)
})
