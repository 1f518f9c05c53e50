/** A node whose organization has an object of each kind, with a provider of embeddings beside it. */
import { PROVIDER_KEY, standCatalogue, startStand, type Stand } from '../../test/support/nodes/stand.ts'
import { freePort } from '../../test/support/nodes/spawned.ts'
import { ask, makeOwner, type Owner, type Place } from '../../test/prove/keys/isolation/owners.ts'
import type { KeyKind } from '../../src/schemas/keys/api-keys.ts'

/** A model whose jobs stay open: no server listens at its provider's address. */
export const OPEN_VIDEO_MODEL = 'bench/clip'
/** A name that the machine itself resolves: a secret can be bound to a name, not to an address. */
const PROVIDER_HOST = 'localhost'
/** The organization of this name operates the node. */
const OWNER = 'bench'

export interface World {
  readonly stand: Stand
  readonly owner: Owner
  /** The key's workspace. */
  readonly place: Place
  keyOf(kind: KeyKind): string
  /**
   * Creates an object for an operation; throws on a refusal. @param input its path lies below `/api/v1`, or
   * is `/scim/v2/…`
   */
  made(
    kind: KeyKind,
    input: { readonly method: string; readonly path: string; readonly body?: unknown },
  ): Promise<Readonly<Record<string, unknown>>>
  /** Address of the private endpoints' upstream. */
  readonly upstreamUrl: string
  readonly upstreamHost: string
  stop(): Promise<void>
}

export async function startWorld(): Promise<World> {
  const nobody = await freePort()
  const stand = await startStand({
    settings: {
      SLUICE_EGRESS_ALLOW: 'http:127.0.0.0/8,http:[::1/128]',
      SLUICE_OPERATOR_ORGANIZATION: OWNER,
      // Some operations make one for each call.
      SLUICE_WORKSPACES_MAX: '1000',
    },
    catalogue: (mockOrigin) => catalogueOf(mockOrigin, nobody),
  })
  try {
    return worldOf(stand, await makeOwner(stand, OWNER))
  } catch (failure) {
    await stand.stop()
    throw failure
  }
}

function worldOf(stand: Stand, owner: Owner): World {
  const place = owner.places.default
  const keys = {
    management: owner.management,
    scim: owner.scimToken,
    intern: place.internKey,
    inference: place.inference.key,
  }
  const keyOf = (kind: KeyKind): string => keys[kind]
  return {
    stand,
    owner,
    place,
    keyOf,
    upstreamHost: PROVIDER_HOST,
    upstreamUrl: `https://${PROVIDER_HOST}:${stand.mock.port}/v1`,
    async made(kind, { method, path, body }) {
      const answer = await ask(stand, {
        method,
        path: path.startsWith('/scim/v2') ? path : `/api/v1${path}`,
        key: keyOf(kind),
        body,
      })
      if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`)
      const { data } = answer.body
      return typeof data === 'object' && data !== null ? { ...answer.body, ...data } : answer.body
    },
    stop: () => stand.stop(),
  }
}

function catalogueOf(mockOrigin: string, nobody: number): object {
  const { providers, models } = standCatalogue(mockOrigin, '0.00000002')
  const video = { submit: 'blind', concurrency: 1, polls_per_second: 1 }
  return {
    providers: [
      ...providers,
      {
        slug: 'nobody',
        protocol: 'openai',
        base_url: `http://127.0.0.1:${nobody}/v1`,
        api_key_env: PROVIDER_KEY,
        video,
      },
    ],
    models: [
      ...models,
      {
        id: OPEN_VIDEO_MODEL,
        name: 'Open',
        architecture: { input_modalities: ['text'], output_modalities: ['video'] },
        video: {
          durations: [4],
          resolutions: ['720p'],
          aspect_ratios: ['16:9'],
          pricing_skus: { duration_seconds: '0.0001' },
        },
        endpoints: [{ provider: 'nobody', upstream_model: 'clip' }],
      },
    ],
  }
}
