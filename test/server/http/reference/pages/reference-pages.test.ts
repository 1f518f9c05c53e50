import t from 'tap'
import Type from 'typebox'
import { highlighted } from '../../../../../src/server/http/reference/pages/highlight.ts'
import { memberRows, typeText } from '../../../../../src/server/http/reference/pages/operation-section.ts'
import { referencePages } from '../../../../../src/server/http/reference/pages/reference-pages.ts'
import { LANGUAGES } from '../../../../../src/server/http/reference/samples/samples.ts'
import { OPERATIONS } from '../../../../../src/server/operations/index.ts'
import { operation } from '../../../../support/front.ts'

const pages = referencePages(OPERATIONS)
const all = pages.map(({ html }) => html).join('\n')

t.test('special characters in the texts of a definition are escaped on the page', async (t) => {
  const text = `<img src=x onerror=alert(1)>"'&\``
  const planted = operation({
    tag: 'keys',
    summary: text,
    description: text,
    input: { query: Type.Object({ q: Type.Optional(Type.String({ description: text })) }) },
    example: { query: { q: text }, body: undefined },
  })
  for (const { html } of referencePages([planted])) {
    t.notMatch(html, '<img src=x')
    t.match(html, '&lt;img src=x onerror=alert(1)&gt;&quot;')
  }
})

t.test(
  'every operation has a section with a sample in every language, and a link on the first page',
  async (t) => {
    const first = pages[0]?.html ?? ''
    for (const { id, tag } of OPERATIONS) {
      t.match(first, `href="/docs/reference/${tag}#${id}"`)
      const section = (all.split(`<h2 id="${id}">`)[1] ?? '').split('<h2 id=')[0] ?? ''
      for (const language of Object.keys(LANGUAGES)) t.match(section, `data-language="${language}"`, id)
      t.match(section, 'class="try"', id)
    }
  },
)

t.test('a section states the required members of a request, but not of an answer', async (t) => {
  const html = pages.find(({ path }) => path === '/docs/reference/embeddings')?.html ?? ''
  const [inputs = '', answer = ''] = html.split('<h3>Answer')
  t.match(inputs, '<code>input</code> <small>required</small>')
  t.match(answer, '<code>usage.total_tokens</code></td>')
  t.notMatch(answer, '<small>required</small>')
})

t.test('the webhook of videos is on the page of videos', async (t) => {
  const videos = pages.find(({ path }) => path === '/docs/reference/videos')?.html ?? ''
  t.match(videos, '<h2 id="video.generation">')
  t.match(videos, 'x-sluice-signature')
})

t.test('every page has one first-level title, and unique ids', async (t) => {
  for (const { html, path } of pages) {
    t.equal(html.match(/<h1/g)?.length, 1, path)
    const ids = [...html.matchAll(/ id="([^"]*)"/g)].map(([, id]) => id)
    t.equal(new Set(ids).size, ids.length, path)
    t.notMatch(html, /undefined|\[object Object\]|<td><\/td><\/tr>/, path)
  }
})

t.test('every link inside the reference points to an existing section', async (t) => {
  const paths = new Set(pages.map(({ path }) => path))
  for (const { html, path } of pages)
    for (const [, link = ''] of html.matchAll(/href="(\/docs(?:\/reference\/[^"]*)?|#[^"]*)"/g)) {
      const [page = '', id] = link.split('#')
      const at = page === '' ? path : page
      t.ok(paths.has(at), link)
      const target = pages.find((one) => one.path === at)?.html ?? ''
      if (id !== undefined) t.ok(target.includes(` id="${id}"`), `${path}: ${link}`)
    }
})

t.test(
  'rows name members by their paths, once each, and as required when all alternatives require them',
  async (t) => {
    const schema = Type.Object({
      list: Type.Array(
        Type.Union([
          Type.Object({ type: Type.Literal('a'), n: Type.Integer({ minimum: 1, maximum: 9 }) }),
          Type.Object({ type: Type.Literal('b') }),
        ]),
      ),
      maybe: Type.Optional(Type.Union([Type.String({ maxLength: 5 }), Type.Null()])),
    })
    t.same(
      memberRows(JSON.parse(JSON.stringify(schema)), {}).map(({ path, type, isRequired }) => [
        path,
        type,
        isRequired,
      ]),
      [
        ['list', 'array of object', true],
        ['list[].type', '"a" | "b"', true],
        ['list[].n', 'integer, 1 to 9', false],
        ['maybe', 'string, at most 5 characters | null', false],
      ],
    )
    t.equal(typeText({ $ref: '#/a/b' }, { a: { b: { const: 1 } } }), '1')
  },
)

t.test(
  'a highlighted block without its markup is the original text in every language, with quotes and HTML characters',
  async (t) => {
    const text = `it's <b> & "x" # no 'comment\n# 5 > 4 // \${a}\ncurl -d '{"a":1}' "$b"\n\`c\``
    for (const language of ['sh', 'js', 'ts', 'python', 'json', 'text', ''])
      t.equal(
        highlighted(text, language)
          .replace(/<\/?span[^>]*>/g, '')
          .replaceAll('&lt;', '<')
          .replaceAll('&gt;', '>')
          .replaceAll('&quot;', '"')
          .replaceAll('&amp;', '&'),
        text,
        language,
      )
    t.match(
      highlighted("curl -d '# no' # yes", 'sh'),
      '<span class="string">\'# no\'</span> <span class="comment"># yes</span>',
    )
  },
)
