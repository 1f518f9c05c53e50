import t from 'tap'
import { fail, ok, type Outcome } from '../../../src/schemas/failures.ts'
import { Secret } from '../../../src/schemas/vault/secret.ts'
import type { SecretMetadata, VaultScope } from '../../../src/server/ports/vault/vault.ts'
import {
  GatheredPuts,
  VAULT_WRITES_TOGETHER_CHARS_MAX,
  VAULT_WRITES_TOGETHER_MAX,
  type Put,
} from '../../../src/server/vault/vaults.ts'
import { gate } from '../../support/gate.ts'
import { BY, openVaultStand } from '../../support/vault/vault-front.ts'

const SCOPE: VaultScope = { organizationId: 'o', workspaceId: 'w', internId: null }
const put = (name: string, value = 'v'): Put => ({ name, hosts: [], value: new Secret(value), by: BY })
const reported = ({ name }: Put): SecretMetadata => ({
  name,
  hosts: [],
  fingerprint: null,
  createdAt: new Date(0),
})

/** Puts whose first store waits for the gate; what was stored together, by names. */
function held(
  answer: (puts: readonly Put[]) => Outcome<readonly SecretMetadata[]> = (puts) => ok(puts.map(reported)),
) {
  const [go, stores]: [ReturnType<typeof gate>, string[]] = [gate(), []]
  const puts = new GatheredPuts({
    waitingOfOneMax: 100,
    waitingMax: 120,
    async store(_, together) {
      stores.push(together.map(({ name }) => name).join(' '))
      if (stores.length === 1) await go.opened
      return answer(together)
    },
  })
  return { go, stores, puts }
}

t.test(
  'puts to one vault that arrive during a write are stored together, each with its own result',
  async (t) => {
    const { go, stores, puts } = held()
    const all = ['a', 'b', 'c'].map((name) => puts.put(SCOPE, put(name)))
    t.same(stores, ['a'])
    go.open()
    t.same(
      (await Promise.all(all)).map((one) => one.ok && one.value.name),
      ['a', 'b', 'c'],
    )
    t.same(stores, ['a', 'b c'])
  },
)

t.test('two puts of one name are never stored together, and stay in their order', async (t) => {
  const { go, stores, puts } = held()
  const all = ['a', 'b', 'c', 'b', 'd'].map((name) => puts.put(SCOPE, put(name)))
  go.open()
  await Promise.all(all)
  t.same(stores, ['a', 'b c', 'b d'])
})

t.test('bounds the number and the length of puts that are stored together', async (t) => {
  const { go, stores, puts } = held()
  const long = 'v'.repeat(VAULT_WRITES_TOGETHER_CHARS_MAX)
  const many = Array.from({ length: VAULT_WRITES_TOGETHER_MAX + 1 }, (_, nth) => put(`m${nth}`))
  const all = [put('a'), put('b', long), put('c', long), ...many].map((one) => puts.put(SCOPE, one))
  go.open()
  await Promise.all(all)
  t.same(stores.slice(0, 3), ['a', 'b', 'c'])
  t.same(
    stores.slice(3).map((names) => names.split(' ').length),
    [VAULT_WRITES_TOGETHER_MAX, 1],
  )
})

t.test('puts of other vaults do not wait', async (t) => {
  const { go, stores, puts } = held()
  const first = puts.put(SCOPE, put('a'))
  t.equal((await puts.put({ ...SCOPE, internId: 'i' }, put('b'))).ok, true)
  t.same(stores, ['a', 'b'])
  go.open()
  t.equal((await first).ok, true)
})

t.test('a vault without room for all of them stores as many as fit', async (t) => {
  const { go, stores, puts } = held((together) => {
    return together.some(({ name }) => name === 'new')
      ? fail('vault_full', { fields: { limit: 1 } })
      : ok(together.map(reported))
  })
  const all = ['a', 'b', 'new', 'c'].map((name) => puts.put(SCOPE, put(name)))
  go.open()
  t.same(
    (await Promise.all(all)).map((one) => one.ok),
    [true, true, false, true],
  )
  t.same(stores, ['a', 'b new c', 'b', 'new', 'c'])
})

t.test('a put whose precondition does not match the vault fails alone', async (t) => {
  for (const failure of ['secret_exists', 'secret_unknown'] as const) {
    const { go, puts } = held((together) =>
      together.some(({ name }) => name === 'odd') ? fail(failure) : ok(together.map(reported)),
    )
    const all = ['a', 'b', 'odd', 'c'].map((name) => puts.put(SCOPE, put(name)))
    go.open()
    t.same(
      (await Promise.all(all)).map((one) => one.ok),
      [true, true, false, true],
      failure,
    )
  }
})

t.test('limits waiting puts per workspace and in total, and fails a further put with busy', async (t) => {
  const go = gate()
  const puts = new GatheredPuts({
    waitingOfOneMax: 10,
    waitingMax: 15,
    store: async (_, together) => go.opened.then(() => ok(together.map(reported))),
  })
  const other = { ...SCOPE, workspaceId: 'x' }
  const fill = (scope: VaultScope, count: number) =>
    Array.from({ length: count }, (_, nth) => puts.put(scope, put(`n${nth}`)))
  // The first of each vault is stored, and does not wait.
  const all = [...fill(SCOPE, 6), ...fill({ ...SCOPE, internId: 'i' }, 6)]
  const isBusy = async (scope: VaultScope): Promise<void> =>
    void t.match(await puts.put(scope, put('more')), { ok: false, failure: { name: 'busy' } })
  await isBusy(SCOPE)
  all.push(...fill(other, 6))
  await isBusy(other)
  go.open()
  t.ok((await Promise.all(all)).every((one) => one.ok))
})

t.test('a failing store fails all of its puts, and the next ones are stored', async (t) => {
  const { go, puts } = held((together) => {
    if (together.length > 1) throw new Error('broken')
    return ok(together.map(reported))
  })
  const [first, ...broken] = ['a', 'b', 'c'].map((name) => puts.put(SCOPE, put(name)))
  const refused = broken.map((one) => t.rejects(one, /broken/))
  go.open()
  t.equal((await first)?.ok, true)
  await Promise.all(refused)
  t.equal((await puts.put(SCOPE, put('d'))).ok, true)
})

t.test('stores each of many puts that come together, with its own audit event', async (t) => {
  const { vaults, workspace, store } = await openVaultStand(t)
  const names = Array.from({ length: 40 }, (_, nth) => `n${nth}`)
  const all = await Promise.all(
    names.map((name) =>
      vaults.put(
        workspace,
        { name, hosts: ['a.example'], value: new Secret(`value of ${name}`) },
        { ...BY, requestId: `request of ${name}` },
      ),
    ),
  )
  t.same(
    all.map((one) => one.ok && one.value.name),
    names,
  )
  t.equal(new Set(all.map((one) => one.ok && one.value.fingerprint)).size, names.length)
  const rows = await store.sql<
    { text: string }[]
  >`SELECT text FROM audit WHERE operation = 'vault.put_secret'`
  const events = rows.map(({ text }) => JSON.parse(text) as { object_id: string; request_id: string })
  t.same(events.map((event) => event.request_id).sort(), names.map((name) => `request of ${name}`).sort())
  t.ok(events.every((event) => event.request_id === `request of ${event.object_id}`))
})
