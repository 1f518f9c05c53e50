import { readFileSync } from 'node:fs'
import { isKeyedProvider, KEYED_PROVIDERS, type KeyedProvider } from '../../schemas/provider-keys.ts'
import { Secret } from '../../schemas/secret.ts'
import type { KeyRing } from '../ports/key-ring.ts'
import { openDataKeys } from '../store/data-keys.ts'
import type { Store } from '../store/open.ts'
import { openProviderKeyRows } from '../store/provider-keys.ts'
import { openKeyRing } from '../vault/key-ring.ts'
import { openProviderKeys } from '../vault/provider-keys.ts'
import { need } from './admin.ts'
import { ownRootKeys } from './root-keys.ts'

export interface ProviderKeyWish {
  readonly provider: KeyedProvider
  /** Null removes the key that is there. */
  readonly key: Secret | null
}

const STANDARD_INPUT = 0
/** Characters that a header value may have; a line break in a key would be another header. */
const KEY_SHAPE = /^[\x21-\x7e]+$/

/**
 * Reads `openai=KEY`. @returns what is wrong instead, without the text: a message of commander's own would show it
 */
export function parseProviderKey(text: string): ProviderKeyWish | string {
  const at = text.indexOf('=')
  const provider = text.slice(0, Math.max(0, at))
  if (!isKeyedProvider(provider)) return `--provider-key takes a provider, "=" and its key; providers are ${KEYED_PROVIDERS.join(', ')}`
  const given = text.slice(at + 1)
  if (given === '') return { provider, key: null }
  const key = given === '-' ? readFileSync(STANDARD_INPUT, 'utf8').trim() : given
  return KEY_SHAPE.test(key) ? { provider, key: new Secret(key) } : 'a provider key has visible ASCII characters and nothing else'
}

/** Throws CliFailure. @returns what became of each */
export async function setProviderKeys(
  store: Store, workspaceId: string, wishes: readonly ProviderKeyWish[],
): Promise<readonly { readonly provider: KeyedProvider; readonly is: 'set' | 'removed' | 'absent' }[]> {
  const ring = rootRing(store)
  const keys = openProviderKeys({ ring, rows: openProviderKeyRows(store) })
  const changes: { provider: KeyedProvider; is: 'set' | 'removed' | 'absent' }[] = []
  for (const { provider, key } of wishes) {
    if (key === null) changes.push({ provider, is: need(await keys.remove(workspaceId, provider)) ? 'removed' : 'absent' })
    else {
      need(await keys.put(workspaceId, provider, key))
      changes.push({ provider, is: 'set' })
    }
  }
  return changes
}

/** The key ring of this installation. Throws CliFailure. */
export function rootRing(store: Store): KeyRing {
  return openKeyRing({ rootKeys: ownRootKeys(), rows: openDataKeys(store) })
}
