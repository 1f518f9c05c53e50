import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { temporaryFolder } from '../temporary-folder.ts'

export interface Certificate {
  readonly certFile: string
  readonly keyFile: string
}

/** Why a test that needs a certificate is left out, or false. */
export const NO_OPENSSL = hasOpenssl() ? false : 'openssl is not installed: no certificate can be made'

/** A certificate of its own key for localhost and 127.0.0.1, valid for a day; removed with the test. */
export function selfSigned(t: { teardown(done: () => void): unknown }): Certificate {
  const folder = temporaryFolder(t, 'tls')
  const [certFile, keyFile] = [join(folder, 'cert.pem'), join(folder, 'key.pem')]
  const how = [
    'req',
    '-x509',
    '-newkey',
    'ec',
    '-pkeyopt',
    'ec_paramgen_curve:P-256',
    '-nodes',
    '-days',
    '1',
    '-subj',
    '/CN=localhost',
    '-addext',
    'subjectAltName=DNS:localhost,IP:127.0.0.1',
  ]
  execFileSync('openssl', [...how, '-keyout', keyFile, '-out', certFile], { stdio: 'ignore' })
  return { certFile, keyFile }
}

function hasOpenssl(): boolean {
  try {
    execFileSync('openssl', ['version'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}
