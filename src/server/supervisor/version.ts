import { readFileSync } from 'node:fs'

/** The folder that holds package.json, `bin` and `dist`. */
export const PACKAGE_ROOT = new URL('../../../../', import.meta.url)

const manifest: unknown = JSON.parse(readFileSync(new URL('package.json', PACKAGE_ROOT), 'utf8'))

/** The version of this installation, as in package.json. */
export const VERSION =
  typeof manifest === 'object' && manifest !== null && 'version' in manifest
    ? String(manifest.version)
    : '0.0.0'
