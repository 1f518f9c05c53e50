/** The configuration of HAProxy that docs/operate/several-nodes.md shows. */
import t from 'tap'
import { openFront, operation } from '../support/front.ts'
import { haproxyConfig } from '../support/nodes/haproxy.ts'
import { exchangeRaw } from '../support/wire/raw-http.ts'

const config = haproxyConfig({ port: 7_000, nodes: [7_001, 7_002] })

t.test('HAProxy listens, and connects to both nodes, at the expected addresses', async (t) => {
  t.match(config, /^ {2}bind 127\.0\.0\.1:7000$/m)
  const servers = [...config.matchAll(/^ {2}server (\S+) (\S+)$/gm)].map(([, ...parts]) => parts)
  t.same(servers, [
    ['node-1', '127.0.0.1:7001'],
    ['node-2', '127.0.0.1:7002'],
  ])
})

t.test('a node answers the health check of HAProxy', async (t) => {
  const [, method, path, version, header, value] =
    /^ {2}http-check send meth (\S+) uri (\S+) ver (\S+) hdr (\S+) (\S+)$/m.exec(config) ?? []
  const { port } = await openFront(t, [operation({})])
  const head = `${method} ${path} ${version}\r\n${header}: ${value}\r\nconnection: close\r\n\r\n`
  t.match(await exchangeRaw(port, head), /^HTTP\/1\.1 200 [^]*\{"status":"ready"\}$/)
})
