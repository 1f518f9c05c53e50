import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { FILE_BYTES_MAX } from '../../src/schemas/files/file-limits.ts'
import { EGRESS_DEADLINE_MS } from '../../src/schemas/egress/egress-limits.ts'
import { EMBEDDINGS_BODY_BYTES_MAX } from '../../src/schemas/embeddings/embedding-limits.ts'
import { deployFile, reported } from '../support/nodes/deploy.ts'
import { balancerConfig } from '../support/nodes/nodes.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

/** Of ten: what systemd itself says that a service of such rights may do to its machine. */
const EXPOSURE_MAX = 2

t.test(
  'nginx accepts the configuration of the load balancer',
  { skip: reported('nginx', ['-v']) === null && 'nginx is not installed' },
  async (t) => {
    const folder = temporaryFolder(t, 'nginx')
    writeFileSync(join(folder, 'nginx.conf'), balancerConfig({ folder, port: 1, nodes: [2, 3] }))
    const { code, stated } = reported('nginx', [
      '-t',
      '-c',
      join(folder, 'nginx.conf'),
      '-e',
      join(folder, 'error.log'),
    ]) ?? { code: 1, stated: '' }
    t.equal(code, 0, stated)
    t.notMatch(stated, /warn/)
  },
)

t.test('the load balancer allows the largest bodies and the longest answers of a node', async (t) => {
  const text = deployFile('nginx.conf')
  const bodyMib = Number(/client_max_body_size (\d+)m;/.exec(text)?.[1])
  t.ok(bodyMib * 1_048_576 > Math.max(FILE_BYTES_MAX, EMBEDDINGS_BODY_BYTES_MAX))
  const egress = /location \/egress\/ \{([^}]*)\}/.exec(text)?.[1] ?? ''
  t.match(egress, /client_max_body_size 0;/)
  t.ok(Number(/proxy_read_timeout (\d+)s/.exec(egress)?.[1]) * 1_000 > EGRESS_DEADLINE_MS)
  t.ok(Number(/keepalive_timeout (\d+)s/.exec(text)?.[1]) < 10, 'a node ends what idles for 10 s')
})

const hasSystemd = reported('systemd-analyze', ['--version'])?.code === 0
t.test(
  'systemd accepts the unit, and rates its exposure as low',
  { skip: !hasSystemd && 'systemd-analyze is not installed' },
  async (t) => {
    const folder = temporaryFolder(t, 'unit')
    const unit = join(folder, 'sluice.service')
    // Nothing is installed where the unit says.
    writeFileSync(unit, deployFile('systemd/sluice.service').replaceAll('/usr/bin/node', process.execPath))
    const verified = reported('systemd-analyze', ['verify', '--man=no', unit])
    t.notMatch(verified?.stated ?? '', /sluice\.service.*(Unknown|Failed to parse|ignoring|invalid)/i)
    const judged = reported('systemd-analyze', [
      'security',
      '--offline=true',
      `--threshold=${EXPOSURE_MAX * 10}`,
      unit,
    ])
    t.equal(judged?.code, 0, judged?.stated.trim().split('\n').at(-1) ?? 'no answer')
  },
)

t.test('the memory of the service, which holds secrets, is not written to a core file', async (t) => {
  t.match(deployFile('systemd/sluice.service'), /^LimitCORE=0$/m)
})

t.test('the unit runs as the user that sysusers creates', async (t) => {
  const user = /^User=(.*)$/m.exec(deployFile('systemd/sluice.service'))?.[1]
  t.equal(user, 'sluice')
  t.match(deployFile('systemd/sluice.sysusers'), new RegExp(`^u ${user} - `, 'm'))
  t.match(deployFile('systemd/sluice.service'), `systemd/sluice.sysctl`)
})
