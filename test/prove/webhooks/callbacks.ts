/** No webhook goes where callers may not send one, whatever its address says, or comes to mean later. */
import { createServer, type AddressInfo, type Server } from 'node:net'
import { hostileDestinations } from '../../support/egress/hostile-destinations.ts'
import { freePort } from '../../support/nodes/spawned.ts'
import { startStand } from '../../support/nodes/stand.ts'
import { startTarget } from '../../support/egress/vetted-stand.ts'
import { openWebhookStand, type WebhookStand } from '../../support/webhooks/webhook-stand.ts'
import { checkCallbackUrl } from '../../../src/schemas/webhooks/callback-urls.ts'
import { some } from '../videos/judging.ts'
import { VideoClient } from '../videos/offers.ts'
import type { Program, Proof } from '../proof.ts'

const SUBMITTED_MIN = 100
const DELIVERED_MIN = 30
/** Where the trap stands: of loopback, as the receiver, but not allowed. */
const TRAP_ADDRESS = '127.0.0.3'
const PUBLIC_ADDRESS = '93.184.216.34'
/** Means 87.0.0.1 to every reader of URLs, which is public. */
const PUBLIC_AFTER_ALL = '0127.0.0.1'

/** Addresses that are wrong before their host is looked at. */
const ODD = [
  'http://good.example/',
  'ftp://good.example/',
  'file:///etc/passwd',
  'javascript:alert(1)',
  'data:text/plain,x',
  'ws://good.example/',
  'unix:/run/x.sock',
  '//good.example/',
  '/relative',
  'good.example',
  'https://',
  'https:///path',
  'https://user@good.example/',
  'https://user:pass@good.example/',
  'https://:pass@good.example/',
  'https://good.example@127.0.0.1/',
  'https://127.0.0.1#@good.example/',
  'https://127.0.0.1?@good.example/',
  'https://good.example\\@127.0.0.1/',
  'https://good.example/\r\nx: y',
  'https://good.example/\0',
  'https://good.example/ with spaces',
  'https://gö.example/',
  'https://good.example/\ud800',
  'HTTP://GOOD.EXAMPLE/',
  'https://[::1',
  'https://[::1]:443/',
  'https://localhost/',
  'https://localhost:8443/',
  'https://LOCALHOST./',
]

export const program: Program = {
  text: 'over 100 hostile callback URLs are refused at submission, over 30 at delivery, and one good receiver is reached',
  async run(proof) {
    // A port that the system gives to no process: another test may still call a server of its own that has
    // ended.
    const trap = await startTarget(null, '0.0.0.0', await freePort())
    proof.after(() => trap.close())
    await submissions(proof, trap.port)
    await deliveries(proof, trap.port)
    proof.check(
      'no connection arrives at the trap',
      trap.connections === 0,
      `${trap.connections} on every address of this machine`,
    )
  },
}

/** By the API of a node without any allowed destination. */
async function submissions(proof: Proof, trapPort: number): Promise<void> {
  const stand = await startStand()
  proof.after(() => stand.stop())
  const client = new VideoClient(stand.port, stand.keys.inference_key)
  proof.after(async () => client.close())
  const direct = hostileDestinations().filter(
    ({ resolves, host }) => resolves === undefined && host !== PUBLIC_AFTER_ALL && !isName(host),
  )
  const ports = hostileDestinations()
    .filter(({ port }) => port !== undefined && port !== 443.5)
    .map(({ port }) => `https://93.184.216.34:${port}/`)
  const urls = [...direct.map(({ host }) => `https://${host}:${trapPort}/`), ...ports, ...ODD]
  const wrong: string[] = []
  for (const url of urls) {
    const body = { model: 'sluice/clip-1', prompt: 'x', duration: 1, callback_url: url }
    const { status, text } = await client.call('POST', '/videos', { body })
    if (status !== 400) wrong.push(`${JSON.stringify(url)}: ${status} ${text.slice(0, 120)}`)
  }
  for (const one of wrong) proof.say(one)
  proof.check(`at least ${SUBMITTED_MIN} are tried`, urls.length >= SUBMITTED_MIN, `${urls.length}`)
  proof.check(
    'each is refused at submission',
    wrong.length === 0,
    `${wrong.length} of ${urls.length} are not`,
  )
  const { status } = await client.call('POST', '/videos', {
    body: {
      model: 'sluice/clip-1',
      prompt: 'x',
      duration: 1,
      callback_url: `https://${PUBLIC_ADDRESS}:8443/in`,
    },
  })
  proof.check('a good one is taken', status === 202, `${status}`)
}

/** Tricks that come to a name which leads nowhere are taken: the delivery decides. */
function isName(host: string): boolean {
  return !URL.canParse(`https://${host}/`)
    ? false
    : /[a-z]$/i.test(new URL(`https://${host}/`).hostname.replace(/\.$/, ''))
}

/** By a sender whose names lead elsewhere than they did, and whose receivers send it on. */
async function deliveries(proof: Proof, trapPort: number): Promise<void> {
  const answers = new Map<string, string[]>()
  const teardown = { teardown: (done: () => Promise<void> | void) => proof.after(async () => done()) }
  const stand = await openWebhookStand(teardown, {
    allow: ['127.0.0.1'],
    resolve: (name) => {
      const [first = '127.0.0.1', ...later] = answers.get(name) ?? []
      if (later.length > 0) answers.set(name, later)
      return Promise.resolve([first])
    },
  })
  const beside = await listenBeside(proof, stand)
  const hosts = await tellAll(stand, { answers, trapPort })
  stand.receiver.answerWith((res, _nth, { path }) => {
    // The next attempt needs a connection of its own.
    if (path === '/rebound') return void res.destroy()
    const status = Number(/redirect-(\d+)/.exec(path)?.[1] ?? 200)
    res.writeHead(status, { location: `https://${TRAP_ADDRESS}:${trapPort}/` }).end()
  })
  await stand.tell({ url: stand.receiver.url('good', '/good') })
  stand.start()
  const rows = await stand.settled()
  const hostile = rows.filter(({ url }) => !url.endsWith('/good'))
  const wrong = hostile.filter(
    ({ state, last_reason: reason }) => state !== 'dead' || (reason !== 'refused' && reason !== 'redirect'),
  )
  proof.check(
    `at least ${DELIVERED_MIN} more are taken at first`,
    hosts >= DELIVERED_MIN && hostile.length === hosts,
    `${hosts}`,
  )
  const text = wrong.map(({ url, state, last_reason: reason }) => `${url} ${state} ${reason}`)
  proof.check(
    'each is refused at delivery',
    wrong.length === 0,
    `${wrong.length} of ${hostile.length} are not${some(text)}`,
  )
  const good = rows.find(({ url }) => url.endsWith('/good'))
  proof.check(
    'the good receiver is reached',
    good?.state === 'delivered',
    `${good?.state}, ${stand.receiver.connections} connections`,
  )
  proof.check('nobody comes to the address beside it', beside() === 0, `${beside()} connections`)
}

/** The receiver's port on an address that is not allowed. */
async function listenBeside(proof: Proof, { receiver }: WebhookStand): Promise<() => number> {
  let count = 0
  const server: Server = createServer((socket) => {
    count++
    socket.destroy()
  })
  await new Promise<void>((resolve) => server.listen(receiver.port, TRAP_ADDRESS, resolve))
  proof.after(async () => void server.close())
  if ((server.address() as AddressInfo).port !== receiver.port) throw new Error('it listens elsewhere')
  return () => count
}

interface Telling {
  readonly answers: Map<string, string[]>
  readonly trapPort: number
}

/** @returns the number of deliveries: each URL would be accepted at submission */
async function tellAll(stand: WebhookStand, { answers, trapPort }: Telling): Promise<number> {
  const { receiver } = stand
  const urls: string[] = []
  const addresses = hostileDestinations()
    .filter(({ resolves }) => resolves?.length === 1)
    .flatMap(({ resolves = [] }) => resolves)
  const hostile = addresses.filter((address) => address !== '127.0.0.1' && address !== '')
  for (const [nth, address] of hostile.entries()) {
    // Public when it was submitted, and then another one.
    answers.set(`late-${nth}.hooks.example`, [PUBLIC_ADDRESS, address])
    urls.push(`https://late-${nth}.hooks.example:${trapPort}/`)
  }
  for (let nth = 0; nth < 12; nth++) {
    // The first attempt gets to the receiver, which fails it; then the name is bound to the trap's address.
    answers.set(`rebound-${nth}.hooks.example`, ['127.0.0.1', '127.0.0.1', TRAP_ADDRESS])
    urls.push(receiver.url(`rebound-${nth}`, '/rebound'))
  }
  for (const status of [301, 302, 303, 307, 308])
    urls.push(receiver.url(`sent-on-${status}`, `/redirect-${status}`))
  let count = 0
  for (const url of urls) {
    const taken = await checkCallbackUrl(url, { path: '/callback_url', gate: stand.egress, holder: null })
    if (!taken.ok) continue
    await stand.tell({ url })
    count++
  }
  return count
}
