/** Values that a verb takes for a hash or a UUID: a name, the whole, or the beginning of it. C39. */
import t from 'tap'
import { hashOfKey } from '../../../../src/schemas/keys/api-keys.ts'
import { PREFIX_DIGITS_MIN } from '../../../../src/server/store/operator/references.ts'
import { appendAudit } from '../../../../src/server/store/base/append-audit.ts'
import { insertRequests } from '../../../../src/server/store/requests/request-rows.ts'
import { auditEvent } from '../../../support/audit/audit.ts'
import { batchOfCalls } from '../../../support/requests/settled-call.ts'
import { delivery, outboxed } from '../../../support/webhooks/webhooks.ts'
import { runVerb } from '../../../support/operator/verbs.ts'
import { openInstallation } from '../../../support/operator/installation.ts'

t.setTimeout(300_000)

const installation = await openInstallation(t, { SLUICE_ROOT_KEY: 'a1'.repeat(32) }, 'Acme')
const { store, organization, workspace, settings, run, json: made } = installation

async function keyNamed(name: string): Promise<string> {
  return String((await made(`keys create --kind inference --name ${name}`))['hash'])
}

const nameOf = async (named: string): Promise<unknown> => (await made(`keys get ${named}`))['name']

t.test('refuses a name that is also the beginning of the hash of another key, as ambiguous', async (t) => {
  const victim = await keyNamed('victim')
  const prefix = victim.slice(0, PREFIX_DIGITS_MIN)
  const decoy = await keyNamed(prefix)
  const { code, stderr } = await run(`keys revoke ${prefix}`)
  t.equal(code, 1)
  t.match(stderr, /^Several API keys match; give more characters of the id\. Matches: /)
  for (const hash of [victim, decoy]) t.match(stderr, hash.slice(0, 16))
  t.equal(await nameOf(victim), 'victim')
  t.equal(await nameOf(decoy), prefix)
  t.equal(await nameOf(victim.slice(0, 20)), 'victim', 'more digits are enough')
})

t.test('a whole hash means its key even when another key has it as a name', async (t) => {
  const hash = await keyNamed('whole')
  await keyNamed(hash)
  t.equal(await nameOf(hash), 'whole')
})

t.test('a key given in place of its name is refused with its hash, and never shown', async (t) => {
  const key = String((await made('keys create --kind inference --name pasted'))['key'])
  const { code, stderr } = await run(`keys revoke ${key}`)
  t.equal(code, 1)
  t.match(stderr, hashOfKey(key))
  t.notOk(stderr.includes(key))
  t.equal(await nameOf('pasted'), 'pasted')
})

t.test('fewer than PREFIX_DIGITS_MIN digits are only a name, never the beginning of a hash', async (t) => {
  const hash = await keyNamed('few')
  const { code, stderr } = await run(`keys get ${hash.slice(0, PREFIX_DIGITS_MIN - 1)}`)
  t.equal(code, 1)
  t.match(stderr, /There is no such API key\. `[^`]+` was not found\./)
})

t.test('quotes and percent signs in a name are ordinary characters', async (t) => {
  for (const text of ["'", '%%%%%%', "x'OR'1'='1", '______', '\\'])
    t.match(await run(`keys get ${text}`), { code: 1, stderr: /no such API key/ }, text)
})

t.test('lists all keys with the same name with their hashes, without revoked ones', async (t) => {
  const [one, other] = [await keyNamed('twin'), await keyNamed('twin')]
  const { stderr } = await run('keys update twin --limit 1')
  for (const hash of [one, other]) t.match(stderr, `${hash.slice(0, 16)}… (twin)`)
  t.match(await run(`keys revoke ${one}`), { code: 0 })
  t.equal((await made('keys get twin'))['hash'], other)
})

t.test('keys get, update, rotate and revoke accept a name or the beginning of a hash', async (t) => {
  const hash = await keyNamed('laptop')
  t.equal((await made('keys get laptop'))['hash'], hash)
  t.equal((await made(`keys get ${hash.slice(0, 12).toUpperCase()}`))['hash'], hash)
  t.match(await made('keys update laptop --limit 5'), { hash, limit: 5 })
  const rotated = await made(`keys rotate ${hash.slice(0, 12)} --overlap 0`)
  t.match(rotated, { previous: { hash } })
  t.match(await run(`keys revoke ${String(rotated['hash']).slice(0, 12)}`), { code: 0 })
})

t.test('suggests the nearest name for a misspelt one', async (t) => {
  await keyNamed('workstation')
  const { code, stderr } = await run('keys get workstaton')
  t.equal(code, 1)
  t.match(stderr, /Nearest: `workstation`\. Run `\S+ keys list` to list valid values/)
})

t.test('a vault is identified by its name or the beginning of its id', async (t) => {
  const { id } = await made('vault create --workspace default --name tools')
  const put = ['vault', 'put', 'token', '--host', 'api.example.com', '--vault']
  t.match(await runVerb(settings, [...put, 'tools'], 'value'), { code: 0 })
  t.match(await made(`vault secrets --vault ${String(id).slice(0, 23)}`), { data: [{ name: 'token' }] })
  t.match(await run('vault rotate-data --vault tools'), { code: 0 })
  t.match(await run('vault delete tools'), { code: 0, stdout: `deleted ${String(id)}\n` })
  t.match(await run('vault delete tools'), { code: 1, stderr: /no such vault\. `tools` was not found/ })
})

t.test('a SCIM token is identified by its name', async (t) => {
  const { id } = await made('scim tokens create --name okta')
  t.match(await made('scim tokens revoke okta'), { id, revoked: true })
  t.match(await run('scim tokens revoke okta'), { code: 1, stderr: /no such SCIM token/ })
})

t.test('a delivery is identified by the beginning of its id', async (t) => {
  const reported = delivery(workspace.id)
  await outboxed(store, [reported])
  const rows = await store.sql<{ id: string }[]>`
    UPDATE webhook_deliveries SET state = 'dead' WHERE idempotency_key = ${reported.idempotencyKey} RETURNING id`
  const [id = ''] = rows.map((row) => row.id)
  t.match(await run(`webhooks replay ${id.slice(0, 26)}`), { code: 0, stdout: /^1 delivery / })
  t.match(await run('webhooks replay 0190a1b2-c3d4'), { code: 1, stderr: /There is no such delivery/ })
})

t.test('finds the events of a key by its name, and those of a user by the user name', async (t) => {
  const hash = await keyNamed('auditor')
  const by = (id: string) => auditEvent(organization.id, { actor: { kind: 'key', id }, objectId: id })
  await store.sql.begin((tx) => appendAudit(tx, by(hash), by('nobody-known')))
  const found = async (actor: string): Promise<readonly unknown[]> =>
    ((await made(`audit list --actor ${actor}`))['data'] as { object_id: string }[]).map(
      (event) => event.object_id,
    )
  t.same(await found('auditor'), [hash])
  t.same(await found('nobody-known'), ['nobody-known'])
})

t.test('finds calls of a key by its name, and reports when several keys have that name', async (t) => {
  await keyNamed('caller')
  t.match(await run('logs --key caller'), { code: 0 })
  await keyNamed('caller')
  t.match(await run('logs --key caller'), { code: 1, stderr: /^Several API keys match/ })
  t.match(await run('logs --key nobody'), { code: 1, stderr: /--key takes the hash of a key/ })
})

t.test('finds the calls of a key whose name is hexadecimal, and of a revoked key by its hash', async (t) => {
  const hashes = [await keyNamed('ada'), await keyNamed('facade'), await keyNamed('ended')]
  const calls = hashes.map((keyHash) => ({ organizationId: organization.id, keyHash, requestId: keyHash }))
  await insertRequests(store, batchOfCalls(...calls))
  const found = async (key: string): Promise<readonly unknown[]> =>
    ((await made(`logs --key ${key}`))['data'] as { key: string }[]).map((call) => call.key)
  const [ada = '', facade = '', ended = ''] = hashes
  t.same(await found('ada'), [ada])
  t.same(await found('facade'), [facade])
  t.same(await found(ada.slice(0, 12).toUpperCase()), [ada])
  await run('keys revoke ended')
  t.same(await found(ended.slice(0, 12)), [ended])
})

t.test('the installed program accepts a name', async (t) => {
  const hash = await keyNamed('by-hand')
  const { code, stdout } = await runVerb(settings, ['keys', 'revoke', 'by-hand'])
  t.same([code, stdout], [0, `revoked ${hash}\n`])
})
