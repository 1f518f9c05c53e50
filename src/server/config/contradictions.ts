import { parseAllowEntry } from '../../schemas/egress/destinations.ts'
import { KEY_GRACE_MS_MIN } from '../../schemas/keys/key-limits.ts'
import { shown } from '../../schemas/nearest.ts'
import { isProxyRange } from '../../schemas/values/proxies.ts'
import { readPostgresUrl, wrongParameters } from '../../schemas/values/store-urls.ts'
import { isReadableFile, durationMs } from './setting-text.ts'
import type { Problem } from './texts.ts'

/** Checks that need more than the form of one setting. */
export function contradictions(
  values: Readonly<Record<string, unknown>>,
  known: ReadonlySet<string>,
): readonly Problem[] {
  const problems: Problem[] = []
  for (const [one, other] of [
    ['SLUICE_TLS_CERT', 'SLUICE_TLS_KEY'],
    ['SLUICE_TLS_KEY', 'SLUICE_TLS_CERT'],
  ] as const) {
    if (values[one] !== undefined || values[other] === undefined || known.has(one)) continue
    problems.push({ name: one, expected: `a PEM file when ${other} is set`, got: 'nothing' })
  }
  if (values['SLUICE_ROOT_KEY'] !== undefined && values['SLUICE_ROOT_KEY_FILE'] !== undefined) {
    problems.push({
      name: 'SLUICE_ROOT_KEY_FILE',
      expected: 'no value when SLUICE_ROOT_KEY is set',
      got: 'a file',
    })
  }
  for (const name of ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY'] as const) {
    if (!String(values['SLUICE_OBJECTS']).startsWith('s3:') || values[name] !== undefined || known.has(name))
      continue
    problems.push({ name, expected: 'a non-empty value when SLUICE_OBJECTS names a bucket', got: 'nothing' })
  }
  const { SLUICE_PORT: port, SLUICE_ADMIN_PORT: adminPort, SLUICE_KEY_GRACE: grace } = values
  if (typeof grace === 'string' && durationMs(grace) < KEY_GRACE_MS_MIN) {
    problems.push({
      name: 'SLUICE_KEY_GRACE',
      expected: `a duration of at least ${KEY_GRACE_MS_MIN / 1000}s`,
      got: JSON.stringify(grace),
    })
  }
  for (const entry of (values['SLUICE_EGRESS_ALLOW'] ?? []) as readonly string[]) {
    const parsed = parseAllowEntry(entry)
    if (typeof parsed === 'string')
      problems.push({ name: 'SLUICE_EGRESS_ALLOW', expected: parsed, got: JSON.stringify(entry) })
  }
  for (const entry of (values['SLUICE_PROXIES'] ?? []) as readonly string[]) {
    if (isProxyRange(entry)) continue
    const expected = 'an address or a CIDR range, such as 10.0.0.0/8'
    problems.push({ name: 'SLUICE_PROXIES', expected, got: JSON.stringify(entry) })
  }
  const database = values['DATABASE_URL']
  if (typeof database === 'string') problems.push(...unreadableFiles(database))
  for (const { name, given, values: allowed } of typeof database === 'string'
    ? wrongParameters(database)
    : []) {
    const expected = `one of ${allowed.join(', ')} for \`${name}\``
    problems.push({ name: 'DATABASE_URL', expected, got: shown(given) })
  }
  if (port === adminPort && port !== undefined) {
    const expected = 'a port other than SLUICE_PORT'
    problems.push({ name: 'SLUICE_ADMIN_PORT', expected, got: String(adminPort) })
  }
  return problems
}

/** Certificate files in a Postgres URL that cannot be read: at a start they would look like a server that cannot be reached. */
function unreadableFiles(url: string): readonly Problem[] {
  const { sslMode, rootCertificates, certificate, privateKey } = readPostgresUrl(url)
  if (sslMode === null || sslMode === 'disable') return []
  const files = { sslrootcert: rootCertificates, sslcert: certificate, sslkey: privateKey }
  return Object.entries(files).flatMap(([parameter, path]) =>
    path === null || path === 'system' || isReadableFile(path)
      ? []
      : [{ name: 'DATABASE_URL', expected: `a readable file for \`${parameter}\``, got: shown(path) }],
  )
}
