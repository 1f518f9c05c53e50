import { existsSync } from 'node:fs'
import t from 'tap'
import { at, deployFile, listAt, membersAt, yamlOf, type Member } from '../support/nodes/deploy.ts'
import { ROOT } from '../support/source.ts'

const documents = [
  ...yamlOf(deployFile('kubernetes/sluice.yaml')),
  ...yamlOf(deployFile('kubernetes/migrate.yaml')),
]
const ofKind = (kind: string): readonly Member[] =>
  documents.filter((document) => at(document, 'kind') === kind)
const pods = [...ofKind('StatefulSet'), ...ofKind('Job')].map((document) => at(document, 'spec', 'template'))

const CHECKER = `${ROOT}tools/manifests.mjs`
const isInstalled = existsSync(`${ROOT}tools/node_modules/kubernetes-models`)

t.test(
  'each manifest matches the Kubernetes API, including member names, and a misspelled member is found',
  { skip: !isInstalled && 'its types are not installed: `npm run lint` installs them' },
  async (t) => {
    const { faultsOf } = (await import(CHECKER)) as {
      faultsOf: (manifests: readonly unknown[]) => Promise<readonly string[]>
    }
    const planted = structuredClone(ofKind('StatefulSet')[0]) as {
      spec: { template: { spec: { containers: Record<string, unknown>[] } } }
    }
    const [container] = planted.spec.template.spec.containers
    if (container !== undefined) container['readinesProbe'] = container['readinessProbe']
    const faults = await faultsOf([...documents, planted])
    t.match(faults, [/readinesProbe/], 'a slip of the pen is found')
    t.equal(faults.length, 1, 'and nothing else')
  },
)

t.test('selectors match the nodes, but not the migration', async (t) => {
  const labels = at(ofKind('StatefulSet')[0], 'spec', 'template', 'metadata', 'labels')
  const selectors = [
    at(ofKind('StatefulSet')[0], 'spec', 'selector', 'matchLabels'),
    ...ofKind('Service').map((service) => at(service, 'spec', 'selector')),
    ...ofKind('PodDisruptionBudget').map((budget) => at(budget, 'spec', 'selector', 'matchLabels')),
    ...ofKind('NetworkPolicy').map((policy) => at(policy, 'spec', 'podSelector', 'matchLabels')),
  ]
  t.equal(selectors.length, 5)
  for (const selector of selectors) t.same(selector, labels)
  t.notSame(at(ofKind('Job')[0], 'spec', 'template', 'metadata', 'labels'), labels)
})

t.test('at most one node may be unavailable at a time', async (t) => {
  const replicas = Number(at(ofKind('StatefulSet')[0], 'spec', 'replicas'))
  t.ok(replicas >= 2)
  t.equal(at(ofKind('PodDisruptionBudget')[0], 'spec', 'minAvailable'), replicas - 1)
})

t.test('pods have no rights, no cluster token, and a read-only root file system', async (t) => {
  for (const pod of pods) {
    t.match(at(pod, 'spec'), { automountServiceAccountToken: false, enableServiceLinks: false })
    t.equal(at(pod, 'spec', 'securityContext', 'seccompProfile', 'type'), 'RuntimeDefault')
    for (const container of listAt(pod, 'spec', 'containers')) {
      t.same(at(container, 'securityContext'), {
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      })
      t.ok(at(container, 'resources', 'limits', 'memory') !== undefined)
    }
  }
})

t.test('each mounted volume exists, and secrets are files of one Secret', async (t) => {
  for (const pod of pods) {
    const claims = listAt(ofKind('StatefulSet')[0], 'spec', 'volumeClaimTemplates').map((claim) =>
      at(claim, 'metadata', 'name'),
    )
    const volumes = new Set([
      ...listAt(pod, 'spec', 'volumes').map((volume) => at(volume, 'name')),
      ...claims,
    ])
    const mounts = listAt(pod, 'spec', 'containers', 0, 'volumeMounts')
    t.same(
      mounts.filter((mount) => !volumes.has(at(mount, 'name'))),
      [],
    )
    t.match(
      mounts.find((mount) => at(mount, 'name') === 'secrets'),
      { mountPath: '/run/secrets/sluice', readOnly: true },
    )
    t.match(
      listAt(pod, 'spec', 'volumes').find((volume) => at(volume, 'name') === 'secrets'),
      { secret: { secretName: 'sluice', defaultMode: 0o440 } },
    )
  }
  const settings = membersAt(ofKind('ConfigMap')[0], 'data')
  t.ok(
    settings.every(([, value]) => typeof value === 'string'),
    'a ConfigMap takes texts alone',
  )
  t.same(
    settings.filter(([name]) => /^(DATABASE|REDIS|AWS)_/.test(name)),
    [],
  )
})
