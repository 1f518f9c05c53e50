import t from 'tap'
import { requestsOf } from '../../../bench/operations/preparation.ts'
import { preparationOf, PREPARATIONS } from '../../../bench/operations/preparations.ts'
import { readOperationsOptions } from '../../../bench/operations/options.ts'
import { startWorld } from '../../../bench/operations/world.ts'
import { served } from '../../support/wire/served.ts'
import { OPERATIONS } from '../../../src/server/operations/index.ts'

t.setTimeout(600_000)

t.test('no preparation is for an operation that is gone', async (t) => {
  const ids = OPERATIONS.map(({ id }) => id)
  t.same(
    Object.keys(PREPARATIONS).filter((id) => !ids.includes(id)),
    [],
  )
})

t.test('an operation that there is not is refused', async (t) => {
  t.match(readOperationsOptions(['--only', 'keys.get,keys.nothing']), /not 'keys\.nothing'/)
})

t.test('each of them answers as it should, the second time too', async (t) => {
  const world = await startWorld()
  t.teardown(() => world.stop())
  for (const operation of OPERATIONS) {
    const preparation = preparationOf(operation)
    const few = preparation.fresh === null ? preparation : { ...preparation, fresh: 2 }
    const expected = preparation.status ?? operation.success.status
    try {
      const requests = await requestsOf(operation, few, world)
      const asked = requests.length === 1 ? [...requests, ...requests] : requests
      for (const { method, path, headers, body } of asked) {
        const url = `http://127.0.0.1:${world.stand.port}${path}`
        const answer = await served(() => fetch(url, { method, headers, ...(body === '' ? {} : { body }) }))
        const text = await answer.text()
        t.equal(
          answer.status,
          expected,
          `${operation.id} ${answer.status === expected ? '' : `${path} ${text.slice(0, 300)}`}`,
        )
      }
    } catch (failure) {
      t.fail(`${operation.id}: ${String(failure)}`)
    }
  }
})
