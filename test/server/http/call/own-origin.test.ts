/** C39: `docs_url` of an error is a whole URL, by a host that is safe to repeat. */
import { request } from 'node:http'
import t from 'tap'
import { openFront, type TestFront } from '../../../support/front.ts'

const PAGE = '/docs/errors/route_unknown'

/** @returns `docs_url` of an answer to a request with these headers */
function docsUrl({ url }: TestFront, headers: Record<string, string>): Promise<string> {
  return new Promise((resolve, reject) => {
    const sent = request(`${url}/none`, { headers }, (answer) => {
      let text = ''
      answer.setEncoding('utf8')
      answer.on('data', (piece: string) => (text += piece))
      answer.on('end', () => {
        const { error } = JSON.parse(text) as { error: { metadata: { docs_url: string } } }
        resolve(error.metadata.docs_url)
      })
    })
    sent.on('error', reject)
    sent.end()
  })
}

t.test('404 route_unknown: docs_url begins with the host of the request', async (t) => {
  const front = await openFront(t, [], { publicUrl: null })
  t.equal(await docsUrl(front, {}), `${front.url}${PAGE}`)
  for (const host of [
    'gateway.example',
    'gateway.example:8443',
    'a_b.internal',
    '10.0.0.7:8080',
    '[::1]:8080',
  ])
    t.equal(await docsUrl(front, { host }), `http://${host}${PAGE}`)
  t.equal(await docsUrl(front, { host: 'Gateway.EXAMPLE' }), `http://gateway.example${PAGE}`)
})

t.test('404 route_unknown: an invalid Host header is not repeated', async (t) => {
  const front = await openFront(t, [], { publicUrl: null })
  for (const host of [
    'a.example/x',
    'user@a.example',
    'a.example:0',
    'a.example:65536',
    'a.example:x',
    'a b',
    '<b>',
    'a"b',
    'a..b',
    '-a.example',
    '[::1',
    `${'a'.repeat(64)}.example`,
    `${'a.'.repeat(150)}example`,
  ])
    t.equal(await docsUrl(front, { host }), PAGE, host)
})

t.test('404 route_unknown: SLUICE_PUBLIC_URL wins over the host of the request', async (t) => {
  const front = await openFront(t, [], { publicUrl: 'https://sluice.example' })
  for (const host of ['other.example', 'a b'])
    t.equal(await docsUrl(front, { host }), `https://sluice.example${PAGE}`)
})

t.test('404 route_unknown: only a proxy listed in SLUICE_PROXIES determines the scheme', async (t) => {
  const headers = { host: 'a.example', 'x-forwarded-proto': 'https' }
  const listed = await openFront(t, [], { publicUrl: null, proxies: ['10.0.0.0/8', '127.0.0.0/8'] })
  t.equal(await docsUrl(listed, headers), `https://a.example${PAGE}`)
  t.equal(await docsUrl(listed, { ...headers, 'x-forwarded-proto': 'javascript' }), `http://a.example${PAGE}`)
  for (const proxies of [[], ['10.0.0.0/8', '::1']])
    t.equal(
      await docsUrl(await openFront(t, [], { publicUrl: null, proxies }), headers),
      `http://a.example${PAGE}`,
    )
})
