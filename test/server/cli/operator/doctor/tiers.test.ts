/** F8: doctor names models whose answers report a tier without a price. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import t from 'tap'
import type { Finding } from '../../../../../src/server/cli/operator/doctor/finding.ts'
import { workers } from '../../../../../src/server/cli/operator/doctor/workers.ts'
import { catalogueFile } from '../../../../support/models/catalogue.ts'
import { lookFor } from '../../../../support/operator/doctor.ts'
import { until } from '../../../../support/wait.ts'

t.setTimeout(600_000)

const FIX = 'add the tier to `modifiers` of the endpoint in the file of SLUICE_CATALOG'

const sample = (member: string, tier: string, calls: number): string =>
  `sluice_unpriced_tier_calls_total{operation="chat.create",provider="acme",model="acme/one",member="${member}",tier="${tier}"} ${calls}`

const catalogue = {
  providers: [{ slug: 'acme', protocol: 'openai', base_url: 'https://acme.example/v1' }],
  models: [
    {
      ...{ id: 'acme/one', name: 'One' },
      endpoints: [
        {
          ...{ provider: 'acme', upstream_model: 'one', pricing: { prompt: '0.000001', completion: '0' } },
          modifiers: [{ when: { service_tier: 'priority' }, multiplier: '2' }],
        },
      ],
    },
  ],
}

type Test = Parameters<typeof catalogueFile>[0]

/** The finding of doctor for a node with these metrics. */
async function found(t: Test, ...samples: readonly string[]): Promise<Finding | undefined> {
  const text = ['sluice_fronts_wanted 1', ...samples].join('\n')
  const server = createServer((_, response) => void response.end(`${text}\n`))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => new Promise((resolve) => server.close(resolve)))
  const adminUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const runtime = { databaseUrl: '', redis: { socketPath: '' }, url: '', adminUrl }
  const look = lookFor({ SLUICE_CATALOG: catalogueFile(t, catalogue) }, { runtime })
  let findings: readonly Finding[] = []
  await until('the metrics are read in time', async () => {
    findings = await workers(look)
    return findings.some(({ detail }) => detail.startsWith('fronts: 1, worker threads: 0'))
  })
  return findings.find(({ check }) => check === 'tiers')
}

t.test('doctor names the model, the provider and the tier, with the fix', async (t) => {
  t.same(await found(t, sample('service_tier', 'ultrafast', 3)), {
    ...{ check: 'tiers', level: 'warning', fix: FIX },
    detail:
      '3 answers since the node started reported a tier without a price (acme/one at acme: `service_tier: ultrafast`): charged at the base price',
  })
  t.match(await found(t, sample('speed', 'fast', 1)), { detail: /^1 answer since .*`speed: fast`/ })
})

t.test('doctor ignores tiers that the catalogue now has a price for', async (t) => {
  t.equal(await found(t, sample('service_tier', 'priority', 3)), undefined)
  t.equal(await found(t), undefined)
})

t.test('doctor names the field with the tier that metrics count as `other`', async (t) => {
  t.match(await found(t, sample('service_tier', 'other', 1)), {
    fix: `${FIX}; for tiers counted as \`other\`, \`service_tier\` of GET /api/v1/generation has the real name`,
  })
})
