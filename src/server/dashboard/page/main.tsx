import { h, render } from 'preact'
import { App } from './app.tsx'

render(<App />, document.body)
