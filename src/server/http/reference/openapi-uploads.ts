import {
  FILE_EXPIRES_S_MAX,
  FILE_EXPIRES_S_MIN,
  PURPOSE_CHARS_MAX,
} from '../../../schemas/files/file-limits.ts'
import { FILENAME_RULES } from '../../../schemas/files/filenames.ts'
import type { Json } from './openapi-json.ts'

export const UPLOADS: Readonly<Record<'form' | 'raw' | 'whole', Json>> = {
  form: {
    'multipart/form-data': {
      schema: {
        type: 'object',
        required: ['file'],
        properties: {
          file: {
            type: 'string',
            format: 'binary',
            description: `The file, with its name: ${FILENAME_RULES}.`,
          },
          purpose: {
            type: 'string',
            maxLength: PURPOSE_CHARS_MAX,
            description: "Purpose in OpenAI's format; Sluice only stores and returns the value.",
          },
          'expires_after[anchor]': {
            const: 'created_at',
            description: 'Start of the lifetime; required with `expires_after[seconds]`.',
          },
          'expires_after[seconds]': {
            type: 'integer',
            minimum: FILE_EXPIRES_S_MIN,
            maximum: FILE_EXPIRES_S_MAX,
            description: 'Number of seconds after creation at which the file is deleted.',
          },
        },
      },
    },
  },
  raw: { 'application/octet-stream': { schema: { type: 'string', format: 'binary' } } },
  whole: { '*/*': { schema: { type: 'string', format: 'binary' } } },
}
