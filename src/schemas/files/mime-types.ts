export type MimeType =
  | 'application/pdf'
  | 'image/png'
  | 'image/jpeg'
  | 'image/gif'
  | 'image/webp'
  | 'application/vnd.openxmlformats-officedocument.wordprocessingml.document'
  | 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet'
  | 'application/vnd.openxmlformats-officedocument.presentationml.presentation'
  | 'audio/mpeg'
  | 'audio/wav'
  | 'audio/flac'
  | 'audio/ogg'
  | TextType

/** The accepted types that are UTF-8 text. */
export type TextType =
  'application/json' | 'application/x-ndjson' | 'text/csv' | 'text/markdown' | 'text/plain'
