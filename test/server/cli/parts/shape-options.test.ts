/** Options derived from the shape of an operation's input. */
import { Command, CommanderError } from 'commander'
import t from 'tap'
import Type, { type TSchema } from 'typebox'
import { fail, ok } from '../../../../src/schemas/failures.ts'
import { optionsOf } from '../../../../src/server/cli/parts/shape-options.ts'

const nullable = <T extends TSchema>(shape: T) => Type.Union([shape, Type.Null()])
const optional = Type.Optional

const SHAPE = Type.Object({
  name: Type.String({ minLength: 1, title: 'a name', description: 'Name, not `limit_rpm`.' }),
  limit_rpm: optional(
    nullable(
      Type.Integer({ minimum: 1, maximum: 9, description: 'Sluice extension: limit; null: no limit.' }),
    ),
  ),
  usd: optional(Type.Number({ minimum: 0, description: 'Returns only calls above USD.' })),
  reset: optional(nullable(Type.Enum(['daily', 'weekly']))),
  is_on: optional(Type.Boolean({ description: 'True when it is on.' })),
  models: optional(nullable(Type.Array(Type.String({ pattern: '/' }), { maxItems: 2 }))),
  scopes: optional(nullable(Type.Array(Type.Enum(['a', 'b']), { uniqueItems: true }))),
  note: optional(nullable(Type.String())),
  overlap: optional(Type.Integer({ default: 5 })),
  failed: optional(Type.Boolean()),
})

const OPTIONS = optionsOf(SHAPE, {
  name: '--name <name>',
  limit_rpm: '--rpm <count>',
  usd: '--usd <usd>',
  reset: '--reset <interval>',
  is_on: '--on <on|off>',
  models: '--model <model...>',
  scopes: '--scopes <scope...>',
  note: { flags: '--note <text>', takesNone: false },
  overlap: { flags: '--overlap <seconds>', about: 'seconds', parse: (text) => Number(text) * 2 },
  failed: '--failed',
})

const verbOf = (): Command =>
  OPTIONS.addTo(new Command('verb').exitOverride()).configureOutput({ writeErr: () => {} })

function parsed(...args: readonly string[]): Readonly<Record<string, unknown>> {
  const verb = verbOf().parse([...args], { from: 'user' })
  return OPTIONS.from(verb.opts())
}

t.test('an option is checked like its member of the schema, and `none` means null', async (t) => {
  const cases: readonly (readonly [args: readonly string[], given: object])[] = [
    [['--rpm', '9', '--usd', '0.5', '--reset', 'daily'], { limit_rpm: 9, usd: 0.5, reset: 'daily' }],
    [['--rpm', 'none', '--reset', 'none', '--note', 'none'], { limit_rpm: null, reset: null, note: 'none' }],
    [['--on', 'off', '--failed'], { is_on: false, failed: true }],
    [['--model', 'a/b', 'a/b', '--scopes', 'a,b', 'a'], { models: ['a/b', 'a/b'], scopes: ['a', 'b'] }],
    [['--model', 'a/b', 'none', '--scopes', 'none'], { models: null, scopes: null }],
    [['--overlap', '3'], { overlap: 6 }],
  ]
  for (const [args, given] of cases)
    t.same(parsed('--name', 'n', ...args), { name: 'n', overlap: 5, ...given }, args.join(' '))
})

t.test('a wrong value is refused with its option and the allowed values', async (t) => {
  const cases: readonly (readonly [args: readonly string[], message: RegExp])[] = [
    [['--rpm', '0'], /'--rpm <count>'.* Expected a whole number from 1 to 9, or none\.$/],
    [['--rpm', '1.5'], /Expected a whole number/],
    [['--rpm', '1e0'], /Expected a whole number/],
    [['--usd', '1e-6'], /Expected a number/],
    [['--usd', ''], /'--usd <usd>'.* Expected a number of at least 0\.$/],
    [['--usd', 'none'], /Expected a number of at least 0\.$/],
    [['--reset', 'hourly'], /Expected daily, weekly, or none\.$/],
    [['--on', 'true'], /Expected on, off\.$/],
    [['--model', 'gpt'], /'--model <model\.\.\.>'.* Expected string matching/],
    [['--model', 'a/a', 'a/b', 'a/c'], /Expected at most 2 values\.$/],
    [['--scopes', 'a,c'], /Expected a, b, or none\.$/],
    [['--scopes', ''], /Expected a, b, or none\.$/],
    [['--name', ''], /Expected a name\.$/],
  ]
  for (const [args, message] of cases)
    t.throws(() => parsed('--name', 'n', ...args), { message }, args.join(' '))
  t.throws(() => parsed(), { message: /required option '--name <name>'/ })
})

t.test('the help shows the description of the member in the terms of the command line', async (t) => {
  const help = verbOf()
    .helpInformation()
    .replace(/\n\s{10,}/g, ' ')
  t.match(help, /--name <name> +name, not --rpm\n/)
  t.match(help, /--rpm <count> +limit; none: no limit\n/)
  t.match(help, /--usd <usd> +only calls above USD\n/)
  t.match(help, /--on <on\|off> +on when it is on \(choices: "on", "off"\)\n/)
  t.match(help, /--reset <interval> +\(choices: "daily", "weekly", "none"\)\n/)
  t.match(help, /--overlap <seconds> +seconds \(default: 5\)\n/)
})

t.test('a validation error names the option of the command; other failures keep their text', async (t) => {
  const issue = { path: '/limit_rpm', message: 'is too high', expected: 'a lower `limit_rpm`, or null' }
  const refused = fail('body_invalid', { metadata: { issues: [issue] } })
  const text = '--rpm is too high, expected a lower --rpm, or --rpm none'
  t.throws(() => OPTIONS.named(refused), { message: `${text}.` })
  t.throws(
    () => OPTIONS.usable(refused, verbOf()),
    new CommanderError(2, 'commander.error', `error: ${text}`),
  )
  for (const outcome of [fail('api_key_unknown'), ok(1)]) t.equal(OPTIONS.named(outcome), outcome)
  t.equal(OPTIONS.usable(ok(1), verbOf()), 1)
})
