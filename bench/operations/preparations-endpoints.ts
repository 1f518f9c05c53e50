/** Private endpoints in each state, and the gate to the outside. */
import { again, fresh, type Preparation } from './preparation.ts'
import type { World } from './world.ts'

const SECRET = 'bench_upstream'
/** Endpoints to validate: one call at a time may validate an endpoint, and each connection needs one. */
const AT_ONCE = 64

function draftOf({ upstreamUrl }: World, name: string): object {
  return {
    model_permaslug: `bench/${name}`,
    provider_slug: 'openai-compatible',
    upstream_model_id: 'bench-embed',
    base_url: upstreamUrl,
    secret_name: SECRET,
    pricing: { prompt: '0.000001', completion: '0' },
  }
}

async function storeSecret(world: World): Promise<void> {
  await world.made('inference', {
    method: 'PUT',
    path: `/vault/secrets/${SECRET}`,
    body: { hosts: [world.upstreamHost], value: 'bench-upstream-key' },
  })
}

async function drafted(world: World, name: string): Promise<string> {
  return String(
    (
      await world.made('management', {
        method: 'POST',
        path: '/private-endpoints',
        body: draftOf(world, name),
      })
    )['id'],
  )
}

async function step(world: World, id: string, name: 'validate' | 'activate' | 'disable'): Promise<void> {
  const body = name === 'validate' ? { workspace_id: world.place.workspaceId } : undefined
  const answer = await world.made('management', {
    method: 'POST',
    path: `/private-endpoints/${id}/${name}`,
    body,
  })
  if (name === 'validate' && answer['passed'] !== true)
    throw new Error(`the endpoint is not validated: ${JSON.stringify(answer)}`)
}

async function validated(world: World, name: string): Promise<string> {
  await storeSecret(world)
  const id = await drafted(world, name)
  await step(world, id, 'validate')
  return id
}

async function activated(world: World, name: string): Promise<string> {
  const id = await validated(world, name)
  await step(world, id, 'activate')
  return id
}

const withDraft = again(({ place }) => [{ params: { id: place.endpointId } }])

export const ENDPOINTS: Readonly<Record<string, Preparation>> = {
  'egress.forward': again(({ stand }) => [
    {
      method: 'POST',
      params: { host: `127.0.0.1:${stand.mock.port}`, path: 'v1/embeddings' },
      body: JSON.parse(stand.embeddings().body) as unknown,
    },
  ]),
  'private_endpoints.list': again(() => [{}]),
  'private_endpoints.create': fresh(60, (world, nth) => ({ body: draftOf(world, `made-${nth}`) })),
  'private_endpoints.get': withDraft,
  'private_endpoints.update': again(({ place }) =>
    ['one', 'two'].map((name) => ({ params: { id: place.endpointId }, body: { upstream_model_id: name } })),
  ),
  'private_endpoints.delete': fresh(40, async (world, nth) => ({
    params: { id: await drafted(world, `leaving-${nth}`) },
  })),
  'private_endpoints.validate': again(async (world) => {
    await storeSecret(world)
    const ids = await Promise.all(
      Array.from({ length: AT_ONCE }, (_, nth) => drafted(world, `validated-${nth}`)),
    )
    return ids.map((id) => ({ params: { id }, body: { workspace_id: world.place.workspaceId } }))
  }),
  'private_endpoints.activate': fresh(20, async (world, nth) => ({
    params: { id: await validated(world, `activated-${nth}`) },
  })),
  'private_endpoints.disable': fresh(20, async (world, nth) => ({
    params: { id: await activated(world, `disabled-${nth}`) },
  })),
  'private_endpoints.enable': fresh(20, async (world, nth) => {
    const id = await activated(world, `enabled-${nth}`)
    await step(world, id, 'disable')
    return { params: { id } }
  }),
  'private_endpoints.set_pricing': again(({ place }) =>
    ['0.00000002', '0.00000003'].map((prompt) => ({
      params: { id: place.endpointId },
      body: { pricing: { prompt, completion: '0' } },
    })),
  ),
}
