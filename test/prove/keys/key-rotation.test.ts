import { program } from './key-rotation.ts'
import { short } from '../short.ts'

await short('key-rotation', program)
