import t from 'tap'
import { FAILURE_CAUSES } from '../../../../src/schemas/failure-causes.ts'
import { FAILURE_SAMPLES } from '../../../../src/schemas/failure-samples.ts'
import { FAILURES, type FailureName } from '../../../../src/schemas/failures.ts'
import { remedyOf } from '../../../../src/schemas/remedies.ts'
import { buildRouteTable } from '../../../../src/server/http/call/route-table.ts'
import { OPERATIONS } from '../../../../src/server/operations/index.ts'
import { openFront, TESTED_ORIGIN } from '../../../support/front.ts'
import { curlOf } from '../../../../src/server/http/reference/site.ts'

const NAMES = (Object.keys(FAILURES) as FailureName[]).filter((name) => name !== 'client_gone')

t.test('every error type has its own page, and each error answer links to it', async (t) => {
  const { url } = await openFront(t, OPERATIONS)
  const { error } = (await (await fetch(`${url}/api/v1/nothing`)).json()) as {
    error: { metadata: { docs_url: string } }
  }
  t.equal(error.metadata.docs_url, `${TESTED_ORIGIN}/docs/errors/route_unknown`)
  for (const name of NAMES) {
    const page = await fetch(`${url}/docs/errors/${name}`)
    const html = await page.text()
    t.equal(page.status, 200, name)
    const headings = ['Cause', 'Fix', 'Example answer'].map((title) => `<h2>${title}</h2>`)
    for (const part of [`<code>${name}</code>`, String(FAILURES[name].status[0]), 'Retry', ...headings])
      t.ok(html.includes(part), `${name}: ${part}`)
    t.notMatch(html, /<td><\/td>|undefined/, name)
    const example = /<h2>Example answer<\/h2>\n<pre[^>]*>([^]*?)<\/pre>/.exec(html)?.[1] ?? '{none}'
    t.notMatch(example, /\{\w+\}/, `${name}: each place is filled`)
    const shown = html.replace(/<(code|script|style)\b[^]*?<\/\1>/g, '')
    t.notMatch(shown, /\{\w+\}|<var>/, `${name}: no place of the message is left open`)
    t.ok(html.includes('scim:api:messages:2.0:Error') || html.includes(`/docs/errors/${name}&quot;`), name)
  }
  const list = await (await fetch(`${url}/docs/errors`)).text()
  t.match(list, /href="\/docs\/errors\/model_unknown"/)
  t.notMatch(list.replace(/<(script|style)\b[^]*?<\/\1>/g, ''), /\{\w+\}|<var>/)
  t.equal((await fetch(`${url}/docs/errors/none`)).status, 404)
})

t.test('a page names the operations that may return the error, and a command that shows it', async (t) => {
  const { url } = await openFront(t, OPERATIONS)
  const html = await (await fetch(`${url}/docs/errors/preset_archived`)).text()
  t.match(html, /<h2>Operations<\/h2>\n<ul>\n<li><a href="\/docs\/reference\/presets#presets\./)
  t.match(await (await fetch(`${url}/docs/errors/key_expired`)).text(), /\d+ operations may answer with it/)
  const taken = await (await fetch(`${url}/docs/errors/slug_taken`)).text()
  t.match(taken, /<h2>Command that reproduces the error<\/h2>\n<pre tabindex="0"><code>.*curl/)
  t.match(taken, /Bearer \$SLUICE_MANAGEMENT_KEY/)
})

t.test('each error type has a cause and a fix of its own', async (t) => {
  const causes = new Map<string, string>()
  const fixes = new Map<string, string>()
  const sentences = new Map<string, number>()
  for (const name of NAMES) {
    const [cause, fix] = [FAILURE_CAUSES[name], remedyOf(name)]
    t.equal(causes.get(cause), undefined, `${name}: its cause is its own`)
    t.equal(fixes.get(fix), undefined, `${name}: its fix is its own`)
    causes.set(cause, name)
    fixes.set(fix, name)
    t.not(cause, FAILURES[name].text, `${name}: the cause says more than the message`)
    for (const text of [cause, fix]) {
      t.match(text, /^[A-Z`][^]*\.$/, `${name}: ${text}`)
      for (const sentence of text.split(/(?<=\.) /))
        sentences.set(sentence, (sentences.get(sentence) ?? 0) + 1)
    }
  }
  t.same(
    [...sentences].filter(([, count]) => count > 2).map(([sentence]) => sentence),
    [],
    'no sentence is on more than two pages',
  )
})

t.test('each operation that a cause or a fix names exists', async (t) => {
  const table = buildRouteTable(OPERATIONS)
  const named = NAMES.flatMap((name) =>
    [...`${FAILURE_CAUSES[name]} ${remedyOf(name)}`.matchAll(/`(GET|POST|PUT|PATCH|DELETE) (\/[^`?]+)/g)].map(
      ([, method = '', path = '']) => ({ name, method: method.toLowerCase(), path }),
    ),
  )
  t.ok(named.length > 10)
  for (const { name, method, path } of named)
    t.equal(table.find(method, path.replace(/\{\w+\}/g, 'x')).kind, 'route', `${name}: ${method} ${path}`)
})

t.test('a command contains the key, the content type and the body with correct shell quoting', async (t) => {
  t.equal(
    curlOf({ method: 'PUT', path: '/api/v1/x', key: 'SLUICE_KEY', body: { a: 1 } }),
    'curl -s -X PUT \'http://127.0.0.1:8080/api/v1/x\' -H "Authorization: Bearer $SLUICE_KEY" ' +
      "-H 'Content-Type: application/json' -d '{\"a\":1}'",
  )
  for (const [name, { calls = [] } = {}] of Object.entries(FAILURE_SAMPLES))
    for (const call of calls)
      t.notMatch(typeof call.body === 'object' ? JSON.stringify(call.body) : (call.body ?? ''), /'/, name)
})
