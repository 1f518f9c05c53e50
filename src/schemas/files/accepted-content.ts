/** The types of content that a stored file may have, in words. §4.7. */
export const ACCEPTED_CONTENT =
  'PDF; PNG, JPEG, GIF and WebP images; DOCX, XLSX and PPTX documents; MP3, WAV, FLAC and OGG audio; UTF-8 text'
