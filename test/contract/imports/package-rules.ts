/** Which folders may import which package, and open sockets, as data. Source: design §9 and §12. */
import { importsOf, type Import, type SourceFile } from '../../support/source.ts'
import { eachImport, folderOf, ourTarget } from './each-import.ts'

/** Which folders may import a package that is a driver's client library or that only one part should know. */
const PACKAGE_HOMES: Readonly<Record<string, readonly string[]>> = {
  'uWebSockets.js': ['http'],
  busboy: ['http'],
  undici: ['egress'],
  '@aws-sdk/client-s3': ['storage'],
  postgres: ['store'],
  ioredis: ['redis'],
  'js-redis-server': ['supervisor'],
  piscina: ['workers'],
  pino: ['observe'],
  'prom-client': ['observe'],
  '@opentelemetry/api': ['observe'],
  commander: ['cli'],
  preact: ['dashboard'],
  uplot: ['dashboard'],
  '@clack/prompts': ['cli'],
}

/** Modules that open sockets, and the folders that design §9 names besides the gate. */
const SOCKET_MODULES = new Set(['undici', 'net', 'tls', 'http', 'https', 'http2', 'dns', 'dgram'])
const MAY_OPEN_SOCKETS = new Set(['egress', 'store', 'redis', 'storage/s3', 'observe', 'http', 'supervisor'])
const SOCKET_GLOBALS = new Set(['fetch', 'WebSocket', 'EventSource', 'XMLHttpRequest'])

/**
 * The uWebSockets.js repack exports `default` alone: a named value import type-checks and fails at run time.
 */
const UWS_CLAUSE = /^uWS(?: , \{ type \w+(?: , type \w+)*(?: ,)? \})?$/

/** Packages that only some nodes or verbs use: loading one takes longer than loading all the rest of a front. */
const LAZY = new Set(['@aws-sdk/client-s3', '@clack/prompts', 'h264-mp4-encoder', 'js-redis-server'])

/** Packages that load with an entry point although they should load when they are first used. */
export function packagesLoadedEarly(files: readonly SourceFile[], entry: string): readonly string[] {
  const byPath = new Map(files.map((file) => [file.path, file]))
  const open = [entry]
  const reached = new Set(open)
  const early: string[] = []
  for (let path = open.pop(); path !== undefined; path = open.pop()) {
    const file = byPath.get(path)
    if (file === undefined) continue
    // A dynamic import has no clause.
    for (const found of importsOf(file).filter(({ clause, isType }) => clause !== '' && !isType)) {
      if (LAZY.has(packageOf(found.specifier) ?? '')) early.push(`${path}:${found.line} ${found.specifier}`)
      const target = ourTarget(file, found)
      if (target === null || reached.has(target)) continue
      reached.add(target)
      open.push(target)
    }
  }
  return early
}

/** Packages imported outside their home, one line each. */
export function packagesAbroad(files: readonly SourceFile[]): readonly string[] {
  return eachImport(files, (file, found) => {
    const name = packageOf(found.specifier)
    const homes = name === null ? undefined : PACKAGE_HOMES[name]
    return homes === undefined || homes.includes(folderOf(file.path))
      ? null
      : `${name} belongs in ${homes.join(', ')}`
  })
}

/** Sockets that could be opened outside the egress gate, one line each. */
export function socketsOutsideGate(files: readonly SourceFile[]): readonly string[] {
  const imported = eachImport(files, (file, found) => {
    const name = found.specifier.replace(/^node:/, '').split('/')[0] ?? ''
    return SOCKET_MODULES.has(name) && !mayOpenSockets(file) ? `${name} opens sockets outside the gate` : null
  })
  const called = files
    .filter((file) => !mayOpenSockets(file))
    .flatMap((file) =>
      file.tokens
        .filter(
          (token, index) =>
            token.kind === 'word' &&
            SOCKET_GLOBALS.has(token.text) &&
            file.tokens[index - 1]?.text !== '.' &&
            /^[(<]$/.test(file.tokens[index + 1]?.text ?? ''),
        )
        .map((token) => `${file.path}:${token.line} ${token.text} opens sockets outside the gate`),
    )
  return [...imported, ...called]
}

/** Imports of uWebSockets.js: the files that have one, and those in a form that fails at run time. */
export function frontEndImports(files: readonly SourceFile[]): {
  readonly by: readonly string[]
  readonly wrongForm: readonly string[]
} {
  const isFrontEnd = (found: Import): boolean => found.specifier === 'uWebSockets.js'
  return {
    by: files.filter((file) => importsOf(file).some(isFrontEnd)).map((file) => file.path),
    wrongForm: eachImport(files, (_file, found) =>
      isFrontEnd(found) && !UWS_CLAUSE.test(found.clause) ? `import ${found.clause}` : null,
    ),
  }
}

function packageOf(specifier: string): string | null {
  if (specifier.startsWith('.') || specifier.startsWith('node:')) return null
  const [scope = '', name] = specifier.split('/')
  return scope.startsWith('@') ? `${scope}/${name}` : scope
}

/** The page's one way out: to the port that it came from, which its policy holds it to. */
const PAGE_CALLS = 'src/server/dashboard/page/api.ts'

function mayOpenSockets(file: SourceFile): boolean {
  return (
    MAY_OPEN_SOCKETS.has(folderOf(file.path)) ||
    file.path.startsWith('src/server/storage/s3') ||
    file.path === PAGE_CALLS
  )
}
