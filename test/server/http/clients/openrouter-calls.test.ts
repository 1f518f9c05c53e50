/** Every call of `@openrouter/sdk` that its page counts as answered, at a node. B3.1. */
import t from 'tap'
import { makeOwner } from '../../../prove/keys/isolation/owners.ts'
import { startStand } from '../../../support/nodes/stand.ts'
import { CLIENT_CALLS, REFUSED_CALLS, type ClientWorld } from '../../../support/wire/client-calls.ts'
import { standingOperations } from '../../../support/wire/client-page.ts'
import { anyOpenRouterClient } from '../../../support/wire/foreign-clients.ts'

t.setTimeout(600_000)

const all = await standingOperations()
const callsOf = (wanted: string): readonly string[] =>
  all
    .filter(({ standing }) => standing.kind === wanted)
    .map(({ call }) => call)
    .sort()

t.test('this test covers every call that is answered, and every call that is not', async (t) => {
  t.same(Object.keys(CLIENT_CALLS).sort(), callsOf('answered'))
  t.same(Object.keys(REFUSED_CALLS).sort(), callsOf('without_answer'))
})

t.test('the client accepts the answers of supported calls, and gets refusals for others', async (t) => {
  const stand = await startStand()
  t.teardown(() => stand.stop())
  const owner = await makeOwner(stand, 'called')
  const place = owner.places.default
  const at = (apiKey: string) =>
    anyOpenRouterClient({ baseUrl: `http://127.0.0.1:${stand.port}/api/v1`, apiKey })
  const world: ClientWorld = {
    inference: await at(place.inference.key),
    management: await at(owner.management),
    place,
  }
  for (const [name, call] of Object.entries(CLIENT_CALLS))
    try {
      await call(world)
      t.pass(name)
    } catch (failure) {
      t.fail(`${name}: ${String(failure).slice(0, 600)}`)
    }
  for (const [name, call] of Object.entries(REFUSED_CALLS)) await t.rejects(call(world), name)
})
