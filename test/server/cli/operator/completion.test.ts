import { spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { eachVerb, treeOf, type VerbNode } from '../../../../src/server/cli/operator/completion/tree.ts'
import { programOf } from '../../../../src/server/cli/run.ts'
import { plainEnvironment } from '../../../support/load/load.ts'
import { noPty, openPty } from '../../../support/nodes/pty.ts'
import { runVerb } from '../../../support/operator/verbs.ts'

const tree = treeOf(await programOf('', { code: 0 }, false))
const verbs = eachVerb(tree)
const scriptOf = async (shell: string): Promise<string> => (await runVerb({}, ['completion', shell])).stdout
const scripts = { bash: await scriptOf('bash'), zsh: await scriptOf('zsh'), fish: await scriptOf('fish') }
const missing = (program: string): string | false =>
  spawnSync(program, ['-c', 'exit'], { stdio: 'ignore' }).status === 0 ? false : `${program} is not installed`

/** Words that bash offers for each line. The last word of a line is being typed. */
function offered(lines: readonly (readonly string[])[], cwd = '.'): readonly (readonly string[])[] {
  const asked = lines.map((words) => {
    const list = ['sluice', ...words].map((word) => `'${word}'`).join(' ')
    return `COMP_WORDS=(${list}); COMP_CWORD=${words.length}; _sluice; printf '%s|' "\${COMPREPLY[@]}"; echo`
  })
  const program = `set -u\n${scripts.bash}\n${asked.join('\n')}\n`
  const ran = spawnSync('bash', ['--norc', '--noprofile'], {
    input: program,
    encoding: 'utf8',
    cwd,
    env: plainEnvironment(),
  })
  if (ran.stderr !== '') throw new Error(ran.stderr)
  return ran.stdout
    .trimEnd()
    .split('\n')
    .map((line) => line.split('|').filter((word) => word !== ''))
}

const inBash = { skip: missing('bash') }

t.test('offers every verb and every option of the program in its position', inBash, async (t) => {
  const groups = verbs.filter((verb) => verb.verbs.length > 0)
  const wordsOf = ({ path }: VerbNode): readonly string[] => path.split(' ').filter((word) => word !== '')
  t.same(
    offered(groups.map((verb) => [...wordsOf(verb), ''])),
    groups.map((verb) => verb.verbs.map(({ name }) => name)),
  )
  const names = ({ options }: VerbNode): readonly string[] => options.flatMap((option) => option.names)
  t.same(offered(verbs.map((verb) => [...wordsOf(verb), '-'])), verbs.map(names))
  t.ok(verbs.length > 60 && verbs.some(({ path }) => path === 'webhooks secret rotate'))
})

t.test('offers the words that begin with the typed one, and no hidden command', inBash, async (t) => {
  t.same(offered([['ke'], ['keys', 'cr'], ['keys', 'create', '--na'], ['fro'], ['runn']]), [
    ['keys'],
    ['create'],
    ['--name'],
    [],
    [],
  ])
})

for (const { what, words, are } of [
  {
    what: 'of an option',
    words: ['keys', 'create', '--kind', ''],
    are: ['inference', 'management', 'intern'],
  },
  {
    what: 'of an option, after other options with values',
    words: ['keys', 'create', '--name', 'keys', '--kind', 'in'],
    are: ['inference', 'intern'],
  },
  { what: 'after an equals sign', words: ['keys', 'create', '--kind', '=', 'man'], are: ['management'] },
  {
    what: 'after an equals sign and nothing',
    words: ['keys', 'create', '--kind', '='],
    are: ['inference', 'management', 'intern'],
  },
  { what: 'of the first argument', words: ['completion', ''], are: ['bash', 'zsh', 'fish'] },
  { what: 'of the second argument', words: ['budgets', 'put', 'default', 'da'], are: ['daily'] },
  {
    what: 'of an argument after a flag',
    words: ['budgets', 'put', '--json', 'default', 'da'],
    are: ['daily'],
  },
  { what: 'that only the user knows', words: ['keys', 'create', '--name', ''], are: [] },
  {
    what: 'of a list, until an option ends it',
    words: ['keys', 'create', '--allow-model', 'a/b', 'c/d', '--kin'],
    are: ['--kind'],
  },
  {
    what: 'after an address, which bash splits',
    words: ['budgets', 'put', 'http', ':', '//x', 'mon'],
    are: ['monthly'],
  },
]) {
  t.test(`completes values ${what}`, inBash, async (t) => {
    t.same(offered([words]), [are])
  })
}

t.test(
  'offers file and folder names for the arguments that take them, also names with spaces',
  inBash,
  async (t) => {
    const folder = t.testdir({ 'a b.json': '', 'a dir': {} })
    const [files = [], folders = [], none] = offered(
      [
        ['catalog', 'check', 'a'],
        ['backup', 'a'],
        ['keys', 'list', '--workspace', 'a'],
      ],
      folder,
    )
    t.same([[...files].sort(), folders, none], [['a b.json', 'a dir'], ['a dir'], []])
  },
)

t.test('offers the options when no value, argument or verb can follow', inBash, async (t) => {
  t.same(offered([['doctor', '']]), [['--json', '--strict', '-h', '--help']])
})

t.test('fish offers verbs, options and values', { skip: missing('fish') }, async (t) => {
  const folder = t.testdir({ 'sluice.fish': scripts.fish })
  const ask = (line: string): readonly string[] => {
    const asked = `source sluice.fish; complete -C '${line}'`
    const ran = spawnSync('fish', ['--no-config', '-c', asked], {
      cwd: folder,
      encoding: 'utf8',
      env: plainEnvironment(),
    })
    t.equal(ran.stderr, '')
    return ran.stdout
      .trim()
      .split('\n')
      .map((row) => row.split('\t')[0] ?? '')
  }
  t.same(ask('sluice webhooks secret '), ['help', 'rotate', 'show'])
  t.same([...ask('sluice keys create --kind ')].sort(), ['inference', 'intern', 'management'])
  t.same(ask('sluice keys create --name keys --ki'), ['--kind'])
  t.ok(ask('sluice budgets put default ').includes('daily'))
})

t.test('zsh offers verbs and values', { skip: missing('zsh') || noPty }, async (t) => {
  const folder = t.testdir({})
  mkdirSync(join(folder, 'home'))
  writeFileSync(
    join(folder, 'home', '.zshrc'),
    `PS1='$ '\nautoload -Uz compinit; compinit -u -d ${folder}/dump\nsource ${folder}/sluice.zsh\n`,
  )
  writeFileSync(join(folder, 'sluice.zsh'), scripts.zsh)
  const shell = openPty(t, {
    command: ['zsh', '-i'],
    env: { HOME: join(folder, 'home'), ZDOTDIR: join(folder, 'home') },
    cwd: folder,
  })
  const ready = await shell.until(/\$ $/)
  shell.keys('sluice keys create --kind man\t')
  const typed = await shell.until(/--kind management/, ready)
  shell.keys('\u0015sluice webho\tsec\trot\t--ov\t')
  await shell.until(/webhooks[\s\b]+secret[\s\b]+rotate[\s\b]+--overlap/, typed)
  t.pass()
})

t.test('an unknown shell is bad usage', async (t) => {
  const { code, stderr } = await runVerb({}, ['completion', 'tcsh', '--json'])
  t.match([code, JSON.parse(stderr)], [2, { error: 'usage', message: /bash, zsh, fish/ }])
})
