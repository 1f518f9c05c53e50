/** Cheap attacks on a node: each keeps to few connections and few bytes a second, which any client has. */
import type { LoadRequest } from '../../test/support/load/load-plan.ts'
import type { NeighboursStand } from './stand.ts'

export const ATTACK_CONNECTIONS = 16
/** Bytes a second of all requests of an attack together. */
export const ATTACK_BYTES_PER_S = 1_000_000
/** Requests a second of an attack with small requests. */
const REQUESTS_PER_S_MAX = 2_000

export interface Attack {
  /** Description for the report. */
  readonly text: string
  /** Prepares the objects that the requests use. */
  requests(stand: NeighboursStand): Promise<readonly LoadRequest[]> | readonly LoadRequest[]
  /** Requests a second, for an attack that needs fewer than the limits above allow. */
  readonly perS?: number
  /** True for an attack that reads no answer: it fills the buffers of its connections and waits. */
  readonly isUnread?: true
  /** Milliseconds until the attack runs at full speed, where it needs more than others. */
  readonly headMs?: number
}

/** Requests a second within the bytes of an attack. */
export function attackRate(
  { perS = REQUESTS_PER_S_MAX }: Pick<Attack, 'perS'>,
  requests: readonly LoadRequest[],
): number {
  const bytes = requests.reduce((sum, one) => sum + requestBytes(one), 0) / requests.length
  return Math.max(1, Math.min(perS, REQUESTS_PER_S_MAX, Math.floor(ATTACK_BYTES_PER_S / bytes)))
}

function requestBytes({ path, headers, body }: LoadRequest): number {
  const head = Object.entries(headers).reduce(
    (sum, [name, value]) => sum + name.length + value.length + 4,
    path.length + 64,
  )
  return head + Buffer.byteLength(body)
}

const JSON_TYPE = { 'content-type': 'application/json' }
/** Bytes of a body with which two requests per second stay within the limit. */
const LARGE_BYTES = 480_000

function asInference({ attacker }: NeighboursStand): Readonly<Record<string, string>> {
  return { authorization: `Bearer ${attacker.inference}` }
}

function asManager({ attacker }: NeighboursStand): Readonly<Record<string, string>> {
  return { authorization: `Bearer ${attacker.management}` }
}

function embeddings(stand: NeighboursStand, body: string): readonly LoadRequest[] {
  return [
    { method: 'POST', path: '/api/v1/embeddings', headers: { ...asInference(stand), ...JSON_TYPE }, body },
  ]
}

/** @param piece repeated up to LARGE_BYTES, with commas between */
function filled(piece: string): string {
  return Array.from({ length: Math.floor(LARGE_BYTES / (piece.length + 1)) }, () => piece).join(',')
}

const jsonAttacks = {
  'json-objects': {
    text: 'embeddings whose input is an array of many empty objects',
    requests: (stand) => embeddings(stand, `{"model":"bench/embed","input":[${filled('{}')}]}`),
  },
  'json-depth': {
    text: 'embeddings whose body opens half a million arrays',
    requests: (stand) => embeddings(stand, `{"model":"bench/embed","input":${'['.repeat(LARGE_BYTES)}`),
  },
  'json-unknown': {
    text: 'embeddings with many empty objects in a member that nothing reads',
    requests: (stand) => embeddings(stand, `{"model":"bench/embed","input":"x","other":[${filled('{}')}]}`),
  },
} satisfies Readonly<Record<string, Attack>>

const TEXTS = 512
const WORDS = 200

/** Texts without a common word: their vectors have few zeros, which would take only two bytes each. */
function denseTexts(): readonly string[] {
  return Array.from({ length: TEXTS }, (_, text) => {
    const words = Array.from(
      { length: WORDS },
      (__, word) => Math.imul(text * WORDS + word + 1, 0x9e3779b1) >>> 0,
    )
    return words.map((number) => number.toString(36).slice(-5)).join(' ')
  })
}

const answerAttacks = {
  'embeddings-unread': {
    text: 'embeddings answers that are not read: 512 dense texts of 8,192 dimensions each',
    requests: (stand) =>
      embeddings(
        stand,
        JSON.stringify({ model: 'sluice/lexical-1', input: denseTexts(), dimensions: 8_192 }),
      ),
    isUnread: true,
    // The bodies take ten seconds, and the answers occupy a thread for half a minute.
    headMs: 30_000,
  },
} satisfies Readonly<Record<string, Attack>>

/** Words of a conversation; the built-in model repeats fewer. */
const CHAT_WORDS = 100_000

function chat(stand: NeighboursStand, content: string): readonly LoadRequest[] {
  const body = `{"model":"sluice/echo-1","stream":true,"n":8,"messages":[{"role":"user","content":${content}}]}`
  return [
    {
      method: 'POST',
      path: '/api/v1/chat/completions',
      headers: { ...asInference(stand), ...JSON_TYPE },
      body,
    },
  ]
}

const chatAttacks = {
  'chat-parts': {
    text: 'a chat whose message has many empty parts',
    requests: (stand) => chat(stand, `[${filled('{"type":"text","text":""}')}]`),
  },
  'chat-unread': {
    text: 'streams of the built-in model that are not read, eight answers each',
    requests: (stand) => chat(stand, JSON.stringify('word '.repeat(CHAT_WORDS))),
    isUnread: true,
  },
  chat: {
    text: 'streams of the built-in model with eight long answers, as fast as they come',
    requests: (stand) => chat(stand, JSON.stringify('word '.repeat(1_000))),
  },
} satisfies Readonly<Record<string, Attack>>

const PARTS = 2_000

const bodyAttacks = {
  multipart: {
    text: 'uploads of a form with 2,000 empty parts',
    requests: (stand) => {
      const parts = Array.from(
        { length: PARTS },
        (_, nth) => `--edge\r\ncontent-disposition: form-data; name="a${nth}"\r\n\r\n\r\n`,
      ).join('')
      return [
        {
          method: 'POST',
          path: '/api/v1/files',
          headers: { ...asInference(stand), 'content-type': 'multipart/form-data; boundary=edge' },
          body: `${parts}--edge--\r\n`,
        },
      ]
    },
  },
  range: {
    text: 'a container file asked for in a thousand ranges',
    async requests(stand) {
      const { attacker } = stand
      await attacker.made(attacker.inference, {
        method: 'PUT',
        path: '/api/v1/containers/neighbour/files/a.txt',
        body: 'a note\n'.repeat(10_000),
      })
      const { data } = await attacker.made(attacker.inference, {
        method: 'GET',
        path: '/api/v1/containers/neighbour/files',
      })
      const id = (data as readonly { readonly id: string }[])[0]?.id ?? ''
      const range = `bytes=${Array.from({ length: 1_000 }, (_, nth) => `${nth * 8}-${nth * 8 + 1}`).join(',')}`
      return [
        {
          method: 'GET',
          path: `/api/v1/containers/neighbour/files/${id}/content`,
          headers: { ...asInference(stand), range },
          body: '',
        },
      ]
    },
  },
  containers: {
    text: 'container files of one byte, ten folders deep',
    requests: (stand) =>
      Array.from({ length: 500 }, (_, nth) => ({
        method: 'PUT',
        path: `/api/v1/containers/deep/files/${Array.from({ length: 10 }, (__, at) => `f${nth}-${at}`).join('/')}/a.txt`,
        headers: asInference(stand),
        body: 'x',
      })),
    perS: 200,
  },
} satisfies Readonly<Record<string, Attack>>

const PATCHES = 1_000

const controlAttacks = {
  scim: {
    text: 'SCIM PATCH of a group with 1,000 filtered operations',
    async requests(stand) {
      const { attacker } = stand
      const scim = (path: string, body: unknown) =>
        attacker.made(attacker.scimToken, { method: 'POST', path: `/scim/v2/${path}`, body })
      const user = await scim('Users', { userName: 'neighbour@example.com', active: true })
      const group = await scim('Groups', {
        displayName: 'Neighbour',
        members: [{ value: String(user['id']) }],
      })
      const operations = Array.from({ length: PATCHES }, (_, nth) => ({
        op: 'remove',
        path: `members[value eq "${nth}"]`,
      }))
      return [
        {
          method: 'PATCH',
          path: `/scim/v2/Groups/${String(group['id'])}`,
          headers: { authorization: `Bearer ${attacker.scimToken}`, 'content-type': 'application/scim+json' },
          body: JSON.stringify({
            schemas: ['urn:ietf:params:scim:api:messages:2.0:PatchOp'],
            Operations: operations,
          }),
        },
      ]
    },
  },
  presets: {
    text: 'pages of 100 versions of a preset with long instructions',
    async requests(stand) {
      const { attacker } = stand
      const path = '/api/v1/presets/neighbour'
      for (let nth = 0; nth < 100; nth++) {
        const body = { model: 'bench/embed', input: 'x', instructions: `${nth} ${'long '.repeat(30_000)}` }
        await attacker.made(attacker.management, { method: 'POST', path: `${path}/responses`, body })
      }
      return [{ method: 'GET', path: `${path}/versions?limit=100`, headers: asManager(stand), body: '' }]
    },
  },
  unread: {
    text: 'the same pages, asked for by connections that read nothing',
    requests: (stand) => [
      {
        method: 'GET',
        path: '/api/v1/presets/neighbour/versions?limit=100',
        headers: asManager(stand),
        body: '',
      },
    ],
    isUnread: true,
  },
  list: {
    text: 'lists of models and keys, as fast as they come',
    requests: (stand) => [
      { method: 'GET', path: '/api/v1/models', headers: asInference(stand), body: '' },
      { method: 'GET', path: '/api/v1/keys', headers: asManager(stand), body: '' },
    ],
  },
  workspace: {
    text: 'one workspace renamed in a loop',
    requests: (stand) =>
      Array.from({ length: 2 }, (_, nth) => ({
        method: 'PATCH',
        path: `/api/v1/workspaces/${stand.attacker.workspaceId}`,
        headers: { ...asManager(stand), ...JSON_TYPE },
        body: JSON.stringify({ name: `Neighbour ${nth}` }),
      })),
    perS: 300,
  },
} satisfies Readonly<Record<string, Attack>>

const vaultAttacks = {
  egress: {
    text: 'requests with secrets whose form-encoded body is 64 KiB of encoded letters and placeholders',
    requests: (stand) => [
      {
        method: 'POST',
        path: `/egress/localhost:${stand.mock.port}/v1/embeddings`,
        headers: {
          'x-sluice-key': stand.attacker.inference,
          'content-type': 'application/x-www-form-urlencoded',
        },
        body: '%41{{secret:a}}'.repeat(Math.floor(65_000 / 15)),
      },
      {
        method: 'GET',
        path: `/egress/localhost:${stand.mock.port}/x?${'%41{{secret:a}}'.repeat(500)}`,
        headers: { 'x-sluice-key': stand.attacker.inference },
        body: '',
      },
    ],
  },
  audit: {
    text: 'releases that are refused, each of them audited',
    requests: (stand) => [
      {
        method: 'GET',
        path: '/egress/elsewhere.example/',
        headers: {
          'x-sluice-key': stand.attacker.inference,
          authorization: `Bearer {{secret:${stand.attacker.secret}}}`,
        },
        body: '',
      },
    ],
  },
} satisfies Readonly<Record<string, Attack>>

export const ATTACKS = {
  ...jsonAttacks,
  ...answerAttacks,
  ...chatAttacks,
  ...bodyAttacks,
  ...controlAttacks,
  ...vaultAttacks,
} satisfies Readonly<Record<string, Attack>>
export type RequestAttackName = keyof typeof ATTACKS
