import t from 'tap'
import { FAILURES } from '../../../../src/schemas/failures.ts'
import { OPERATIONS } from '../../../../src/server/operations/index.ts'
import { openFront, TESTED_ORIGIN } from '../../../support/front.ts'

t.test(
  'every error type has a page with status, cause, remedy and retry, and each answer leads to its own',
  async (t) => {
    const { url } = await openFront(t, OPERATIONS)
    const { error } = (await (await fetch(`${url}/api/v1/nothing`)).json()) as {
      error: { metadata: { docs_url: string } }
    }
    t.equal(error.metadata.docs_url, `${TESTED_ORIGIN}/docs/errors/route_unknown`)
    for (const [name, row] of Object.entries(FAILURES)) {
      if (name === 'client_gone') continue
      const page = await fetch(`${url}/docs/errors/${name}`)
      const html = await page.text()
      t.equal(page.status, 200, name)
      for (const part of [`<code>${name}</code>`, String(row.status[0]), 'Cause', 'Remedy', 'Retry'])
        t.ok(html.includes(part), `${name}: ${part}`)
      t.notMatch(html, /<td><\/td>|undefined|\{\w+\}/, name)
    }
    t.match(await (await fetch(`${url}/docs/errors`)).text(), /href="\/docs\/errors\/model_unknown"/)
    t.equal((await fetch(`${url}/docs/errors/none`)).status, 404)
  },
)
