import { once, unique, type Scenario, type World } from './scenario.ts'

export const ENDPOINT_SCENARIOS: Readonly<Record<string, Scenario>> = {
  'private_endpoints.create': {
    request: async (world) => ({ path: '/private-endpoints', body: endpoint(world), headers: once() }),
    again: 'nothing',
    async refused(world, done) {
      return [
        { ...done, body: endpoint(world) },
        { path: done.path, body: { ...endpoint(world), base_url: 'https://user@models.acme.example/v1' } },
      ]
    },
  },
  'private_endpoints.update': {
    request: async (world) => ({
      path: `/private-endpoints/${await draft(world)}`,
      body: { upstream_model_id: 'another' },
    }),
    refused: async (world) => [
      { path: `/private-endpoints/${await active(world)}`, body: { upstream_model_id: 'another' } },
    ],
  },
  'private_endpoints.delete': {
    request: async (world) => ({ path: `/private-endpoints/${await draft(world)}` }),
    refused: async (world, done) => [
      done,
      { path: `/private-endpoints/${await active(world)}?draft_only=true` },
    ],
  },
  'private_endpoints.validate': {
    request: async (world) => ({
      path: `/private-endpoints/${await draft(world)}/validate`,
      body: { workspace_id: world.place.workspaceId },
    }),
    refused: async (world) => [
      {
        path: `/private-endpoints/${await active(world)}/validate`,
        body: { workspace_id: world.place.workspaceId },
      },
    ],
  },
  'private_endpoints.activate': {
    request: async (world) => ({ path: `/private-endpoints/${await validated(world)}/activate` }),
    refused: async (world, done) => [done, { path: `/private-endpoints/${await draft(world)}/activate` }],
  },
  'private_endpoints.disable': {
    request: async (world) => ({ path: `/private-endpoints/${await active(world)}/disable` }),
    refused: async (world, done) => [done, { path: `/private-endpoints/${await draft(world)}/disable` }],
  },
  'private_endpoints.enable': {
    async request(world) {
      const id = await active(world)
      await world.make('POST', `/private-endpoints/${id}/disable`)
      return { path: `/private-endpoints/${id}/enable` }
    },
    refused: async (world, done) => [done, { path: `/private-endpoints/${await draft(world)}/enable` }],
  },
  'private_endpoints.set_pricing': {
    request: async (world) => ({
      path: `/private-endpoints/${await draft(world)}/pricing`,
      body: { pricing: { prompt: '0.1', completion: '0' } },
    }),
  },
}

export const UPSTREAM_SECRET = 'audited_upstream'

function endpoint({ baseUrl, place }: World): object {
  return {
    model_permaslug: `audited/${unique('embed')}`,
    provider_slug: 'openai-compatible',
    upstream_model_id: 'm',
    base_url: baseUrl,
    pricing: { prompt: '0', completion: '0' },
    secret_name: UPSTREAM_SECRET,
    workspace_id: place.workspaceId,
  }
}

async function draft(world: World): Promise<string> {
  return String((await world.make('POST', '/private-endpoints', endpoint(world)))['id'])
}

async function validated(world: World): Promise<string> {
  const id = await draft(world)
  const { passed } = await world.make('POST', `/private-endpoints/${id}/validate`, {
    workspace_id: world.place.workspaceId,
  })
  if (passed !== true) throw new Error('a sound endpoint is not validated')
  return id
}

async function active(world: World): Promise<string> {
  const id = await validated(world)
  await world.make('POST', `/private-endpoints/${id}/activate`)
  return id
}
