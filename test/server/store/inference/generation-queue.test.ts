import t from 'tap'
import { generation, ORGANIZATION, OTHER_ORGANIZATION } from '../../../support/inference/generations.ts'
import {
  GENERATIONS_ORGANIZATION_WAITING_MAX,
  GENERATIONS_WAITING_MAX,
  GenerationQueue,
} from '../../../../src/server/store/inference/generations.ts'

const ofOne = generation()
const ofOther = generation({ organizationId: OTHER_ORGANIZATION, workspaceId: OTHER_ORGANIZATION })

t.test(
  `an organization has GENERATIONS_ORGANIZATION_WAITING_MAX (${GENERATIONS_ORGANIZATION_WAITING_MAX}) places, others the rest`,
  async (t) => {
    const queue = new GenerationQueue()
    for (let n = 0; n < GENERATIONS_ORGANIZATION_WAITING_MAX; n++) if (!queue.push(ofOne)) t.fail('too early')
    t.notOk(queue.push(ofOne))
    t.ok(queue.push(ofOther))
    t.same(
      queue.take(3).map(({ organizationId }) => organizationId),
      [ORGANIZATION, OTHER_ORGANIZATION, ORGANIZATION],
      'they take turns',
    )
    t.ok(queue.push(ofOne), 'what was taken has made room')
    t.ok(queue.push(ofOne))
    t.notOk(queue.push(ofOne))
  },
)

t.test(`all organizations have GENERATIONS_WAITING_MAX (${GENERATIONS_WAITING_MAX}) places`, async (t) => {
  const queue = new GenerationQueue()
  for (let n = 0; n < GENERATIONS_WAITING_MAX; n++) {
    const id = `organization ${n % 4}`
    if (!queue.push(generation({ organizationId: id, workspaceId: id }))) t.fail('too early')
  }
  t.notOk(queue.push(ofOther))
  t.equal(queue.take(GENERATIONS_WAITING_MAX + 1).length, GENERATIONS_WAITING_MAX)
  t.equal(queue.size, 0)
  t.ok(queue.push(ofOther))
})
