import { readdirSync, readFileSync } from 'node:fs'
import { brotliDecompressSync } from 'node:zlib'
import t from 'tap'
import { ROOT } from '../support/source.ts'

const PAGE = `${ROOT}dist/src/server/dashboard/page/`
/**
 * Bytes of everything that a visit to all pages loads, as it is served: a budget, of which the two vendored
 * packages take 27 KB.
 */
const PAGE_BYTES_MAX = 95_000

const files = readdirSync(PAGE, { recursive: true, encoding: 'utf8' }).filter((path) =>
  /\.(?:html|css|js)$/.test(path),
)
const textOf = (path: string): string => readFileSync(PAGE + path, 'utf8')

t.test('the whole page is at most 95 KB, compressed', async (t) => {
  const packed = files.map((path) => readFileSync(`${PAGE}${path}.br`))
  const bytes = packed.reduce((sum, { length }) => sum + length, 0)
  t.same(
    packed.map((one) => brotliDecompressSync(one).toString()),
    files.map(textOf),
  )
  t.comment(`${files.length} files, ${bytes} bytes`)
  t.ok(bytes <= PAGE_BYTES_MAX, `${bytes} bytes`)
})

t.test('the page imports only its own files, and preloads all of them', async (t) => {
  const imports = files
    .filter((path) => path.endsWith('.js'))
    .flatMap((path) =>
      [...textOf(path).matchAll(/^import\b[^'"\n]*['"]([^'"]+)['"]/gm)].map(([, name = '']) => ({
        name,
        path: new URL(name, `file:///${path}`).pathname.slice(1),
      })),
    )
  t.ok(imports.length > 0)
  t.same(
    imports.filter(({ name, path }) => !name.startsWith('.') || !files.includes(path)),
    [],
  )
  const html = textOf('index.html')
  t.same(
    imports.filter(({ path }) => !html.includes(`rel="modulepreload" href="${path}"`)),
    [],
  )
})

t.test('no part of the page needs a policy that allows inline scripts or styles', async (t) => {
  t.notMatch(textOf('index.html'), /<style|\sstyle=|<script(?![^>]*\ssrc=)|\son\w+=/)
})

t.test('vendored code comes with its licence', async (t) => {
  for (const name of ['preact', 'uplot']) t.match(textOf(`vendor/${name}-license.txt`), /MIT/)
})
