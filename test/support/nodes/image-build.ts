/**
 * Builds what a Dockerfile describes, in a folder: its COPY and RUN lines one after the other, on this
 * machine's own Node.
 */
import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readdirSync, statSync } from 'node:fs'
import { basename, dirname, join, posix } from 'node:path'
import { jsonForm, pairsOf, parseDockerfile, type Instruction } from './dockerfile.ts'

/** The last stage, as `docker run` would find it. */
export interface BuiltImage {
  /** Stands for `/`. */
  readonly root: string
  /** The folder of WORKDIR. */
  readonly workFolder: string
  /** Paths in it are those of this machine. */
  readonly env: Readonly<Record<string, string>>
  readonly entrypoint: readonly string[]
  readonly command: readonly string[]
  readonly healthcheck: readonly string[]
}

export interface BuildInput {
  readonly dockerfile: string
  /** What COPY without `--from` copies of. */
  readonly context: string
  /** Empty. */
  readonly folder: string
  readonly args?: Readonly<Record<string, string>>
  /** Who runs RUN, and whose the image's own files are; the context's and the tree's are the caller's. */
  readonly uid: number
  /** Throws when the command fails. */
  run(command: string, place: { readonly cwd: string; readonly env: Readonly<Record<string, string>> }): void
}

interface Stage {
  readonly name: string
  readonly root: string
  workdir: string
  readonly env: Record<string, string>
  readonly words: Record<'ENTRYPOINT' | 'CMD' | 'HEALTHCHECK', readonly string[]>
}

/** Throws on an instruction that it does not know: nothing is left out in silence. */
export function buildImage(input: BuildInput): BuiltImage {
  const stages: Stage[] = []
  const given: Record<string, string> = {}
  for (const step of parseDockerfile(input.dockerfile)) {
    const stage = stages.at(-1)
    if (step.name === 'ARG') {
      const [name = ''] = step.text.split('=')
      given[name] = input.args?.[name] ?? pairsOf(step.text)[name] ?? ''
    } else if (step.name === 'FROM') {
      stages.push(newStage(step, join(input.folder, `stage-${stages.length}`)))
    } else if (stage === undefined) {
      throw new Error(`line ${step.line}: ${step.name} before FROM`)
    } else if (step.name === 'COPY') {
      copy(step, stage, { stages, input })
    } else if (step.name === 'RUN') {
      input.run(step.text, { cwd: join(stage.root, stage.workdir), env: { ...given, ...stage.env } })
    } else note(step, stage)
  }
  const last = stages.at(-1)
  if (last === undefined) throw new Error('there is no FROM')
  return {
    root: last.root,
    workFolder: join(last.root, last.workdir),
    env: Object.fromEntries(
      Object.entries(last.env).map(([name, value]) => [
        name,
        value.startsWith('/') ? join(last.root, value) : value,
      ]),
    ),
    entrypoint: last.words.ENTRYPOINT,
    command: last.words.CMD,
    healthcheck: last.words.HEALTHCHECK,
  }
}

function newStage(step: Instruction, root: string): Stage {
  mkdirSync(root, { recursive: true })
  chmodSync(root, 0o755)
  const [, name = ''] = / AS (\S+)$/i.exec(step.text) ?? []
  return { name, root, workdir: '/', env: {}, words: { ENTRYPOINT: [], CMD: [], HEALTHCHECK: [] } }
}

function note(step: Instruction, stage: Stage): void {
  switch (step.name) {
    case 'ENV':
      Object.assign(stage.env, pairsOf(step.text))
      return
    case 'WORKDIR':
      stage.workdir = posix.resolve(stage.workdir, step.text)
      mkdirSync(join(stage.root, stage.workdir), { recursive: true })
      return
    case 'ENTRYPOINT':
    case 'CMD':
    case 'HEALTHCHECK':
      stage.words[step.name] = jsonForm(step.text.replace(/^CMD /, '')) ?? []
      return
    case 'LABEL':
    case 'VOLUME':
    case 'USER':
    case 'EXPOSE':
    case 'STOPSIGNAL':
      return
    default:
      throw new Error(`line ${step.line}: ${step.name} is not known here`)
  }
}

function copy(
  step: Instruction,
  stage: Stage,
  { stages, input }: { stages: readonly Stage[]; input: BuildInput },
): void {
  const words = step.text.split(/\s+/)
  const target = words.pop() ?? ''
  const from = step.flags['from']
  const base = from === undefined ? input.context : stages.find(({ name }) => name === from)?.root
  if (base === undefined) throw new Error(`line ${step.line}: there is no stage ${from}`)
  const sources = words.flatMap((word) => matches(base, word))
  const at = join(stage.root, posix.resolve(stage.workdir, target))
  const isFolder =
    target.endsWith('/') || sources.length > 1 || statSync(join(base, sources[0] ?? '')).isDirectory()
  mkdirSync(isFolder ? at : dirname(at), { recursive: true })
  for (const source of sources) {
    // Of a folder its contents are copied, and links stay links. What comes from a stage that is done is not
    // needed twice.
    const given = join(base, source)
    const isTree = statSync(given).isDirectory()
    const links = from === undefined ? [] : ['-l']
    run('cp', [
      '-dR',
      ...links,
      '--preserve=mode,timestamps',
      isTree ? `${given}/.` : given,
      isFolder && !isTree ? join(at, basename(source)) : at,
    ])
  }
  if (process.getuid?.() !== 0) return
  // Who builds owns what he builds of; in the image root does, but for what a flag gives to its user.
  const owner = stage === stages[0] || step.flags['chown'] !== undefined ? input.uid : 0
  run('chown', ['-hR', `${owner}:${owner}`, stage === stages[0] ? stage.root : at])
}

/** Paths of a source, which may hold `*` in its last part; throws when there is none, as Docker does. */
function matches(base: string, source: string): readonly string[] {
  const [folder, pattern] = [dirname(source), basename(source)]
  if (!pattern.includes('*')) {
    if (!existsSync(join(base, source))) throw new Error(`COPY: there is no ${source}`)
    return [source]
  }
  const form = new RegExp(
    `^${pattern
      .split('*')
      .map((part) => part.replace(/[.+]/g, '\\$&'))
      .join('[^/]*')}$`,
  )
  const found = readdirSync(join(base, folder))
    .filter((name) => form.test(name))
    .map((name) => join(folder, name))
  if (found.length === 0) throw new Error(`COPY: nothing is called ${source}`)
  return found
}

function run(command: string, args: readonly string[]): void {
  const { status, stderr } = spawnSync(command, args, { encoding: 'utf8' })
  if (status !== 0) throw new Error(`${command} ${args.join(' ')}: ${stderr}`)
}
