import { useRef } from 'preact/hooks'

/**
 * A heading, which needs `tabIndex: -1`, that takes the focus when the row that held it goes away. It waits
 * until a dialog that is about to close has given the focus back.
 */
export function useFocusedHeading(): { readonly ref: { current: HTMLHeadingElement | null }; focus(): void } {
  const ref = useRef<HTMLHeadingElement | null>(null)
  return { ref, focus: () => void setTimeout(() => ref.current?.focus(), 0) }
}
