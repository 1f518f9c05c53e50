/** The front of the egress route, and a client of it that writes bytes and keeps what comes back as it came. */
import type { Test } from 'tap'
import { rawClient, type RawClient } from '../wire/raw-http.ts'
import { egressText, openEgressFront, type EgressFront, type EgressFrontOptions } from './egress-front.ts'

export interface RawEgressFront extends EgressFront {
  readonly client: RawClient
  send(line: string, headers?: readonly string[], body?: string): void
}

export async function openRawEgress(
  t: Test,
  target: EgressFrontOptions['target'],
  more: Partial<EgressFrontOptions> = {},
): Promise<RawEgressFront> {
  const front = await openEgressFront(t, { target, ...more })
  const client = rawClient(front.port)
  t.teardown(() => client.destroy())
  const { pathname } = new URL(front.base)
  return {
    ...front,
    client,
    send: (line, headers, body) => client.send(egressText(`${line} ${pathname}/x`, headers, body)),
  }
}
