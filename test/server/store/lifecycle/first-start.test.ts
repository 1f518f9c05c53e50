import t from 'tap'
import { hashOfKey } from '../../../../src/schemas/keys/api-keys.ts'
import { openKeyStore } from '../../../../src/server/store/keys/api-keys.ts'
import type { FirstKeys } from '../../../../src/server/ports/keys/keys.ts'
import { seedFirst } from '../../../../src/server/store/lifecycle/first-start.ts'
import { must, present } from '../../../support/must.ts'
import { openTestStore } from '../../../support/stores/postgres.ts'

const forget = (): Promise<void> => Promise.resolve()

t.test('a fresh store gets an organization, its workspace and two keys that work', async (t) => {
  const store = await openTestStore(t)
  const keys = present(must(await seedFirst(store, forget)))
  const load = async (key: string) => must(await openKeyStore(store).load([hashOfKey(key)]))[0]
  t.match(await load(keys.inferenceKey), {
    kind: 'inference',
    workspaceId: keys.workspaceId,
    rateLimitRpm: null,
  })
  t.match(await load(keys.managementKey), {
    kind: 'management',
    workspaceId: null,
    organizationId: keys.organizationId,
  })
})

t.test('of several nodes that start at once on one store, exactly one makes the first keys', async (t) => {
  const store = await openTestStore(t)
  const made = await Promise.all([1, 2, 3].map(() => seedFirst(store, forget)))
  t.equal(made.filter((outcome) => must(outcome) !== null).length, 1)
})

t.test('the first keys are not created when they cannot be saved for the operator', async (t) => {
  const store = await openTestStore(t)
  await t.rejects(
    seedFirst(store, () => Promise.reject(new Error('disk full'))),
    /disk full/,
  )
  const kept: FirstKeys[] = []
  await seedFirst(store, (keys) => Promise.resolve(void kept.push(keys)))
  t.equal(kept.length, 1)
})
