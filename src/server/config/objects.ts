import { resolve } from 'node:path'
import type { Settings } from '../../schemas/operator/settings.ts'
import { Secret } from '../../schemas/vault/secret.ts'

/** The storage that holds the bytes of files. Design §5. */
export type ObjectsConfig =
  | { readonly kind: 'disk'; readonly folder: string }
  | {
      readonly kind: 's3'
      readonly bucket: string
      /** Empty, or ending in a slash. */
      readonly prefix: string
      readonly region: string
      readonly endpoint: string | null
      readonly accessKeyId: string
      readonly secretAccessKey: Secret
      readonly isPathStyle: boolean
      readonly checksums: 'WHEN_REQUIRED' | 'WHEN_SUPPORTED'
    }

export function objectsOf(values: Settings): ObjectsConfig {
  const given = values.SLUICE_OBJECTS
  if (given === undefined)
    return Object.freeze({ kind: 'disk', folder: resolve(values.SLUICE_DATA, 'files') })
  const [, bucket, prefix = ''] = S3_PLACE.exec(given) ?? []
  if (bucket === undefined) return Object.freeze({ kind: 'disk', folder: resolve(given) })
  const endpoint = values.SLUICE_S3_ENDPOINT ?? null
  const style = values.SLUICE_S3_PATH_STYLE
  const folders = prefix.replace(/^\/+|\/+$/g, '')
  return Object.freeze({
    kind: 's3',
    bucket,
    prefix: folders === '' ? '' : `${folders}/`,
    region: values.AWS_REGION,
    endpoint,
    accessKeyId: values.AWS_ACCESS_KEY_ID ?? '',
    secretAccessKey: new Secret(values.AWS_SECRET_ACCESS_KEY ?? ''),
    // Servers other than Amazon's rarely support a host name for each bucket.
    isPathStyle: style === 'auto' ? endpoint !== null : style === 'on',
    checksums: values.SLUICE_S3_CHECKSUMS === 'required' ? 'WHEN_REQUIRED' : 'WHEN_SUPPORTED',
  })
}

const S3_PLACE = /^s3:\/\/([^/]+)(?:\/(.*))?$/
