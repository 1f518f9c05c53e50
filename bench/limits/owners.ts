/** Keys of the bench: one without any limit, one with every limit, and keys with a rate limit. */
import type { Stand } from '../../test/support/nodes/stand.ts'

/** USD that no run spends. */
const AMPLE_USD = 1_000_000
/** Requests a minute that no run reaches. */
const AMPLE_RPM = 1_000_000

/** A key with an organization of its own, since credit belongs to the organization. */
export async function limitedKey(stand: Stand): Promise<string> {
  const { id } = (await stand.cli('organizations', 'create', '--name', 'limited')) as { id: string }
  const manager = (await stand.cli(
    'keys',
    'create',
    '--kind',
    'management',
    '--name',
    'manager',
    '--organization',
    id,
  )) as { key: string }
  const manage = managed(stand, manager.key)
  await manage('POST', '/credits', { amount_usd: AMPLE_USD, note: 'bench' })
  let limit = AMPLE_USD
  for (const interval of ['lifetime', 'monthly', 'weekly', 'daily']) {
    await manage('PUT', `/workspaces/default/budgets/${interval}`, { limit_usd: limit })
    limit /= 2
  }
  const made = await manage('POST', '/keys', { name: 'limited', limit: AMPLE_USD, rate_limit_rpm: AMPLE_RPM })
  return String(made['key'])
}

/** A key with only a rate limit. */
export async function ratedKey(stand: Stand, rpm: number): Promise<string> {
  const made = await managed(stand, stand.keys.management_key)('POST', '/keys', {
    name: `${rpm} a minute`,
    rate_limit_rpm: rpm,
  })
  return String(made['key'])
}

type Manage = (method: string, path: string, body: unknown) => Promise<Record<string, unknown>>

function managed({ port }: Stand, key: string): Manage {
  return async (method, path, body) => {
    const answer = await fetch(`http://127.0.0.1:${port}/api/v1${path}`, {
      method,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', connection: 'close' },
      body: JSON.stringify(body),
    })
    const text = await answer.text()
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`)
    return JSON.parse(text) as Record<string, unknown>
  }
}
