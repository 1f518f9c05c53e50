import t from 'tap'
import { banner, type BannerOptions } from '../../../src/server/supervisor/banner.ts'

const OPTIONS: BannerOptions = {
  facts: {
    url: 'http://127.0.0.1:8080',
    docs_url: 'http://127.0.0.1:8080/docs',
    admin_url: 'http://127.0.0.1:9090',
    fronts: 4,
    workers: 4,
    postgres: 'embedded',
    redis: 'child',
    objects: '/data/objects',
    degraded: [],
    version: '1.0.0',
  },
  configuredWorkers: 4,
  keys: { inference: null, management: null, file: null },
  certFile: null,
  rootKeyFile: null,
  hasColour: false,
}

t.test(
  'the banner shows the actual numbers, and SLUICE_WORKERS when it is below the number of fronts',
  async (t) => {
    t.match(banner(OPTIONS), /\n {2}Workers {5}4 fronts, 4 worker threads\n/)
    t.match(
      banner({ ...OPTIONS, configuredWorkers: 1 }),
      /4 fronts, 4 worker threads \(SLUICE_WORKERS is 1; each front has at least one\)\n/,
    )
    t.match(
      banner({ ...OPTIONS, facts: { ...OPTIONS.facts, fronts: 1, workers: 1 }, configuredWorkers: 1 }),
      /1 front, 1 worker thread\n/,
    )
  },
)

t.test('the banner has the address of the dashboard page and the kind of key that opens it', async (t) => {
  t.match(
    banner(OPTIONS),
    /\n {2}Dashboard {3}http:\/\/127\.0\.0\.1:9090\/dashboard\/ {2}\(sign in with a management key\)\n/,
  )
})

t.test('the banner shows the keys of the first start, and a call that has one of them', async (t) => {
  const text = banner({ ...OPTIONS, keys: { inference: 'sk-i', management: 'sk-m', file: '/data/keys' } })
  t.match(text, /\n {2}Inference {3}sk-i {2}\(shown once\)\n {2}Management {2}sk-m {2}\(shown once\)\n/)
  t.match(text, /Bearer sk-i"/)
})
