/** A secret's value is in no log, store, metric, trace, reply or process title, in no form. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as after } from 'node:timers/promises'
import { runToEnd, sluice, until } from '../../support/nodes/node.ts'
import { tree } from '../../support/load/process-cpu.ts'
import { newMarker } from './canary/needles.ts'
import { Scan, type Scanned } from './canary/scan.ts'
import {
  clusterOf,
  startCanaryStand,
  valueOf,
  withPostgres,
  withRedis,
  type CanaryStand,
} from './canary/stand.ts'
import type { Program, Proof } from '../proof.ts'

/** Milliseconds until spans, batches of events and log lines have left their buffers. */
const SETTLING_MS = 6_000
const SECRET = 'canary_key'

export const program: Program = {
  text: 'random secret values written, replaced, copied, released, refused and in flight at a kill -9 are found nowhere',
  async run(proof) {
    const marker = newMarker()
    const stand = await startCanaryStand(proof, marker)
    await written(proof, stand)
    await used(proof, stand)
    await refused(proof, stand)
    await killed(proof, stand)
    await after(SETTLING_MS)
    await until('a span or a broadcast has come', () => stand.sink.bodies.length > 0)
    proof.check(
      'spans and broadcasts were taken',
      stand.sink.bodies.length > 0,
      `${stand.sink.bodies.length}`,
    )
    report(proof, 'no value is found anywhere', await scanAll(stand), 0)
    await planted(proof, stand)
  },
}

/** Written, replaced, copied, and listed in every way. */
async function written(proof: Proof, { call, marker }: CanaryStand): Promise<void> {
  const put = (path: string): ReturnType<typeof call> =>
    call('PUT', path, { body: { hosts: ['localhost'], value: marker.value() } })
  const statuses: number[] = []
  for (let round = 0; round < 3; round++) statuses.push((await put(`/vault/secrets/${SECRET}`)).status)
  statuses.push((await put('/vault/secrets/second_key')).status)
  const intern = await call('POST', '/interns', {
    key: 'management',
    body: { name: 'canary', provision: false },
  })
  const id = String(intern.body['id'])
  statuses.push((await put(`/vault/interns/${id}/secrets/own_key`)).status)
  statuses.push(
    (await call('POST', `/vault/interns/${id}/secrets/copy`, { body: { names: [SECRET, 'second_key'] } }))
      .status,
  )
  for (const path of [
    '/vault/secrets',
    `/vault/interns/${id}/secrets`,
    `/vault/interns/${id}/effective-secrets`,
  ]) {
    statuses.push((await call('GET', path)).status)
  }
  proof.check(
    'secrets are written, replaced, copied and listed',
    statuses.every((status) => status === 200),
    statuses.join(' '),
  )
}

/** Released into a header, a query and a body, and reflected by the target in a header. */
async function used(proof: Proof, { call, target, marker }: CanaryStand): Promise<void> {
  const host = `localhost:${target.port}`
  const headers = { 'x-token': `{{secret:${SECRET}}}` }
  const before = target.heads.length
  const answer = await call('GET', `/egress/${host}/echo?token=%7B%7Bsecret:second_key%7D%7D`, { headers })
  const posted = await call('POST', `/egress/${host}/echo`, {
    headers: { ...headers, 'x-sluice-substitute': 'body' },
    text: `{"token":"{{secret:${SECRET}}}"}`,
  })
  const seen = target.heads.slice(before).every((head) => String(head['x-token']).includes(marker.text))
  proof.check(
    'the target sees the value: the canary is alive',
    seen && target.heads.length === before + 2,
    `${answer.status}, ${posted.status}`,
  )
}

/** Every way to get an error about a value or its use. */
async function refused(proof: Proof, { call, target, marker }: CanaryStand): Promise<void> {
  const path = '/vault/secrets/refused_key'
  const tries = [
    await call('PUT', path, { body: { hosts: [marker.value()], value: marker.value() } }),
    await call('PUT', path, { body: { hosts: ['localhost'], value: [marker.value()] } }),
    await call('PUT', path, { body: { hosts: marker.value(), value: marker.value() } }),
    await call('PUT', path, { text: `{"hosts":["localhost"],"value":"${marker.text}` }),
    await call('PUT', path, {
      body: { hosts: ['localhost'], value: `${marker.value()}${'x'.repeat(65_536)}` },
    }),
    await call('PUT', path, { body: { hosts: ['localhost'], value: marker.value().repeat(10_000) } }),
    await call('PUT', path, { key: 'management', body: { hosts: ['localhost'], value: marker.value() } }),
    await call('PUT', path, {
      headers: { authorization: 'Bearer sk-sluice-v1-unknown' },
      body: { hosts: ['localhost'], value: marker.value() },
    }),
    await call('GET', `/egress/other.localhost:${target.port}/echo`, {
      headers: { 'x-token': `{{secret:${SECRET}}}` },
    }),
  ]
  const statuses = tries.map(({ status }) => status)
  proof.check(
    'refusals are refusals',
    statuses.every((status) => status >= 400 && status < 500),
    statuses.join(' '),
  )
}

/** Writes and releases are under way when a front, and then the whole node, is killed. */
async function killed(proof: Proof, stand: CanaryStand): Promise<void> {
  const rounds = proof.isShort ? 1 : 5
  for (let round = 0; round < rounds; round++) {
    const flood = floodOf(stand)
    await after(50 + proof.random(100))
    const [front] = stand.node.pidsOf('front')
    if (front !== undefined) process.kill(front, 'SIGKILL')
    await flood
    await until('the front is replaced', () => stand.node.pidsOf('front').length === 2)
  }
  const flood = floodOf(stand)
  await after(100)
  await stand.node.killHard()
  await flood
  await stand.start()
  const { status } = await stand.call('GET', '/vault/secrets')
  proof.check(
    `the node comes back after ${rounds} killed fronts and a kill of its own`,
    status === 200,
    String(status),
  )
}

async function floodOf({ call, marker }: CanaryStand): Promise<void> {
  const puts = Array.from({ length: 200 }, (_, n) =>
    call('PUT', `/vault/secrets/flood_${n % 20}`, {
      body: { hosts: ['localhost'], value: marker.value() },
    }).catch(() => null),
  )
  await Promise.all(puts)
}

const VERBS: readonly (readonly string[])[] = [
  ['audit', 'export'],
  ['audit', 'list', '--json'],
  ['config', 'print', '--json'],
  ['doctor', '--json'],
]

/** Looks at everything that the node has sent or kept. */
export async function scanAll(stand: CanaryStand, verbs = VERBS): Promise<Scanned> {
  const { node, settings, marker, sink, replies, outputs } = stand
  const scan = new Scan(marker.needles)
  for (const [nth, text] of [...outputs, node.output()].entries()) scan.text(`output ${nth}`, text)
  for (const path of ['/metrics', '/readyz', '/healthz']) scan.text(path, (await node.admin(path)).body)
  for (const verb of verbs) {
    const { stdout, stderr } = await runToEnd(settings, sluice(...verb))
    scan.text(verb.join(' '), stdout + stderr)
  }
  for (const [nth, text] of replies.entries()) scan.text(`reply ${nth}`, text)
  for (const [nth, body] of sink.bodies.entries()) scan.text(`trace or broadcast ${nth}`, body)
  await withRedis(node.dataDir, async (redis) => {
    for (const key of await redis.keys('*'))
      scan.text(`Redis ${key}`, `${key} ${JSON.stringify(await valueOf(redis, key))}`)
  })
  // The memory of Postgres is in its files then, besides the log of changes.
  await withPostgres(node.dataDir, (sql) => sql`CHECKPOINT`)
  for (const folder of [node.dataDir, clusterOf(node.dataDir)]) scan.folder(folder)
  scan.processes(tree(node.pid).map(({ pid }) => pid))
  return scan.result
}

/** The scan itself: a value planted in each place, in each form, is found there. */
async function planted(proof: Proof, stand: CanaryStand): Promise<void> {
  const { node, marker, replies } = stand
  const folder = join(node.dataDir, 'files', 'planted')
  mkdirSync(folder, { recursive: true })
  for (const [nth, { bytes }] of marker.needles.entries())
    writeFileSync(join(folder, String(nth)), Buffer.concat([Buffer.alloc(7), bytes]))
  await withPostgres(
    node.dataDir,
    (sql) => sql`CREATE TABLE planted AS SELECT ${marker.text}::text AS planted`,
  )
  await withRedis(node.dataDir, (redis) => redis.set('planted', marker.text))
  replies.push(marker.text)
  // Nothing was planted for a verb to print.
  const { hits } = await scanAll(stand, [])
  const places = { file: folder, Postgres: clusterOf(node.dataDir), Redis: 'Redis planted', reply: 'reply' }
  const missing = Object.entries(places)
    .filter(([, place]) => !hits.some((hit) => hit.place.startsWith(place)))
    .map(([name]) => name)
  const forms = marker.needles
    .filter((_, nth) => !hits.some((hit) => hit.place === join(folder, String(nth))))
    .map(({ form }) => form)
  const found = [...missing, ...forms].join(', ') || `${hits.length} found`
  proof.check(
    'the scan finds what is planted, in each place and form',
    missing.length + forms.length === 0,
    found,
  )
  rmSync(folder, { recursive: true })
}

function report(proof: Proof, text: string, { hits, bytes, places }: Scanned, most: number): void {
  for (const { place, form } of hits.slice(0, 20)) proof.say(`${place}: ${form}`)
  proof.check(
    text,
    hits.length <= most,
    `${hits.length} hits in ${(bytes / 1e6).toFixed(1)} MB of ${places} places`,
  )
}
