import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Teardown } from '../teardown.ts'
import { temporaryFolder } from '../temporary-folder.ts'

export interface KeyPair {
  readonly key: string
  readonly cert: string
}

export interface Authority {
  /** PEM of its root, and the file that holds it. */
  readonly root: string
  readonly rootFile: string
  /** @param names `DNS:a.example` or `IP:127.0.0.1`; @param isExpired its time is over */
  issue(names: readonly string[], isExpired?: boolean): KeyPair
}

const CURVE = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes']

/** A root of its own that signs certificates; removed with the test. Needs openssl. */
export function startAuthority(t: Teardown): Authority {
  const folder = temporaryFolder(t, 'ca')
  const at = (name: string): string => join(folder, name)
  const openssl = (...args: string[]): void =>
    void execFileSync('openssl', args, { stdio: 'ignore', cwd: folder })
  openssl(
    'req',
    '-x509',
    ...CURVE,
    '-days',
    '2',
    '-subj',
    '/CN=root',
    '-keyout',
    at('root.key'),
    '-out',
    at('root.pem'),
  )
  let nth = 0
  return {
    root: readFileSync(at('root.pem'), 'utf8'),
    rootFile: at('root.pem'),
    issue(names, isExpired = false) {
      const [key, request, cert, extensions] = ['key', 'csr', 'pem', 'ext'].map((kind) =>
        at(`${nth}.${kind}`),
      ) as [string, string, string, string]
      nth++
      writeFileSync(extensions, `subjectAltName=${names.join(',')}\n`)
      openssl('req', ...CURVE, '-subj', '/CN=leaf', '-keyout', key, '-out', request)
      const signed = [
        '-req',
        '-in',
        request,
        '-CA',
        at('root.pem'),
        '-CAkey',
        at('root.key'),
        '-CAcreateserial',
        '-extfile',
        extensions,
        '-out',
        cert,
      ]
      // Old versions do not take a date: a certificate of 0 days has expired at once.
      openssl('x509', ...signed, '-days', isExpired ? '0' : '2')
      return { key: readFileSync(key, 'utf8'), cert: readFileSync(cert, 'utf8') }
    },
  }
}
