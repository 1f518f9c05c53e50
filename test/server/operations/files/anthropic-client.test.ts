/** The official client, changed in its base URL and key only: it brings the key as `x-api-key`. C37. */
import t from 'tap'
import { anthropicClient } from '../../../support/wire/foreign-clients.ts'
import { openFilesFront } from '../../../support/files/files-front.ts'
import { KEY } from '../../../support/front.ts'

t.setTimeout(600_000)

async function upload(url: string, name: string): Promise<string> {
  const form = new FormData()
  form.append('file', new Blob(['one,two\n1,2\n']), name)
  const answer = await fetch(`${url}/files`, {
    method: 'POST',
    body: form,
    headers: { authorization: `Bearer ${KEY}` },
  })
  return ((await answer.json()) as { id: string }).id
}

t.test("Anthropic's client pages through all files, reads one and deletes it", async (t) => {
  const { url } = await openFilesFront(t)
  const ids: string[] = []
  for (const name of ['a.csv', 'b.csv', 'c.csv', 'd.csv', 'e.csv']) ids.push(await upload(url, name))
  const {
    beta: { files },
  } = await anthropicClient({ baseUrl: url.replace(/\/v1$/, ''), apiKey: KEY })
  const listed: string[] = []
  for await (const { id } of files.list({ limit: 2 })) listed.push(id)
  t.same(listed, ids)
  const [first = ''] = ids
  t.match(await files.retrieveMetadata(first), { id: first, size_bytes: 12 })
  t.match(await files.delete(first), { id: first })
})

t.test(
  'a page with before_id has the files just before that file, in order, and reports whether there are more',
  async (t) => {
    const { url } = await openFilesFront(t)
    const ids: string[] = []
    for (const name of ['a.csv', 'b.csv', 'c.csv', 'd.csv']) ids.push(await upload(url, name))
    const headers = { 'x-api-key': KEY, 'anthropic-beta': 'files-api-2025-04-14' }
    const page = async (query: string) => {
      const body = (await (await fetch(`${url}/files?${query}`, { headers })).json()) as {
        data: { id: string }[]
        has_more: boolean
        next_page: unknown
      }
      return { ids: body.data.map(({ id }) => id), more: body.has_more, next: typeof body.next_page }
    }
    t.same(await page(`limit=2&before_id=${ids[3] ?? ''}`), {
      ids: ids.slice(1, 3),
      more: true,
      next: 'string',
    })
    t.same(await page(`limit=5&before_id=${ids[2] ?? ''}`), {
      ids: ids.slice(0, 2),
      more: false,
      next: 'object',
    })
    t.same(await page(`limit=9&purpose=user_data&before_id=${ids[1] ?? ''}`), {
      ids: ids.slice(0, 1),
      more: false,
      next: 'object',
    })
  },
)

t.test('a list with after_id or before_id continues when the client adds `page` to its query', async (t) => {
  const { url } = await openFilesFront(t)
  const ids: string[] = []
  for (const name of ['a.csv', 'b.csv', 'c.csv', 'd.csv', 'e.csv']) ids.push(await upload(url, name))
  const {
    beta: { files },
  } = await anthropicClient({ baseUrl: url.replace(/\/v1$/, ''), apiKey: KEY })
  const all = async (query: object) => {
    const listed: string[] = []
    for await (const { id } of files.list(query)) listed.push(id)
    return listed
  }
  t.same(await all({ limit: 1, after_id: ids[1] }), ids.slice(2))
  t.same(await all({ limit: 2, before_id: ids[4] }), [...ids.slice(2, 4), ...ids.slice(0, 2)])
  t.same(await all({ ids: [ids[3], ids[0]] }), [ids[0], ids[3]])
})

t.test("x-api-key is read only for Anthropic's shape, and refused next to another credential", async (t) => {
  const { url } = await openFilesFront(t)
  const status = async (headers: Record<string, string>) => (await fetch(`${url}/files`, { headers })).status
  t.equal(await status({ 'x-api-key': KEY }), 401)
  t.equal(await status({ 'x-api-key': KEY, 'anthropic-version': '2023-06-01' }), 200)
  t.equal(await status({ 'x-api-key': 'no', 'anthropic-version': '2023-06-01' }), 401)
  t.equal(
    await status({ 'x-api-key': KEY, authorization: 'Bearer no', 'anthropic-version': '2023-06-01' }),
    401,
  )
})
