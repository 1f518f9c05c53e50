// HEALTHCHECK of the image: ends with 0 while the node wants traffic. Where its admin port is, it finds as every verb does: in the data
// directory of the node that runs, whatever the settings say.
import { readFileSync } from 'node:fs'
import { get } from 'node:http'
import { join } from 'node:path'

const TIMEOUT_MS = 4_000

try {
  const { adminUrl } = JSON.parse(readFileSync(join(process.env.SLUICE_DATA ?? './.sluice', 'runtime.json'), 'utf8'))
  const request = get(`${adminUrl}/readyz`, { agent: false, timeout: TIMEOUT_MS }, (answer) => end(answer.statusCode === 200))
  request.on('timeout', () => end(false)).on('error', () => end(false))
} catch {
  // It is starting, or has ended.
  end(false)
}

function end(isWell) {
  process.exit(isWell ? 0 : 1)
}
