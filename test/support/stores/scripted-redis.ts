import { once } from 'node:events'
import { createServer, type AddressInfo, type Socket } from 'node:net'
import type { Teardown } from '../teardown.ts'

/** A server that speaks the protocol of Redis and answers every ping, whatever it thinks of scripts. */
export interface ScriptedRedis {
  readonly url: string
  /** Connections since the start. */
  readonly connections: () => number
  /** @param refusal the error with which scripts are refused from now on; null: they run */
  refuse(refusal: string | null): void
  /** @param refusal the error with which logins are refused from now on */
  refuseLogins(refusal: string): void
  /** Ends all connections. */
  drop(): void
  /** Connections that have subscribed and are open. */
  readonly subscribers: () => number
  publish(channel: string, message: string): void
  /** From now on a Sentinel gives the place of its primary only after `release`. */
  hold(): { readonly asked: () => number; readonly release: () => void }
}

interface ScriptedOptions {
  /** The server is a Sentinel, and this is the port of the primary. */
  readonly primaryPort?: () => number
  readonly isCluster?: boolean
  /** Left out: any port. */
  readonly port?: number
}

export async function openScriptedRedis(
  t: Teardown,
  { primaryPort = () => 0, isCluster = false, port = 0 }: ScriptedOptions = {},
): Promise<ScriptedRedis> {
  const info = `redis_version:7.0.15\r\nloading:0\r\nrole:master\r\ncluster_enabled:${isCluster ? 1 : 0}\r\n`
  let refusal: string | null = null
  let loginRefusal: string | null = null
  let connections = 0
  const [sockets, subscribed] = [new Set<Socket>(), new Set<Socket>()]
  let held: (() => void)[] | null = null
  const answer = ([name = '', topic = '']: readonly string[]): string => {
    if (name === 'INFO') return bulk(info)
    if (name === 'SENTINEL' && topic !== 'GET-MASTER-ADDR-BY-NAME') return '*0\r\n'
    if (name === 'SENTINEL') return `*2\r\n${bulk('127.0.0.1')}${bulk(String(primaryPort()))}`
    if (name === 'SUBSCRIBE') return `*3\r\n${bulk('subscribe')}${bulk(topic.toLowerCase())}:1\r\n`
    if (name === 'AUTH' && loginRefusal !== null) return `-${loginRefusal}\r\n`
    if (name === 'PING') return '+PONG\r\n'
    if (name.startsWith('EVAL')) return refusal === null ? ':1\r\n' : `-${refusal}\r\n`
    return '+OK\r\n'
  }
  const server = createServer((socket) => {
    connections++
    sockets.add(socket)
    socket.on('error', () => undefined).on('close', () => subscribed.delete(socket))
    onCommand(socket, (words) => {
      const [name, topic] = words
      if (name === 'SUBSCRIBE') subscribed.add(socket)
      const reply = (): void => void socket.write(answer(words))
      if (held !== null && topic === 'GET-MASTER-ADDR-BY-NAME') held.push(reply)
      else reply()
    })
  }).listen(port, '127.0.0.1')
  t.teardown(() => {
    server.close()
    for (const socket of sockets) socket.destroy()
  })
  await once(server, 'listening')
  return {
    url: `redis://127.0.0.1:${(server.address() as AddressInfo).port}`,
    connections: () => connections,
    refuse: (next) => {
      refusal = next
    },
    refuseLogins: (next) => {
      loginRefusal = next
    },
    drop: () => {
      for (const socket of sockets) socket.destroy()
    },
    subscribers: () => subscribed.size,
    publish: (channel, message) => {
      for (const socket of subscribed) {
        socket.write(`*3\r\n${['message', channel, message].map(bulk).join('')}`)
      }
    },
    hold: () => {
      const waiting: (() => void)[] = (held = [])
      const release = (): void => {
        held = null
        for (const reply of waiting) reply()
      }
      return { asked: () => waiting.length, release }
    },
  }
}

function onCommand(socket: Socket, take: (words: readonly string[]) => void): void {
  let text = ''
  socket.on('data', (chunk) => {
    text += chunk.toString('latin1')
    for (;;) {
      const command = commandIn(text)
      if (command === null) return
      text = text.slice(command.length)
      take(command.words)
    }
  })
}

/** The first whole command of a stream: an array of strings, each with its length before it. */
function commandIn(text: string): { readonly words: readonly string[]; readonly length: number } | null {
  const head = /^\*(\d+)\r\n/.exec(text)
  if (head === null) return null
  let at = head[0].length
  const words: string[] = []
  for (let nth = 0; nth < Number(head[1]); nth++) {
    const length = /^\$(\d+)\r\n/.exec(text.slice(at))
    if (length === null) return null
    const from = at + length[0].length
    at = from + Number(length[1]) + 2
    if (text.length < at) return null
    words.push(text.slice(from, at - 2).toUpperCase())
  }
  return { words, length: at }
}

function bulk(text: string): string {
  return `$${text.length}\r\n${text}\r\n`
}
