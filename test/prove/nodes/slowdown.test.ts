import { program } from './slowdown.ts'
import { short } from '../short.ts'

await short('slowdown', program)
