import { KEY_LOCK_WAIT_MS_MAX } from '../../schemas/keys/key-limits.ts'
import type { Config } from '../config.ts'
import { openStore, type Store } from '../store/base/open.ts'
import type { StartedPart } from '../supervisor/fleet/ipc.ts'
import { FRONT_POOL_MAX, KEY_POOL_MAX } from '../supervisor/fleet/shares.ts'

export interface FrontStores {
  readonly store: Store
  /** Also for the front's heartbeat and its look at admin ports: the connections of `store` may then close. */
  readonly keyLane: Store
}

/**
 * Opens a front's connections for calls, and apart from them the connection on which keys are loaded: a flood
 * of unknown keys leaves the others free. A heartbeat that waits for a lock gives up before a load of keys
 * behind it does.
 */
export function openStores(
  { caps }: Pick<Config, 'caps'>,
  { databaseUrl: url, slot }: Pick<StartedPart, 'databaseUrl' | 'slot'>,
): FrontStores {
  const applicationName = `sluice-front-${slot}`
  return {
    store: openStore({ url, poolMax: FRONT_POOL_MAX, applicationName, caps }),
    keyLane: openStore({
      url,
      poolMax: KEY_POOL_MAX,
      applicationName: `${applicationName}-keys`,
      lockMsMax: KEY_LOCK_WAIT_MS_MAX,
    }),
  }
}
