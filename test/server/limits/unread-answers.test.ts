import t from 'tap'
import { UNREAD_ANSWERS_BYTES_MAX, UNREAD_SMALL_BYTES } from '../../../src/schemas/limits/share-limits.ts'
import { UNREAD_PIECE_BYTES, unreadBytesOf, type Reply } from '../../../src/server/http/reply/reply-body.ts'
import { UnreadAnswers } from '../../../src/server/limits/loop-share.ts'

t.test(
  'an organization has room until it exceeds the limit of unread bytes, and again after some are read',
  async (t) => {
    const unread = new UnreadAnswers()
    const first = unread.hold('a', UNREAD_ANSWERS_BYTES_MAX - UNREAD_SMALL_BYTES)
    t.equal(unread.hasRoom('a'), true)
    const second = unread.hold('a', UNREAD_SMALL_BYTES)
    t.same([unread.hasRoom('a'), unread.hasRoom('b')], [false, true])
    const other = unread.hold('b', 5)
    t.equal(unread.bytes, UNREAD_ANSWERS_BYTES_MAX + 5)
    second()
    t.equal(unread.hasRoom('a'), true)
    for (const giveBack of [first, first, other]) giveBack()
    t.equal(unread.hasRoom('a'), true)
    t.equal(unread.bytes, 0)
  },
)

t.test('counts one piece of a download, nothing of a shared answer, and other answers in full', async (t) => {
  const reply = (more: Partial<Reply>): Reply => ({
    status: 200,
    statusLine: '200 OK',
    headers: [],
    body: null,
    ...more,
  })
  const pulled = {
    bytes: 10 * UNREAD_PIECE_BYTES,
    first: new Uint8Array(1),
    next: () => Promise.reject(new Error('nobody asks')),
  }
  t.equal(unreadBytesOf(reply({ body: pulled })), UNREAD_PIECE_BYTES)
  t.equal(unreadBytesOf(reply({ body: { ...pulled, bytes: 7 } })), 7)
  t.equal(unreadBytesOf(reply({ body: [new Uint8Array(3), new Uint8Array(4)] })), 7)
  t.equal(unreadBytesOf(reply({ body: 'ä' })), 2)
  t.same(
    [unreadBytesOf(reply({ body: [new Uint8Array(3)], isShared: true })), unreadBytesOf(reply({}))],
    [0, 0],
  )
})
