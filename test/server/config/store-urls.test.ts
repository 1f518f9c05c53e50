import t from 'tap'
import { readFrom, type Generation } from '../../../src/server/config.ts'
import type { Problem, Texts } from '../../../src/server/config/texts.ts'

function good(texts: Texts): Generation {
  const reading = readFrom(texts)
  if (!reading.ok) throw new Error(JSON.stringify(reading.problems))
  return reading.generation
}

function problemsOf(texts: Texts): readonly Problem[] {
  const reading = readFrom(texts)
  return reading.ok ? [] : reading.problems
}

for (const [name, given] of [
  ['DATABASE_URL', 'postgres://sluice:hun#ter2@db.example/sluice'],
  ['DATABASE_URL', 'postgres://sluice:hun/ter2@db.example/sluice'],
  ['DATABASE_URL', 'postgres://sluice:hun%ter2@db.example/sluice'],
  ['DATABASE_URL', 'postgres://sluice:hun@ter2/w#rd?%:x@db.example/sluice'],
  ['DATABASE_URL', 'postgres://sluice:hun@ter2/x@db.example/sluice'],
  ['DATABASE_URL', 'postgres://sluice:hun@ter2?x@db.example/sluice'],
  ['REDIS_URL', 'redis://:hun#ter2@redis.example'],
  ['REDIS_URL', 'redis://:hun@ter2/x@redis.example'],
] as const) {
  t.test(
    `an unescaped password is reported as a problem of ${name}, without being shown: ${given.replace('ter2', '…')}`,
    (t) => {
      const problems = problemsOf({ [name]: given })
      t.match(problems, [{ name, expected: /in a password, write .* as %23 %2F %3F %40 %25/ }])
      t.notMatch(JSON.stringify(problems), /ter2/)
      t.end()
    },
  )
}

t.test('a Postgres URL may have several hosts, each with a port', (t) => {
  for (const given of [
    'postgres://u:p,1@10.0.0.1:5439,10.0.0.2:5440/d',
    'postgres://10.0.0.1:5439,10.0.0.2:5440,db.example:1/d?sslmode=require',
  ]) {
    t.equal(good({ DATABASE_URL: given }).config.databaseUrl?.reveal(), given)
  }
  t.end()
})

t.test('refuses an unknown value of a libpq parameter in a Postgres URL, and lists the valid values', (t) => {
  // Read as another mode, it would leave the host of the server unchecked.
  for (const [parameter, expected] of [
    ['sslmode=verfy-full', /^one of disable, allow, .*verify-full for `sslmode`$/],
    ['sslmode=', /for `sslmode`$/],
    ['sslmode=require&sslmode=requir', /for `sslmode`$/],
    ['target_session_attrs=readwrite', /^one of any, read-write, .* for `target_session_attrs`$/],
  ] as const)
    t.match(
      problemsOf({ DATABASE_URL: `postgres://u@db/d?${parameter}`, SLUICE_STORES_CA: 'package.json' }),
      [{ name: 'DATABASE_URL', expected }],
      parameter,
    )
  t.ok(good({ DATABASE_URL: 'postgres://u@db/d?sslmode=allow&target_session_attrs=any' }))
  t.end()
})

t.test('a certificate file named in a Postgres URL must be readable', (t) => {
  for (const parameter of ['sslrootcert', 'sslcert', 'sslkey'])
    t.match(
      problemsOf({ DATABASE_URL: `postgres://u:hunter2@db/d?sslmode=require&${parameter}=/none/x.pem` }),
      [{ name: 'DATABASE_URL', expected: `a readable file for \`${parameter}\``, got: '`/none/x.pem`' }],
    )
  t.ok(good({ DATABASE_URL: 'postgres://u@db/d?sslmode=verify-full&sslrootcert=system' }))
  t.ok(
    good({ DATABASE_URL: 'postgres://u@db/d?sslmode=disable&sslrootcert=/none/x.pem' }),
    'nothing reads it',
  )
  t.ok(good({ DATABASE_URL: 'postgres://u@db/d?sslmode=verify-full&sslrootcert=package.json' }))
  t.end()
})

t.test('a URL of Sentinels names the primary; their password and the CA file are added to the URLs', (t) => {
  const { config } = good({
    REDIS_URL: 'redis+sentinel://u:p@10.0.0.1:26379,10.0.0.2/main/0',
    DATABASE_URL: 'postgres://u@db/d?sslmode=verify-full',
    SLUICE_SENTINEL_PASSWORD: 's/p',
    SLUICE_STORES_CA: 'package.json',
  })
  t.match(config.redisUrl?.reveal(), /main\/0\?sslrootcert=.*package\.json&sentinel_password=s%2Fp$/)
  t.match(config.databaseUrl?.reveal(), /&sslrootcert=.*package\.json$/)
  for (const given of [
    'redis+sentinel://10.0.0.1:26379',
    'redis+sentinel://10.0.0.1/',
    'sentinel://10.0.0.1/m',
  ])
    t.match(problemsOf({ REDIS_URL: given }), [
      { name: 'REDIS_URL', expected: /redis\+sentinel:\/\/host:port,/ },
    ])
  t.end()
})

t.test('accepts a URL with an escaped password unchanged', (t) => {
  const { config } = good({
    DATABASE_URL: 'postgres://sluice:a%23b%2Fc%25d@db.example/sluice',
    REDIS_URL: 'rediss://[::1]:6379/1',
  })
  t.match([config.databaseUrl?.reveal(), config.redisUrl?.reveal()], [/%23b%2Fc%25d@/, /\[::1\]/])
  t.end()
})
