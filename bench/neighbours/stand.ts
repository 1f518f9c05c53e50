/** A node with two organizations: one that is attacked and one that attacks. */
import { ask, FORM, type Ask, type Answer } from '../../test/prove/keys/isolation/owners.ts'
import { startStand, type Stand } from '../../test/support/nodes/stand.ts'
import { addFloodEndpoints, startFloodProvider, type FloodProvider } from './floods.ts'

/** An organization with the objects that its calls need. */
export interface Tenant {
  readonly organizationId: string
  readonly management: string
  readonly scimToken: string
  readonly workspaceId: string
  readonly inference: string
  /** Name of a secret bound to `localhost`, the provider's host. */
  readonly secret: string
  readonly fileId: string
  /** Makes a call below `/api/v1`. Throws on a refusal. */
  made(key: string, input: Ask): Promise<Readonly<Record<string, unknown>>>
}

export interface NeighboursStand extends Stand {
  readonly victim: Tenant
  readonly attacker: Tenant
  /** The attacker's own provider. */
  readonly flood: FloodProvider
}

const SECRET = 'provider_key'

/**
 * Starts the node. The provider runs on this machine and speaks plain HTTP: the cost of a call beside an
 * attack is only that of Sluice.
 */
export async function startNeighbours(fronts: number): Promise<NeighboursStand> {
  const node = await startStand({
    settings: { SLUICE_FRONTS: String(fronts), SLUICE_EGRESS_ALLOW: 'http:127.0.0.0/8,http:[::1/128]' },
  })
  const flood = await startFloodProvider()
  const stand = { ...node, stop: () => flood.stop().then(() => node.stop()) }
  try {
    // One after the other: the organization of the first is the operator's.
    const victim = await makeTenant(stand, 'victim')
    const whole = { ...stand, flood, victim, attacker: await makeTenant(stand, 'attacker') }
    await addFloodEndpoints(whole.attacker, flood.port)
    return whole
  } catch (failure) {
    await stand.stop()
    throw failure
  }
}

async function makeTenant(stand: Stand, name: string): Promise<Tenant> {
  const { id } = (await stand.cli('organizations', 'create', '--name', name)) as { id: string }
  const { key: management } = (await stand.cli(
    'keys',
    'create',
    '--kind',
    'management',
    '--name',
    name,
    '--organization',
    id,
  )) as { key: string }
  const { token: scimToken } = (await stand.cli(
    'scim',
    'tokens',
    'create',
    '--name',
    name,
    '--organization',
    id,
  )) as { token: string }
  const made = (key: string, input: Ask) => askFor(stand, { ...input, key })
  const { key: inference, workspace_id: workspaceId } = await made(management, {
    method: 'POST',
    path: '/api/v1/keys',
    body: { name },
  })
  const key = String(inference)
  await made(key, {
    method: 'PUT',
    path: `/api/v1/vault/secrets/${SECRET}`,
    body: { hosts: ['localhost'], value: 'a-provider-key' },
  })
  const file = await made(key, { method: 'POST', path: '/api/v1/files', ...FORM })
  return {
    organizationId: id,
    management,
    scimToken,
    workspaceId: String(workspaceId),
    inference: key,
    secret: SECRET,
    fileId: String(file['id']),
    made,
  }
}

async function askFor(stand: Stand, input: Ask): Promise<Answer['body']> {
  const answer = await ask(stand, input)
  if (answer.status >= 300)
    throw new Error(`${input.method} ${input.path}: ${answer.status} ${answer.text.slice(0, 300)}`)
  const { data } = answer.body
  return typeof data === 'object' && data !== null ? { ...answer.body, ...data } : answer.body
}
