import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { ok } from '../../../../src/schemas/failures.ts'
import { openReleases } from '../../../../src/server/vault/releases.ts'
import { openRootKeys } from '../../../../src/server/vault/root-keys.ts'
import { VaultKeys } from '../../../../src/server/vault/vault-keys.ts'
import { openStore, type Store } from '../../../../src/server/store/base/open.ts'
import { openSecretRows } from '../../../../src/server/store/vault/secrets.ts'
import { runtimeOf } from '../../../../src/server/supervisor/data-directory/data-directory.ts'
import { answerTask } from '../../../../src/workers/tasks.ts'
import { connected } from '../../../support/wire/connected.ts'
import { served } from '../../../support/wire/served.ts'
import { SILENT } from '../../../support/log.ts'
import {
  firstKeys,
  nodeSettings,
  startNode,
  type Settings,
  type TestNode,
} from '../../../support/nodes/node.ts'
import { CLI } from '../../../support/audit/audit.ts'
import type { Proof } from '../../proof.ts'

export const HOST = 'localhost'

export interface RotationStand {
  readonly settings: Settings
  readonly organizationId: string
  readonly workspaceId: string
  /** Of the target that answers 204 when `x-token` begins with `x-want`. */
  readonly targetPort: number
  node: TestNode
  /** Of the node's own Postgres. */
  store: Store
  call(method: string, path: string, more?: CallMore): Promise<Answer>
  /** What a process with the root keys of the data directory releases; null = refused. */
  releaser(): (internId: string, name: string) => Promise<string | null>
  /** The node ends and another one starts, with the root keys that stand in the file then. */
  restart(): Promise<void>
}

export interface CallMore {
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

export interface Answer {
  readonly status: number
  readonly text: string
}

export async function startRotationStand(proof: Proof): Promise<RotationStand> {
  const home = { teardown: (close: () => Promise<void> | void) => proof.after(async () => close()) }
  const targetPort = await startTarget(proof)
  const settings = {
    ...(await nodeSettings(home, { isEmbedded: true })),
    SLUICE_FRONTS: '2',
    SLUICE_EGRESS_ALLOW: `http:127.0.0.0/8:${targetPort},http:[::1/128]:${targetPort}`,
  }
  const node = await startNode(home, settings)
  const keys = firstKeys(node.dataDir)
  const [organizationId, workspaceId] = [keys['organization_id'] ?? '', keys['workspace_id'] ?? '']
  const stand: RotationStand = {
    settings,
    organizationId,
    workspaceId,
    targetPort,
    node,
    store: await storeOf(node.dataDir),
    call: (method, path, more = {}) =>
      served(() =>
        ask({ url: stand.node.ready.url, key: keys['inference_key'] ?? '', method, path, ...more }),
      ),
    releaser() {
      const rows = openSecretRows(stand.store)
      const vaultKeys = new VaultKeys({
        rows,
        rootKeys: openRootKeys({ setting: null, file: null, dataDir: node.dataDir }),
      })
      const jobs = {
        run: async (name: Parameters<typeof answerTask>[0], input: never) =>
          ok(await answerTask(name, input)),
      }
      const releases = openReleases({
        rows,
        keys: vaultKeys,
        jobs: jobs as never,
        audit: { note: () => true },
        log: SILENT,
      })
      return async (internId, name) => {
        const value = await releases.release({
          scope: { organizationId, workspaceId, internId },
          name,
          host: HOST,
          operation: 'prove',
          by: CLI,
        })
        return value.ok ? value.value.reveal() : null
      }
    },
    async restart() {
      await stand.store.close()
      await stand.node.stop()
      stand.node = await startNode(home, settings)
      stand.store = await storeOf(node.dataDir)
    },
  }
  proof.after(() => stand.store.close())
  return stand
}

async function storeOf(dataDir: string): Promise<Store> {
  const runtime = runtimeOf(dataDir)
  if (runtime === null) throw new Error('no node runs there')
  return connected(openStore({ url: runtime.databaseUrl, poolMax: 3, applicationName: 'sluice-prove' }))
}

async function startTarget(proof: Proof): Promise<number> {
  const server = createServer((req, res) => {
    const isRight = String(req.headers['x-token']).startsWith(String(req.headers['x-want']))
    req.resume().on('end', () => res.writeHead(isRight ? 204 : 409).end())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  proof.after(
    () =>
      new Promise<void>((resolve) => {
        server.closeAllConnections()
        server.close(() => resolve())
      }),
  )
  return (server.address() as AddressInfo).port
}

interface Asked extends CallMore {
  readonly url: string
  /** Of what is asked of the API; a call of egress brings one of its own. */
  readonly key: string
  readonly method: string
  readonly path: string
}

async function ask({ url, key, method, path, headers = {}, body }: Asked): Promise<Answer> {
  const isEgress = path.startsWith('/egress')
  const own = isEgress ? {} : { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  const answer = await fetch(`${url}${isEgress ? '' : '/api/v1'}${path}`, {
    method,
    headers: { ...own, ...headers },
    ...(body === undefined ? {} : { body }),
  })
  return { status: answer.status, text: await answer.text() }
}
