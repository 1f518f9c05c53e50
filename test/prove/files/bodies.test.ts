import { program } from './bodies.ts'
import { short } from '../short.ts'

await short('bodies', program)
