import type { Test } from 'tap'
import type { ApiKey } from '../../../src/schemas/keys/keys.ts'
import { openInternsFront, type Answered, type InternsFront } from '../workspaces/interns-front.ts'

export interface KeysFront extends InternsFront {
  /** Makes a key by the API. */
  make(body?: object): Promise<{ readonly data: ApiKey; readonly key: string }>
  /** The key as the API returns it. */
  look(hash: string): Promise<ApiKey>
  rotate(hash: string, body?: object): Promise<Rotated>
  /** The status of a call that every kind of key may make. */
  works(key: string): Promise<number>
}

export interface Rotated {
  readonly data: ApiKey
  readonly key: string
  readonly previous: { readonly hash: string; readonly expires_at: string }
}

/** A front over keys of two organizations. */
export async function openKeysFront(t: Test): Promise<KeysFront> {
  const front = await openInternsFront(t)
  const { call } = front
  return {
    ...front,
    make: async (body = {}) => bodyOf(await call('POST', '/keys', { body: { name: 'k', ...body } }), 201),
    look: async (hash) => bodyOf<{ data: ApiKey }>(await call('GET', `/keys/${hash}`), 200).data,
    rotate: async (hash, body = {}) => bodyOf(await call('POST', `/keys/${hash}/rotate`, { body }), 200),
    works: async (key) => (await call('GET', '/key', { key })).status,
  }
}

function bodyOf<T>({ status, body }: Answered, expected: number): T {
  if (status !== expected) throw new Error(`${status}: ${JSON.stringify(body)}`)
  return body as T
}
