import { element } from './elements.ts'

/** Milliseconds for which a button says that it has copied. */
const SAID_MS = 1_500

/** Gives each block a button that copies its text. */
export function addCopying(): void {
  for (const block of document.querySelectorAll('pre')) {
    const button = element('button', { type: 'button', class: 'copy' }, 'Copy')
    button.addEventListener('click', () => void copy(block, button))
    const frame = element('div', { class: 'block' })
    block.replaceWith(frame)
    frame.append(block, button)
  }
}

async function copy(block: HTMLElement, button: HTMLElement): Promise<void> {
  const text = block.textContent ?? ''
  try {
    await navigator.clipboard.writeText(text.trimEnd())
    button.textContent = 'Copied'
  } catch {
    // Browsers give the clipboard to pages of HTTPS and of the own machine alone: the text is marked instead.
    getSelection()?.selectAllChildren(block)
    button.textContent = 'Marked'
  }
  setTimeout(() => (button.textContent = 'Copy'), SAID_MS)
}
