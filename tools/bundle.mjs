// Joins the modules of `dist/src` and of the packages into few files, `dist/bundle`: Node takes a quarter of
// a millisecond of CPU for each of the 1,400 modules of a front, in every process and thread anew. A node
// runs from there; tests and benches import the modules themselves.
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, relative, resolve } from 'node:path'
import { build } from 'esbuild'

const OUT = 'dist/bundle'
/** Entries of the bundle: the program, and the code of separate processes and threads. */
const ENTRIES = [
  'dist/src/server/cli/run.js',
  'dist/src/server/supervisor/redis/redis-process.js',
  'dist/src/server/catalogue/check-thread.js',
  'dist/src/workers/thread.js',
  'dist/src/workers/sessions/thread.js',
]
/** Packages that look for files beside their code, and packages that few nodes load. */
const EXTERNAL = [
  '@aws-sdk/*',
  '@opentelemetry/*',
  '@clack/prompts',
  'h264-mp4-encoder',
  'js-redis-server',
  'piscina',
  'uWebSockets.js',
]

/**
 * The package with the most modules, 683. Tests and benches, which import modules one by one, get it joined
 * too.
 */
const TYPEBOX = ['typebox', 'typebox/compile', 'typebox/format', 'typebox/value']
/** Folder of that joined package. */
const TYPEBOX_OUT = 'dist/typebox'

/**
 * Package that compiled tests find as `tap`: nearer than the installed one, and one module for its 150. Each
 * test process takes 0.13 s of CPU less. The code lies in a folder whose frames tap leaves out of its stacks.
 */
const TAP_OUT = 'dist/node_modules/tap'
const TAP_CODE = 'dist/node_modules/@tapjs/joined/tap.js'
/** Stands in the joined tap for a package of the same exports. */
const TAP_DOMAIN = 'tools/tap-domain.mjs'

/** Packages that are CommonJS ask for Node's own modules by `require`. */
const REQUIRE = {
  js: "import { createRequire as $createRequire } from 'node:module'\nconst require = $createRequire(import.meta.url)",
}

/**
 * What a node uses of undici 7.30.2, by private paths: its public index loads fetch, caches and mocks, too. That
 * is 743 KB of code for 287, 0.11 MB of the packed 2.2, and 50 ms of CPU and 5 MB of memory for every process
 * that calls out.
 */
const UNDICI = { Pool: 'undici/lib/dispatcher/pool.js', buildConnector: 'undici/lib/core/connect.js' }
/** Folder of these parts, joined: compiled modules of the product load one module for undici's 130. */
const UNDICI_OUT = 'dist/undici'
/** Encodes forms, which a node never sends; undici asks for it when it meets one. Joined, it takes 66 KB. */
const UNDICI_FORMS = 'undici/lib/web/fetch/body.js'

/**
 * Every process holds the text of its modules as long as it runs: without comments and indentation, and with
 * shorter forms of statements, that is less than half. A text with any character beyond Latin-1 takes twice its
 * bytes.
 */
const SMALL = { minifyWhitespace: true, minifySyntax: true, lineLimit: 120, charset: 'ascii' }

const COMMON = {
  // Chunks are named by their contents, and those of an earlier build stay: a running node may still load
  // one.
  chunkNames: 'part-[hash]',
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node20',
  legalComments: 'eof',
  logLevel: 'warning',
}

/** Compiled modules by the names under which a node finds them in `dist/bundle`. */
export const PROGRAMS = Object.fromEntries(ENTRIES.map((path) => [nameOf(path), path]))

export async function bundle() {
  // esbuild's default is the folder in which it was loaded, which a tool may have left for its tree's root.
  const absWorkingDir = process.cwd()
  await build({
    ...COMMON,
    absWorkingDir,
    entryPoints: Object.fromEntries(TYPEBOX.map((name) => [fileOf(name), name])),
    outdir: TYPEBOX_OUT,
  })
  await build({
    ...COMMON,
    absWorkingDir,
    entryPoints: ['undici'],
    outdir: UNDICI_OUT,
    banner: REQUIRE,
    plugins: [{ name: 'undici', setup: trimUndici }],
  })
  for (const folder of ['dist/src', 'dist/test', 'dist/bench']) if (existsSync(folder)) takeJoined(folder)
  await joinTap(absWorkingDir)
  await build({
    ...COMMON,
    absWorkingDir,
    entryPoints: PROGRAMS,
    outdir: OUT,
    external: EXTERNAL,
    banner: REQUIRE,
    ...SMALL,
    plugins: [
      { name: 'place', setup: keepPlaces },
      { name: 'undici', setup: trimUndici },
    ],
  })
}

async function joinTap(absWorkingDir) {
  const all = (from) => `export * from '${from}'\nexport { default } from '${from}'\n`
  const stdin = { contents: all('tap'), resolveDir: absWorkingDir }
  await build({
    ...COMMON,
    splitting: false,
    absWorkingDir,
    stdin,
    outfile: TAP_CODE,
    banner: REQUIRE,
    alias: { 'async-hook-domain': resolve(TAP_DOMAIN) },
  })
  mkdirSync(TAP_OUT, { recursive: true })
  writeFileSync(`${TAP_OUT}/package.json`, '{ "name": "tap", "type": "module", "exports": "./tap.js" }\n')
  writeFileSync(`${TAP_OUT}/tap.js`, all('../@tapjs/joined/tap.js'))
}

/** `session-thread` for `sessions/thread.js`: two entries must not share a name. */
function nameOf(path) {
  return path.includes('/sessions/') ? `session-${basename(path, '.js')}` : basename(path, '.js')
}

const fileOf = (name) => name.replace('/', '-')

/** Changes the compiler's output; files that the compiler did not write again are changed already. */
function takeJoined(folder) {
  // Tests and benches use more of undici than the product does.
  const packages =
    folder === 'dist/src' ? / from '(typebox(?:\/\w+)?|undici)'/g : / from '(typebox(?:\/\w+)?)'/g
  for (const name of readdirSync(folder, { recursive: true }).filter((name) => name.endsWith('.js'))) {
    const path = join(folder, name)
    const code = readFileSync(path, 'utf8')
    const joined = code.replace(
      packages,
      (_, specifier) =>
        ` from '${relative(dirname(path), specifier === 'undici' ? UNDICI_OUT : TYPEBOX_OUT).replaceAll('\\', '/')}/${fileOf(specifier)}.js'`,
    )
    if (joined !== code) writeFileSync(path, joined)
  }
}

/** Keeps the paths of modules: a module finds the files beside it wherever its code now is. */
function keepPlaces({ onLoad }) {
  onLoad({ filter: /[\\/]dist[\\/]src[\\/].*\.js$/ }, ({ path }) => {
    const code = readFileSync(path, 'utf8')
    const place = JSON.stringify(relative(OUT, path).replaceAll('\\', '/'))
    return { contents: code.replaceAll('import.meta.url', `new URL(${place}, import.meta.url).href`) }
  })
}

/** A name that a module imports and the list above does not have fails the build. */
function trimUndici({ onResolve, onLoad }) {
  const contents = Object.entries(UNDICI)
    .map(([name, path]) => `export { default as ${name} } from '${path}'`)
    .join('\n')
  // The joined one, too: a node has its modules among its own.
  onResolve({ filter: /^undici$|\/undici\/undici\.js$/ }, () => ({ path: 'undici', namespace: 'undici' }))
  onLoad({ filter: /^undici$/, namespace: 'undici' }, () => ({ contents, resolveDir: process.cwd() }))
  onResolve({ filter: /\/web\/fetch\/body\.js$/ }, () => ({ path: UNDICI_FORMS, external: true }))
}
