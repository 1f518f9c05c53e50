import t from 'tap'
import { OPERATIONS } from '../../../src/server/operations/index.ts'
import { nearestPath } from '../../../src/server/http/nearest-path.ts'
import { openFront } from '../../support/front.ts'

t.test('an unknown path is told with the one that was meant', async (t) => {
  const { url } = await openFront(t, OPERATIONS)
  const messageOf = async (path: string) => (await (await fetch(url + path)).json() as { error: { message: string } }).error.message
  t.match(await messageOf('/api/v1/embedings'), /`\/api\/v1\/embedings` leads nowhere\. Nearest: `\/api\/v1\/embeddings`\./)
  t.match(await messageOf('/v1/embeddings'), /Nearest: `\/api\/v1\/embeddings`/)
  t.match(await messageOf('/api/v1/model/acme/embed/endpoint'), /Nearest: `\/api\/v1\/models\/\{author\}\/\{slug\}\/endpoints`/)
  t.notMatch(await messageOf('/wp-login.php'), /Nearest/)
})

t.test('a hostile path costs little', async (t) => {
  const paths = OPERATIONS.map(({ path }) => `/api/v1${path}`)
  const before = process.cpuUsage().user
  for (let nth = 0; nth < 100; nth++) nearestPath(`/api/v1/${'embedding'.repeat(2_000)}${'/a'.repeat(2_000)}`, paths)
  t.ok(process.cpuUsage().user - before < 100 * 5_000)
})
