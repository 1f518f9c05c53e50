/** Every call of `@openrouter/sdk` is answered, or its 404 names the nearest thing that there is. C29, C39. */
import { readFileSync } from 'node:fs'
import t from 'tap'
import { API_PREFIX } from '../../src/schemas/api-prefix.ts'
import { Settings } from '../../src/schemas/operator/settings.ts'
import { NOT_SERVED, servedInstead } from '../../src/server/http/call/not-served.ts'
import { OPERATIONS } from '../../src/server/operations/index.ts'
import { ROOT } from '../support/source.ts'
import { CLIENT_PAGE, clientPage, standingOperations, WITHOUT_ANSWER } from '../support/wire/client-page.ts'

/** Calls of the client that were answered when this test was written: the API is additive. */
const ANSWERED_LEAST = 77

t.test('every path of the client is a known path', async (t) => {
  const all = await standingOperations()
  t.ok(all.length > 100, `${all.length} operations`)
  t.same(
    all.filter(({ standing }) => standing.kind === 'unknown').map(({ method, path }) => `${method} ${path}`),
    [],
  )
  const answered = all.filter(({ standing }) => standing.kind === 'answered').length
  t.ok(answered >= ANSWERED_LEAST, `${answered} answered`)
})

t.test('a 404 names only operations and settings that exist', async (t) => {
  const paths = new Set(OPERATIONS.map(({ method, path }) => `${method.toUpperCase()} ${API_PREFIX}${path}`))
  for (const { path, instead } of NOT_SERVED) {
    const offered = [...instead.matchAll(/`([A-Z]+ [^`]+)`/g)].map(([, name = '']) => name)
    t.ok(offered.length > 0, `${path} offers an operation`)
    t.same(
      offered.filter((name) => !paths.has(name)),
      [],
      path,
    )
    const settings = [...instead.matchAll(/`(SLUICE_\w+)`/g)].map(([, name = '']) => name)
    t.same(
      settings.filter((name) => !(name in Settings.properties)),
      [],
      path,
    )
  }
})

t.test('each row of the table is found by its path', async (t) => {
  for (const { path, instead } of NOT_SERVED)
    t.equal(servedInstead(path.replace(/\{\w+\}/g, 'x')), instead, path)
})

t.test('a path that no client uses matches no row', async (t) => {
  for (const path of ['/guardrail', '/image/models', '/interns//chat/completions', '/interns/a/chat', ''])
    t.equal(servedInstead(API_PREFIX + path), null, path)
  t.match(servedInstead(`${API_PREFIX}/guardrails/a/b`), /budgets/, 'what is below a path is as the path')
})

t.test('every operation in the list of those without an answer exists', async (t) => {
  const ids = new Set(OPERATIONS.map(({ id }) => id))
  t.same(
    Object.keys(WITHOUT_ANSWER).filter((id) => !ids.has(id)),
    [],
  )
})

t.test('the page matches the client and the operations (node tools/sdk-operations.mjs)', async (t) => {
  t.equal(readFileSync(`${ROOT}${CLIENT_PAGE}`, 'utf8'), await clientPage())
})
