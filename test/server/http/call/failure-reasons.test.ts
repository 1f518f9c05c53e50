/** The reason of a failed call, as the request log gets it from the call. */
import t from 'tap'
import type { TSchema } from 'typebox'
import { BODIES } from '../../../../src/schemas/bodies.ts'
import { issuesOf } from '../../../../src/schemas/issues.ts'
import { reasonOf } from '../../../../src/schemas/requests/failure-reason.ts'
import { inputNames } from '../../../../src/server/http/call/input-names.ts'
import { openEmbeddings } from '../../../support/embeddings/embeddings-front.ts'
import { AUTHORIZATION } from '../../../support/front.ts'

t.test(
  'embeddings.create 400: the log names the invalid inputs, and contains no text from the call',
  async (t) => {
    const { url, settled, untilSettled } = await openEmbeddings(t)
    const send = (path: string, body: unknown): Promise<Response> =>
      fetch(`${url}/api/v1${path}`, {
        method: 'POST',
        headers: { authorization: AUTHORIZATION, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      })
    await send('/embeddings?canary=canary', {
      model: 'acme/embed',
      input: { canary: 'canary' },
      dimensions: 'canary',
    })
    await send('/embeddings', { model: 'acme/embed', input: [{ content: [{ type: 'canary', canary: 1 }] }] })
    await send('/embeddings', { model: 'canary', input: 'canary' })
    await untilSettled(3)
    const reasons = settled.map(({ reason }) => reason?.() ?? null)
    t.notMatch(JSON.stringify(reasons), 'canary')
    t.match(reasons[0]?.issues, [
      { path: '/input', expected: /string/ },
      { path: '/dimensions', expected: /integer/ },
    ])
    t.match(reasons[1]?.issues, [{ path: /^\/input\/0\/content\/0/ }])
    t.equal(reasons[2], null)
  },
)

/** A value of each kind at each member, with words that no schema has. */
function wrongBodies(schema: TSchema): readonly unknown[] {
  const { properties = {} } = schema as { properties?: Record<string, TSchema> }
  const wrong = [
    'canary-text',
    { 'canary-name': 'canary-text' },
    [{ 'canary-name': 'canary-text', type: 'canary-text', role: 'canary-text' }],
    [['canary-text']],
  ]
  return wrong.flatMap((value) => [
    { 'canary-name': value },
    Object.fromEntries(Object.keys(properties).map((name) => [name, value])),
  ])
}

t.test('no recorded reason contains text from the body of a caller, for any operation', (t) => {
  let issuesSeen = 0
  for (const [name, { schema }] of Object.entries(BODIES)) {
    for (const body of wrongBodies(schema)) {
      const issues = issuesOf(schema, body)
      const reason = reasonOf({ name: 'body_invalid', metadata: { issues } }, inputNames())
      issuesSeen += reason?.issues?.length ?? 0
      t.notMatch(JSON.stringify(reason), 'canary', name)
    }
  }
  t.ok(issuesSeen > 500, `${issuesSeen} issues`)
  t.end()
})

t.test('pointers into conversations keep the member names of their body format', (t) => {
  const pathsOf = (name: keyof typeof BODIES, body: object) =>
    reasonOf(
      { name: 'body_invalid', metadata: { issues: issuesOf(BODIES[name].schema, body) } },
      inputNames(),
    )?.issues?.map(({ path }) => path)
  t.same(pathsOf('chat', { model: 'm', messages: [{ role: 'user', content: 5 }] }), ['/messages/0/content'])
  t.same(pathsOf('embeddings', { model: 'm', input: [] }), ['/input'])
  t.end()
})
