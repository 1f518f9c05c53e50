import t from 'tap'
import * as limits from '../../../src/schemas/videos/video-model-limits.ts'
import { hasVideo, PROTOCOLS } from '../../../src/schemas/models/protocols.ts'
import { buildProviderVideo } from '../../../src/server/catalogue/build-video.ts'

const REMOTE = {
  tokenHeader: null,
  pollsPerSecond: limits.VIDEO_POLLS_PER_SECOND_DEFAULT,
  pollFirstMs: limits.VIDEO_POLL_FIRST_MS_DEFAULT,
  pollMaxMs: limits.VIDEO_POLL_MAX_MS_DEFAULT,
  submitTimeoutMs: limits.VIDEO_SUBMIT_TIMEOUT_MS_DEFAULT,
  concurrency: limits.VIDEO_CONCURRENCY_DEFAULT,
  takesUrls: false,
}

t.test('a provider without video settings has its protocol defaults, if those support video', async (t) => {
  t.same(buildProviderVideo('openai'), { submit: 'lookup', ...REMOTE })
  t.same(buildProviderVideo('google'), { submit: 'blind', ...REMOTE })
  t.same(buildProviderVideo('local'), {
    ...REMOTE,
    submit: 'token',
    tokenHeader: 'Idempotency-Key',
    pollsPerSecond: limits.VIDEO_LOCAL_POLLS_PER_SECOND_DEFAULT,
    pollFirstMs: limits.VIDEO_LOCAL_POLL_FIRST_MS_DEFAULT,
    pollMaxMs: limits.VIDEO_LOCAL_POLL_MAX_MS_DEFAULT,
    concurrency: limits.VIDEO_LOCAL_CONCURRENCY_DEFAULT,
  })
  t.same(
    PROTOCOLS.map((protocol) => buildProviderVideo(protocol) !== null),
    PROTOCOLS.map(hasVideo),
  )
})

t.test(
  'the settings of an entry apply, and only a provider that accepts tokens has a token header',
  async (t) => {
    const text = {
      submit: 'token',
      token_header: 'X-Token',
      polls_per_second: 0.5,
      poll_first_ms: 7,
      poll_max_ms: 9,
      submit_timeout_ms: 11,
      concurrency: 3,
      takes_urls: true,
    } as const
    const built = {
      submit: 'token',
      tokenHeader: 'X-Token',
      pollsPerSecond: 0.5,
      pollFirstMs: 7,
      pollMaxMs: 9,
      submitTimeoutMs: 11,
      concurrency: 3,
      takesUrls: true,
    }
    t.same(buildProviderVideo('google', text), built)
    t.match(buildProviderVideo('local', { submit: 'blind' }), { submit: 'blind', tokenHeader: null })
  },
)

t.test('the first poll delay never exceeds the maximum, whichever of them the entry sets', async (t) => {
  t.match(buildProviderVideo('openai', { poll_max_ms: 100 }), { pollFirstMs: 100, pollMaxMs: 100 })
  t.match(buildProviderVideo('openai', { poll_first_ms: 60_000 }), { pollFirstMs: 60_000, pollMaxMs: 60_000 })
})
