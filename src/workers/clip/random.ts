/** Numbers in [0, 1) that depend on a seed and a text alone, the same on every machine. */
export function randomFrom(seed: number, text: string): () => number {
  let state = fold(text, fold(String(seed), 0x811c9dc5))
  return () => {
    state = (state + 0x9e3779b9) | 0
    let mixed = Math.imul(state ^ (state >>> 16), 0x21f0aaad)
    mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97)
    return ((mixed ^ (mixed >>> 15)) >>> 0) / 2 ** 32
  }
}

/** FNV-1a over UTF-16 units. */
export function fold(text: string, from: number): number {
  let hash = from
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193)
  return hash | 0
}
