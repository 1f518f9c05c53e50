import t from 'tap'
import { FAILURES, statusOf, type FailureName } from '../../src/schemas/failures.ts'
import { isRateLimited, type AnyOperation } from '../../src/server/operations/define.ts'
import { OPERATIONS } from '../../src/server/operations/index.ts'
import { readSources, sourceFile } from '../support/source.ts'
import { CONTRACT_ROWS } from './rows/contract-rows.ts'
import type { ContractRow } from './contract-row.ts'
import { coveredStatuses, sharedStatuses, staleExemptions } from './status-coverage.ts'

/** Hundreds of operations on a machine that does ten other things. */
t.setTimeout(600_000)

const shown = coveredStatuses(readSources('test').filter((file) => file.path.endsWith('.test.ts')))
const NOTHING: ReadonlySet<number> = new Set()

t.test('every operation has a contract row, and every row an operation', async (t) => {
  t.same(OPERATIONS.map((operation) => operation.id).sort(), Object.keys(CONTRACT_ROWS).sort())
})

for (const operation of OPERATIONS) {
  const row: ContractRow | undefined = CONTRACT_ROWS[operation.id]
  if (row === undefined) continue
  t.test(`${operation.id} matches ${row.source}`, async (t) => {
    t.equal(operation.method, row.method)
    t.equal(operation.path, row.path)
    t.equal(operation.area, row.area)
    t.equal(
      operation.access.keys.includes('scim'),
      row.area === 'scim',
      'tokens of SCIM are for SCIM, and nothing else is',
    )
    if (row.area === 'scim') t.same(operation.access.keys, ['scim'])
    t.equal(operation.success.status, row.success)
    t.same([...operation.statuses].sort(), [...row.statuses].sort())
    t.same([...operation.access.keys].sort(), [...row.keys].sort())
    t.same(gatesOf(operation), [...(row.gates ?? [])].sort())
  })

  t.test(`${operation.id} lists the statuses of its access refusals`, async (t) => {
    const statuses = gatesOf(operation).flatMap((gate) => FAILURES[GATE_FAILURES[gate]].status)
    t.same(
      statuses.filter((status) => !operation.statuses.includes(status)),
      [],
    )
  })

  t.test(`each failure of ${operation.id} has a status that it declares, or 400 or 500`, async (t) => {
    const possible = [...operation.statuses, 400, 401, 500]
    const failures: readonly FailureName[] = operation.failures
    t.same(
      failures.filter((name) => !possible.includes(statusOf(name, operation.statuses))),
      [],
    )
    t.same(
      failures.filter((name) => !(name in FAILURES)),
      [],
    )
  })

  t.test(`tests show every status of ${operation.id} that has a cause`, async (t) => {
    const covered = shown.get(operation.id) ?? NOTHING
    const wanted = [row.success, ...operation.statuses].filter(
      (status) => !(status in row.uncaused) && !sharedStatuses(operation).includes(status),
    )
    t.same(
      wanted.filter((status) => !covered.has(status)),
      [],
    )
    t.same(staleExemptions(row, { covered, shared: sharedStatuses(operation) }), [], 'uncaused, but shown')
  })
}

t.test('an exemption is stale when a test or the stages show its status, or no row has it', async (t) => {
  const planted = [sourceFile('test/a.test.ts', "t.test('models.get 402, 404: no money', fn)")]
  const found = { covered: coveredStatuses(planted).get('models.get') ?? NOTHING, shared: [429] }
  const row = {
    success: 200,
    statuses: [402, 408, 429, 502],
    uncaused: { 402: '', 429: '', 502: '', 504: '' },
  }
  t.same(staleExemptions(row, found), [402, 429, 504])
  t.same(staleExemptions({ ...row, uncaused: { 408: '', 502: '' } }, found), [])
  t.same(staleExemptions({ ...row, success: 202, uncaused: { 202: '' } }, found), [], 'also of its success')
})

function gatesOf({ access }: AnyOperation): readonly Gate[] {
  const gates: Gate[] = []
  if (access.isOfProgramme === true) gates.push('programme')
  if (access.refusesRegional === true) gates.push('regional')
  if (access.writesVault === true) gates.push('writes')
  return gates
}

type Gate = NonNullable<ContractRow['gates']>[number]

const GATE_FAILURES: Readonly<Record<Gate, FailureName>> = {
  programme: 'programme_closed',
  regional: 'regional_refused',
  writes: 'vault_writes_disabled',
}

t.test('ids and method-path pairs are unique', async (t) => {
  t.equal(new Set(OPERATIONS.map((operation) => operation.id)).size, OPERATIONS.length)
  t.equal(
    new Set(OPERATIONS.map((operation) => `${operation.method} ${operation.path}`)).size,
    OPERATIONS.length,
  )
})

t.test('an operation is rate-limited if and only if its row lists 429', async (t) => {
  const limited = OPERATIONS.filter(isRateLimited).map((operation) => operation.id)
  const listed = Object.entries(CONTRACT_ROWS)
    .filter(([, { statuses }]) => statuses.includes(429))
    .map(([id]) => id)
  t.same(limited.sort(), listed.sort())
})

/** Operations by the scopes of which a key needs one; all others need none. */
const NEEDING_SCOPES = {
  inference: [
    'chat.create',
    'responses.create',
    'messages.create',
    'messages.count_tokens',
    'generations.read',
    'generations.content',
    'embeddings.create',
  ],
  videos: ['video.create', 'video.list', 'video.get', 'video.get_content', 'video.cancel'],
  'presets:write': [
    'presets.designate',
    'presets.archive',
    'presets.create_from_responses',
    'presets.create_from_chat',
    'presets.create_from_messages',
  ],
  'files:write': ['files.upload', 'files.delete', 'containers.promote', 'containers.write_file'],
  'files:read': [
    'files.list',
    'files.get',
    'files.content',
    'containers.list_files',
    'containers.get_file',
    'containers.file_content',
  ],
  'vault:use vault:write': [
    'vault.list_secrets',
    'vault.list_intern_secrets',
    'vault.list_effective_secrets',
  ],
  'vault:write': [
    'vault.put_secret',
    'vault.delete_secret',
    'vault.put_intern_secret',
    'vault.delete_intern_secret',
    'vault.copy_secrets',
  ],
  'vault:use': ['egress.forward'],
}

t.test('operations require exactly the scopes that the table gives them', async (t) => {
  const needing: Record<string, string[]> = {}
  for (const { id, access } of OPERATIONS) {
    const scopes = (access.keyScopes ?? []).join(' ')
    if (scopes !== '') (needing[scopes] ??= []).push(id)
  }
  t.same(needing, NEEDING_SCOPES)
})

/** Changes of nothing, and calls whose work is not worth finishing. */
const ENDED_BY_CLIENT = [
  'messages.count_tokens',
  'interns.provision',
  'interns.suspend',
  'egress.forward',
  'scim.search_users',
  'scim.search_groups',
  'scim.refuse_me',
  'scim.refuse_bulk',
  'scim.refuse_search',
  'admin.test_webhook',
]

t.test('a call that changes data continues when its client disconnects; a read does not', async (t) => {
  const ended = OPERATIONS.filter(({ outlivesClient }) => !outlivesClient)
  t.same(
    ended.filter(({ method }) => method !== 'get').map(({ id }) => id),
    ENDED_BY_CLIENT,
  )
  t.same(
    OPERATIONS.filter(({ method, outlivesClient }) => method === 'get' && outlivesClient),
    [],
  )
})
