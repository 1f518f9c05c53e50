import t from 'tap'
import {
  placeOfPostgres,
  readPostgresUrl,
  readRedisUrl,
  withParameter,
} from '../../../src/schemas/values/store-urls.ts'

t.test('hosts are names and addresses without brackets, each with its port', (t) => {
  t.match(readPostgresUrl('postgres://u:p,1@[::1]:45432,db.example,10.0.0.1:1/d'), {
    hosts: ['::1', 'db.example', '10.0.0.1'],
    ports: [45_432, 5_432, 1],
    folder: null,
  })
  t.match(readPostgresUrl('postgres:///d?host=/run/postgresql&port=1'), { folder: '/run/postgresql' })
  t.end()
})

t.test('names a replacement for each parameter of libpq and Prisma that Sluice ignores', (t) => {
  const { remarks, href } = readPostgresUrl(
    'postgres://u@h/d?sslmode=require&channel_binding=require&application_name=x&connect_timeout=3&schema=s&pgbouncer=true&search_path=s',
  )
  t.equal(href, 'postgres://u@h/d?search_path=s', 'what the server knows goes to the server')
  t.same(
    remarks.map((remark) => remark.split(' ')[0]),
    ['channel_binding', 'application_name', 'connect_timeout', 'schema', 'pgbouncer'],
  )
  t.match(remarks[0], /^channel_binding is ignored: use sslmode=verify-full to authenticate the server$/)
  t.end()
})

t.test('the address of Postgres in messages has every host and no password', (t) => {
  t.equal(placeOfPostgres('postgres://u:hunter2@[::1],db:7/d'), '[::1]:5432, db:7')
  t.equal(placeOfPostgres('postgres://u:hunter2@h/d?host=/run/pg'), '/run/pg')
  t.end()
})

t.test('a URL with Sentinels has hosts, the name of the primary and a database', (t) => {
  t.match(readRedisUrl('rediss+sentinel://u:p%40w@s1,[::2]:7/main/3?sentinel_password=q'), {
    sentinels: [
      { host: 's1', port: 26_379 },
      { host: '::2', port: 7 },
    ],
    name: 'main',
    db: 3,
    username: 'u',
    password: 'p@w',
    sentinelPassword: 'q',
    isTls: true,
  })
  t.match(readRedisUrl('redis://h/1?sslrootcert=/ca.pem'), {
    sentinels: null,
    rootCertificates: '/ca.pem',
    href: 'redis://h/1',
  })
  t.end()
})

t.test('a parameter is added if the URL lacks it', (t) => {
  t.equal(
    withParameter('postgres://a,b/d', 'sslrootcert', '/c a.pem'),
    'postgres://a,b/d?sslrootcert=%2Fc%20a.pem',
  )
  t.equal(withParameter('postgres://a/d?sslrootcert=x', 'sslrootcert', '/ca'), 'postgres://a/d?sslrootcert=x')
  t.equal(withParameter('redis://a?x=1', 'y', null), 'redis://a?x=1')
  t.end()
})
