import { existsSync, readFileSync } from 'node:fs'
import t from 'tap'
import { jsonForm, pairsOf, parseDockerfile, type Instruction } from '../support/nodes/dockerfile.ts'
import { deployFile } from '../support/nodes/deploy.ts'
import { ROOT } from '../support/source.ts'

/**
 * What is wrong with a Dockerfile by the rules that linters agree on, one line each. No linter of it comes
 * from npm or Debian.
 */
function faultsOf(text: string): readonly string[] {
  const steps = parseDockerfile(text)
  const args = Object.assign(
    {},
    ...steps.filter(({ name }) => name === 'ARG').map((step) => pairsOf(step.text)),
  ) as Record<string, string>
  const stages = steps
    .filter(({ name }) => name === 'FROM')
    .map((step) => / AS (\S+)$/.exec(step.text)?.[1] ?? '')
  const last = steps.slice(steps.findLastIndex(({ name }) => name === 'FROM'))
  return [
    ...steps.flatMap((step) =>
      faultsOfStep(step, { args, stages }).map((fault) => `line ${step.line}: ${fault}`),
    ),
    ...(['ENTRYPOINT', 'HEALTHCHECK', 'USER'] as const)
      .filter((name) => last.filter((step) => step.name === name).length !== 1)
      .map((name) => `the last stage has not one ${name}`),
    ...stages
      .slice(0, -1)
      .filter((name) => !steps.some(({ flags }) => flags['from'] === name))
      .map((name) => `stage "${name}" is not used`),
  ]
}

interface Known {
  readonly args: Readonly<Record<string, string>>
  readonly stages: readonly string[]
}

function faultsOfStep({ name, text, flags }: Instruction, { args, stages }: Known): readonly string[] {
  const words = text.split(/\s+/)
  const rules: Readonly<Record<string, readonly (readonly [boolean, string])[]>> = {
    FROM: [
      [
        isPinned((words[0] ?? '').replace(/\$\{(\w+)\}/, (_, arg: string) => args[arg] ?? '')),
        'names no exact version of its base',
      ],
    ],
    COPY: [
      [
        words.length < 3 || (words.at(-1) ?? '').endsWith('/'),
        'several sources want a target that ends in /',
      ],
      [flags['from'] === undefined || stages.includes(flags['from']), 'copies from no stage'],
    ],
    WORKDIR: [[text.startsWith('/'), 'is not absolute']],
    USER: [[/^[1-9]\d*:[1-9]\d*$/.test(text), 'is root, or not a number']],
    ENTRYPOINT: [[jsonForm(text) !== null, 'runs a shell that takes no signals']],
    CMD: [[jsonForm(text) !== null, 'runs a shell that takes no signals']],
    HEALTHCHECK: [[jsonForm(text.replace(/^.*?CMD /, '')) !== null, 'runs a shell']],
    RUN: [
      [!/(^|[;&|]\s*)cd\s/.test(text), 'changes the folder: WORKDIR does'],
      [!/\bsudo\b|\bapt\b(?!-)/.test(text), 'uses what is for people'],
      [!/[^|]\|[^|]/.test(text), 'hides the failure of a pipe'],
      [!/\bnpm install\b/.test(text), 'installs what no lock file says'],
      [!/\b(curl|wget|git clone)\b/.test(text), 'fetches what no hash holds'],
    ],
    ENV: [[!/(KEY|TOKEN|PASSWORD|SECRET)\w*=/.test(text), 'keeps a secret in a layer']],
    ARG: [[!/(KEY|TOKEN|PASSWORD|SECRET)/.test(text), 'keeps a secret in the history']],
    ADD: [[false, 'COPY does what is wanted']],
    MAINTAINER: [[false, 'is no more']],
  }
  return (rules[name] ?? []).filter(([isGood]) => !isGood).map(([, fault]) => `${name} ${fault}`)
}

/** Down to the patch, so that the same file builds the same image next year. */
function isPinned(image: string): boolean {
  return /^[a-z0-9./-]+:\d+\.\d+\.\d+(-[a-z0-9.-]+)?(@sha256:[0-9a-f]{64})?$/.test(image)
}

t.test('the Dockerfile follows the rules', async (t) => {
  t.same(faultsOf(deployFile('Dockerfile')), [])
})

t.test('each rule finds a violation', async (t) => {
  const tail = '\nUSER 1000:1000\nHEALTHCHECK CMD ["true"]\nENTRYPOINT ["node"]'
  const from = 'FROM node:20.20.2-bookworm-slim'
  const planted = [
    `FROM node:20${tail}`,
    `FROM node${tail}`,
    `${from} AS a\n${from}${tail}`,
    `${from}\nCOPY a b c${tail}`,
    `${from}\nCOPY --from=x a b${tail}`,
    `${from}\nWORKDIR app${tail}`,
    `${from}\nRUN cd a && b${tail}`,
    `${from}\nRUN curl x${tail}`,
    `${from}\nRUN a | b${tail}`,
    `${from}\nRUN npm install${tail}`,
    `${from}\nENV API_KEY=x${tail}`,
    `${from}\nARG TOKEN${tail}`,
    `${from}\nADD a b${tail}`,
    `${from}\nCMD node${tail}`,
    `${from}\nUSER node\n${tail}`,
    from + tail.replace('["node"]', 'node'),
    from + tail.replace('1000:1000', '0:0'),
    from + tail.replace(/HEALTH.*/, ''),
  ]
  for (const text of planted) t.ok(faultsOf(text).length > 0, text)
  t.same(faultsOf(`${from} AS a\nRUN a || b\n${from}\nCOPY --from=a a b${tail}`), [])
})

t.test('the Dockerfile copies files of the repository that .dockerignore lets through', async (t) => {
  const sources = parseDockerfile(deployFile('Dockerfile'))
    .filter(({ name, flags }) => name === 'COPY' && flags['from'] === undefined)
    .flatMap(({ text }) => text.split(/\s+/).slice(0, -1))
  const allowed = readFileSync(`${ROOT}.dockerignore`, 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('!'))
    .map((line) => line.slice(1))
  t.same([...sources].sort(), [...allowed].sort())
  t.same(
    sources.filter((source) => !existsSync(ROOT + source.replace('*', ''))),
    [],
  )
})

t.test('reads continued lines, comments between them, flags and both forms of an instruction', async (t) => {
  const text =
    '# a\nFROM x AS y\nRUN a \\\n# in between\n && b\n\nCOPY --from=y --chown=1:1 c d\nCMD ["e", "f"]\n'
  t.same(parseDockerfile(text), [
    { name: 'FROM', flags: {}, text: 'x AS y', line: 2 },
    { name: 'RUN', flags: {}, text: 'a  && b', line: 3 },
    { name: 'COPY', flags: { from: 'y', chown: '1:1' }, text: 'c d', line: 7 },
    { name: 'CMD', flags: {}, text: '["e", "f"]', line: 8 },
  ])
  t.same(jsonForm('["e", "f"]'), ['e', 'f'])
  t.equal(jsonForm('e f'), null)
})
