import { openStore, type Store } from '../../../src/server/store/base/open.ts'
import { openTestStore } from './postgres.ts'
import { openRelay, type Relay } from '../wire/relay.ts'

export interface FarStore {
  /** Reaches Postgres always. */
  readonly direct: Store
  /** Reaches it through the relay. */
  readonly store: Store
  readonly relay: Relay
}

/** A test database behind a relay, which the test may cut and freeze. */
export async function openFarStore(t: Parameters<typeof openTestStore>[0]): Promise<FarStore> {
  const direct = await openTestStore(t)
  const url = new URL(direct.options.url)
  const relay = await openRelay(t, { host: url.hostname, port: Number(url.port) })
  url.port = String(relay.port)
  const store = openStore({ ...direct.options, url: url.href })
  t.teardown(() => store.close())
  return { direct, store, relay }
}
